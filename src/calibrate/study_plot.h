#pragma once

#include "calibrate/study.h"

#include <string>

namespace sweep::calibrate {

// An SVG document with a panel for each band that has sessions of a kernel against itself, in the
// order of the file: a bar is a session's 95% interval of ln(ratio) in per cent, its dot the point,
// both in another colour where the interval leaves 1 out; a ring is what the usual method said in
// the same session. Nothing of the file's texts stands in it.
[[nodiscard]] std::string study_svg(const Study& study);

}  // namespace sweep::calibrate

#pragma once

#include "calibrate/study.h"
#include "cli/style.h"
#include "evaluate/calibration.h"

#include <string>
#include <vector>

namespace sweep::cli {

// Tables for people; every line ends with a newline.
[[nodiscard]] std::string calibration_text(const evaluate::Calibration& calibration,
                                           const Style& style);
[[nodiscard]] std::string study_text(const std::vector<calibrate::StudyRow>& rows,
                                     const Style& style);

// "21.4 GB/s", "3.2 us".
[[nodiscard]] std::string figure_text(const evaluate::Figure& figure);

// One line for doctor: "3 days old, noise 0.12 .. 0.80%", or why there is none.
[[nodiscard]] std::string calibration_line(const evaluate::FoundCalibration& found, double now);

}  // namespace sweep::cli

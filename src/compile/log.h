#pragma once

#include "compile/compile.h"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::compile {

inline constexpr std::size_t kMaxLogBytes = std::size_t{64} << 10;

// A compiler's log made fit to be shown to a model: valid UTF-8, at most kMaxLogBytes of which
// every first error is part (util::excerpt), folders of `ours` (work folder, include folders) taken
// off the paths. A log that names an absolute path which is neither below `ours` nor below `known`
// (toolchain) is withheld as a whole: it may quote the file.
[[nodiscard]] std::string clean_log(std::string_view raw,
                                    std::span<const std::filesystem::path> ours,
                                    std::span<const std::filesystem::path> known);

// Without the lines that name the text round the submission (unit.cpp, unit.cu), which no reader
// has ever seen.
[[nodiscard]] std::string without_wrapper(std::string_view log);

// What the cpu device cannot run, as found in the log of a failed g++ run ("inline PTX (asm)",
// "<<<>>>"); empty: an ordinary compile error.
[[nodiscard]] std::string unsupported_feature(std::string_view log);

}  // namespace sweep::compile

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::profile {

// A finding of compute-sanitizer; equal ones (kind, kernel, offset) are one with their number.
struct Finding {
  std::string kind;     // "Invalid __global__ write of size 4 bytes"
  std::string kernel;   // "scale(float *, int)"; empty: not told
  std::string offset;   // "+0x90" into the kernel
  std::string thread;   // "(96,0,0)" of the first one
  std::string block;    // "(3,0,0)"
  std::string address;  // "0x7f03ba000180"
  std::string detail;   // further lines, in one
  std::int64_t count = 1;
};

struct SanitizerLog {
  std::vector<Finding> findings;   // at most kMostFindings, in order of appearance
  std::int64_t reported = -1;      // errors or hazards by the tool's own summary; -1: no summary
  std::vector<std::string> notes;  // what the tool says of itself, at most kMostNotes
  bool complete = true;            // false: further findings were dropped
};

inline constexpr std::size_t kMostFindings = 64;
inline constexpr std::size_t kMostNotes = 8;

// Reads the lines of compute-sanitizer ("========= ..."); those of the program are skipped. Takes
// any text; every field is bounded and printable.
[[nodiscard]] SanitizerLog parse_sanitizer(std::string_view text);

}  // namespace sweep::profile

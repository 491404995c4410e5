#include "embedded_problem_device.h"
#include "problem/compare.h"
#include "problem/fill.h"

#include <algorithm>
#include <initializer_list>

namespace sweep::problem {
namespace {

std::string without_includes(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    const bool include =
        line.rfind("#include", 0) == 0 && line.find("<math.h>") == std::string_view::npos;
    if (!include && line.rfind("#pragma once", 0) != 0) {
      out += line;
    }
  }
  return out;
}

// Joins embedded device texts in the given order.
std::string joined_device_text(std::initializer_list<std::string_view> names) {
  std::string out;
  for (const std::string_view name : names) {
    for (const embedded::File& file : embedded::problem_device()) {
      if (file.name.size() >= name.size() &&
          file.name.substr(file.name.size() - name.size()) == name) {
        out += without_includes(file.text);
      }
    }
  }
  return out;
}

}  // namespace

std::string fill_device_source() {
  return joined_device_text({"sweep/random.h",
                             "fill_parameters.h",
                             "group_parameters.h",
                             "convert.cuh",
                             "fill.cuh",
                             "group.cuh"});
}

std::string compare_device_source() {
  return joined_device_text({"sweep/random.h",
                             "fill_parameters.h",
                             "compare_parameters.h",
                             "convert.cuh",
                             "compare.cuh",
                             "compare_kernels.cuh"});
}

}  // namespace sweep::problem

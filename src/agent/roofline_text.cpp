#include "agent/profile_text.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <array>

#include <fmt/format.h>

namespace sweep::agent {
namespace {

using evaluate::Figure;

std::string rate_text(const Figure& figure) {
  return figure.unit == "B/s"    ? fmt::format("{:.0f} GB/s", figure.value * 1e-9)
         : figure.unit == "op/s" ? fmt::format("{:.1f} Top/s", figure.value * 1e-12)
         : figure.unit == "s"    ? util::human_seconds(figure.value)
                                 : fmt::format("{:.4g} {}", figure.value, figure.unit);
}

double ceiling(const evaluate::Calibration& calibration, std::string_view name) {
  for (const Figure& figure : calibration.figures) {
    if (figure.name == name) {
      return figure.value;
    }
  }
  return 0;
}

constexpr std::array kRidges = {
    "fp32 FMA", "fp64 FMA", "tf32 tensor", "bf16 tensor", "int8 tensor"};

}  // namespace

std::string roofline_text(const evaluate::Calibration& calibration) {
  std::string out;
  for (const Figure& figure : calibration.figures) {
    out += fmt::format("{}: {}{}\n",
                       figure.name,
                       rate_text(figure),
                       figure.note.empty() ? "" : " (" + figure.note + ")");
  }
  const double dram = ceiling(calibration, "DRAM read");
  for (const char* unit : kRidges) {
    if (const double ops = ceiling(calibration, unit); dram > 0 && ops > 0) {
      out += fmt::format(
          "ridge of {}: {:.1f} operations a byte of DRAM; below it memory bounds a kernel\n",
          unit,
          ops / dram);
    }
  }
  return out;
}

nlohmann::json roofline_facts(const evaluate::Calibration& calibration) {
  nlohmann::json figures = nlohmann::json::object();
  for (const Figure& figure : calibration.figures) {
    figures[figure.name] = {{"value", figure.value}, {"unit", figure.unit}};
  }
  return {{"calibration", calibration.id}, {"figures", std::move(figures)}};
}

}  // namespace sweep::agent

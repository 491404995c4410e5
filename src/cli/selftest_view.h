#pragma once

#include "cli/selftest.h"
#include "cli/style.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace sweep::cli {

// The matrix of docs/selftest.md, line by line as the kernels are judged. `width` columns (0: no
// limit) bound the last column only.
class SelftestView {
 public:
  SelftestView(const std::vector<const Specimen*>& specimens, Style style, std::size_t width);

  [[nodiscard]] std::string head(const std::string& device, const std::string& name) const;
  [[nodiscard]] std::string columns(bool exploits) const;
  [[nodiscard]] std::string row(const Finding& finding) const;
  // Rates, then what has to be looked at.
  [[nodiscard]] std::string totals(const SelftestResult& result) const;
  // A defence that was off: what came of each kernel that it catches.
  [[nodiscard]] std::string without(const WithoutIt& part) const;

 private:
  Style style_;
  std::size_t width_;
  std::size_t name_ = 7, expected_ = 8, verdict_ = 7;
};

// Schema 1.
[[nodiscard]] nlohmann::json to_json(const SelftestResult& result);

}  // namespace sweep::cli

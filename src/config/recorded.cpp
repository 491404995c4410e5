#include "config/toml_reader.h"

#include <array>
#include <sstream>

namespace sweep::config {

std::string recorded_text(std::string_view text, const std::string& file) {
  std::ostringstream out;
  out << parse_toml(text, file) << '\n';
  return out.str();
}

Loaded parse_recorded(std::string_view text,
                      const std::string& file,
                      const std::filesystem::path& root) {
  constexpr std::array<std::string_view, 9> left_out = {"slate",
                                                        "prices",
                                                        "budget_usd",
                                                        "problems",
                                                        "level",
                                                        "levels",
                                                        "problem_subset",
                                                        "problem_subset_by_level",
                                                        "problem_subset_by_variant_level"};
  toml::table document = parse_toml(text, file);
  if (toml::table* run = document["run"].as_table()) {
    for (const std::string_view key : left_out) {
      run->erase(key);
    }
    run->insert("problems", toml::array{"*"});
  }
  std::ostringstream without;
  without << document;
  return parse(without.str(), file, root);
}

}  // namespace sweep::config

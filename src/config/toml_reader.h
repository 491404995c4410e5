#pragma once

#include "config/config.h"

#include <toml++/toml.h>

#include <cmath>
#include <limits>
#include <set>

namespace sweep::config {

// Reads typed values out of tables and collects every mistake with its place. Internal to config.
class TomlReader {
 public:
  explicit TomlReader(std::string file) : file_(std::move(file)) {}

  [[nodiscard]] std::string where(const toml::source_region& place) const;

  void error(const toml::source_region& place, std::string what, std::string next) {
    errors_.push_back({where(place), std::move(what), std::move(next)});
  }

  void error_in_file(std::string what, std::string next) {
    errors_.push_back({file_, std::move(what), std::move(next)});
  }

  // Mistakes and warnings of a file that this one names.
  void take_remarks(const TomlReader& inner) {
    errors_.insert(errors_.end(), inner.errors_.begin(), inner.errors_.end());
    warnings_.insert(warnings_.end(), inner.warnings_.begin(), inner.warnings_.end());
  }

  // At most one warning a key, whatever the number of tables that hold it.
  void warn_once(const std::string& key,
                 const toml::source_region& place,
                 std::string what,
                 std::string next);

  // Unknown, misplaced and meaningless keys of one table.
  void check_keys(const toml::table& table, std::string_view name);

  // Null unless `key` is a table (an error) or absent.
  [[nodiscard]] const toml::table* table(const toml::table& in, const char* key);

  // False when absent or wrong; wrong values are errors. `into` is then unchanged.
  bool text(const toml::table& in, const char* key, std::string& into);
  bool integer(const toml::table& in,
               const char* key,
               std::int64_t& into,
               std::int64_t low,
               std::int64_t high = std::numeric_limits<std::int32_t>::max());
  bool number(const toml::table& in, const char* key, double& into, double low, double high = 1e12);
  bool boolean(const toml::table& in, const char* key, bool& into);
  // A list, or one text for a list of one.
  bool texts(const toml::table& in, const char* key, std::vector<std::string>& into);
  bool integers(const toml::table& in, const char* key, std::vector<std::int64_t>& into);
  bool integers(const toml::node& node, const std::string& key, std::vector<std::int64_t>& into);
  // {"1" = [..], ...}
  bool by_level(const toml::node& node,
                const std::string& key,
                std::map<std::int64_t, std::vector<std::int64_t>>& into);

  template <class T, class... Limits>
  bool optional(const toml::table& in, const char* key, std::optional<T>& into, Limits... limits) {
    T value{};
    bool found = false;
    if constexpr (std::is_same_v<T, std::string>) {
      found = text(in, key, value);
    } else if constexpr (std::is_same_v<T, bool>) {
      found = boolean(in, key, value);
    } else if constexpr (std::is_same_v<T, double>) {
      found = number(in, key, value, limits...);
    } else {
      found = integer(in, key, value, limits...);
    }
    if (found) {
      into = std::move(value);
    }
    return found;
  }

  [[nodiscard]] const std::vector<Diagnostic>& errors() const { return errors_; }

  [[nodiscard]] std::vector<Diagnostic>& warnings() { return warnings_; }

 private:
  void wrong_type(const toml::node& node, std::string_view key, std::string_view expected);

  std::string file_;
  std::vector<Diagnostic> errors_;
  std::vector<Diagnostic> warnings_;
  std::set<std::string> warned_;
};

// Place of a key in its table, else of the table.
[[nodiscard]] toml::source_region place_of(const toml::table& table, std::string_view key);

// The parsed document; UsageError E_CONFIG_SYNTAX with the place.
[[nodiscard]] toml::table parse_toml(std::string_view text, const std::string& file);

// UsageError E_CONFIG with one line an error, if there are any.
void throw_errors(const std::vector<Diagnostic>& errors);

// A value for messages: printable, cut to 80 bytes.
[[nodiscard]] std::string in_quotes(std::string_view text);

// "did you mean 'default'?", or the whole list where nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       const std::vector<std::string>& names);

class PriceTable;

// The harness that [run] tools and [agent] choose, with their budgets; checks every
// [harness.NAME] of `root`. In harness_keys.cpp.
void read_harness(TomlReader& reader,
                  const toml::table& root,
                  const toml::table& run,
                  const toml::table& agent,
                  Harness& harness);

// Fills the tables; in models.cpp, endpoint_keys.cpp and load.cpp.
void read_models(TomlReader& reader,
                 const toml::table& root,
                 const Agent& agent,
                 const PriceTable& prices,
                 std::vector<Model>& models);
void read_endpoint(TomlReader& reader, const toml::table& model, EndpointKeys& endpoint);
void read_selection(TomlReader& reader,
                    const toml::table& run,
                    const std::filesystem::path& root,
                    Selection& selection);

}  // namespace sweep::config

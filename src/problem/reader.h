#pragma once

#include "problem/problem.h"

#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Inside of the module: typed access to one TOML document that collects mistakes.
namespace sweep::problem {

class Reader {
 public:
  Reader(std::string file, std::vector<Mistake>& mistakes)
      : file_(std::move(file)), mistakes_(mistakes) {}

  struct Item {
    std::string name;
    const toml::node* node = nullptr;
    Location where;  // of the key
  };

  void error(std::string code, Location where, std::string what, std::string next = {});
  void warn(std::string code, Location where, std::string what, std::string next = {});

  [[nodiscard]] Location at(const toml::node& node) const;

  // The entries in the order of the file; above `most` entries: one mistake, the rest is left out.
  [[nodiscard]] std::vector<Item> items(const toml::table& table, std::size_t most = 256);

  // A mistake for each key not in `known`, with the nearest known one.
  void allow(const toml::table& table,
             std::span<const std::string_view> known,
             std::string_view title);

  // Entry `key` as the wanted type. Absent: null (`required`: a mistake at the table). Wrong type:
  // a mistake, null.
  [[nodiscard]] const toml::table* table(const toml::table& parent,
                                         std::string_view key,
                                         bool required);
  [[nodiscard]] std::optional<std::string> string(const toml::table& parent,
                                                  std::string_view key,
                                                  bool required);
  [[nodiscard]] std::vector<std::string> strings(const toml::table& parent, std::string_view key);
  [[nodiscard]] std::optional<double> number(const toml::table& parent, std::string_view key);
  [[nodiscard]] std::optional<std::int64_t> integer(const toml::table& parent,
                                                    std::string_view key);
  [[nodiscard]] std::optional<bool> boolean(const toml::table& parent, std::string_view key);
  [[nodiscard]] std::optional<Located> expression(const toml::table& parent,
                                                  std::string_view key,
                                                  bool required);

  // One of `choices`, given in the file as a string; absent: null.
  [[nodiscard]] std::optional<std::string> choice(const toml::table& parent,
                                                  std::string_view key,
                                                  std::span<const std::string_view> choices);

  // A string or a number as an expression.
  [[nodiscard]] std::optional<Located> expression(const toml::node& node, std::string_view what);

  // Part of a string node: `offset` bytes after its first character.
  [[nodiscard]] std::optional<Located> expression(const toml::node& node,
                                                  std::string_view text,
                                                  std::size_t offset);

  // Integer or expression of constants.
  [[nodiscard]] std::optional<std::int64_t> constant(const toml::node& node, std::string_view what);

  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  void wrong_type(const toml::node& node, std::string_view key, std::string_view wanted);
  [[nodiscard]] const toml::node* find(const toml::table& parent,
                                       std::string_view key,
                                       bool required);

  std::string file_;
  std::vector<Mistake>& mistakes_;
};

// "did you mean 'x'?" or the list of what is known.
[[nodiscard]] std::string suggestion(std::string_view name, std::span<const std::string> known);

// The readers of single tables; each leaves what it could read in `problem`.
void read_head(Reader& reader, const toml::table& root, Problem& problem);
void read_dims(Reader& reader, const toml::table& root, Problem& problem);
void read_scalars(Reader& reader, const toml::table& root, Problem& problem);
void read_tensors(Reader& reader, const toml::table& root, Problem& problem);
void read_contents(Reader& reader, const toml::table& root, Problem& problem);
void read_shapes(Reader& reader, const toml::table& root, Problem& problem);
void read_draw_rules(Reader& reader, const toml::table& root, Problem& problem);
void read_tolerances(Reader& reader, const toml::table& root, Problem& problem);
void read_work(Reader& reader, const toml::table& root, Problem& problem);
void read_policy(Reader& reader, const toml::table& root, Problem& problem);
void read_rest(Reader& reader, const toml::table& root, Problem& problem);

// Names used in expressions exist and suit their place; needs a problem that was read without
// mistakes.
void validate_names(Reader& reader, const Problem& problem);

// A mistake for a name that cannot be an identifier of kernels, or that is taken (`taken` grows).
void check_name(Reader& reader,
                const std::string& name,
                const Location& where,
                std::vector<std::string>& taken);

}  // namespace sweep::problem

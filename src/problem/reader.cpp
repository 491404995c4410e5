#include "problem/reader.h"

#include "expr/ast.h"
#include "util/text.h"

#include <algorithm>
#include <cmath>

namespace sweep::problem {
namespace {

constexpr std::size_t kMaxShown = 80;

std::string shortened(std::string_view text) {
  return util::printable(text.size() > kMaxShown ? std::string(text.substr(0, kMaxShown)) + "..."
                                                 : std::string(text));
}

// Longest list of known names that a message spells out.
constexpr std::size_t kMaxListed = 12;

}  // namespace

std::string Location::text() const {
  std::string out = file;
  if (line > 0) {
    out += ":" + std::to_string(line);
    if (column > 0) {
      out += ":" + std::to_string(column);
    }
  }
  return out;
}

std::string Mistake::text() const {
  std::string out = where.text();
  out += out.empty() ? what : ": " + what;
  return next.empty() ? out : out + "; " + next;
}

std::string suggestion(std::string_view name, std::span<const std::string> known) {
  if (const auto near = util::closest(name, known)) {
    return "did you mean '" + *near + "'?";
  }
  if (known.empty()) {
    return "no name is known here";
  }
  std::string out = "known here: ";
  for (std::size_t i = 0; i < std::min(known.size(), kMaxListed); ++i) {
    out += (i == 0 ? "" : ", ") + known[i];
  }
  return known.size() > kMaxListed ? out + ", ..." : out;
}

void Reader::error(std::string code, Location where, std::string what, std::string next) {
  mistakes_.push_back({std::move(code), std::move(where), std::move(what), std::move(next), false});
}

void Reader::warn(std::string code, Location where, std::string what, std::string next) {
  mistakes_.push_back({std::move(code), std::move(where), std::move(what), std::move(next), true});
}

Location Reader::at(const toml::node& node) const {
  const auto& begin = node.source().begin;
  return {file_, static_cast<int>(begin.line), static_cast<int>(begin.column)};
}

std::vector<Reader::Item> Reader::items(const toml::table& table, std::size_t most) {
  std::vector<Item> out;
  for (const auto& [key, node] : table) {
    const auto& begin = key.source().begin;
    out.push_back({std::string(key.str()),
                   &node,
                   {file_, static_cast<int>(begin.line), static_cast<int>(begin.column)}});
  }
  std::stable_sort(out.begin(), out.end(), [](const Item& a, const Item& b) {
    return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
  });
  if (out.size() > most) {
    error("E_PROBLEM_TOO_MANY",
          out[most].where,
          "this table has " + std::to_string(out.size()) + " entries, at most " +
              std::to_string(most) + " are allowed");
    out.resize(most);
  }
  return out;
}

void Reader::allow(const toml::table& table,
                   std::span<const std::string_view> known,
                   std::string_view title) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const Item& item : items(table)) {
    if (std::find(known.begin(), known.end(), item.name) == known.end()) {
      error("E_PROBLEM_UNKNOWN_KEY",
            item.where,
            "unknown key '" + shortened(item.name) + "' in " + std::string(title),
            suggestion(item.name, names));
    }
  }
}

const toml::node* Reader::find(const toml::table& parent, std::string_view key, bool required) {
  const toml::node* node = parent.get(key);
  if (node == nullptr && required) {
    error("E_PROBLEM_MISSING_KEY", at(parent), "'" + std::string(key) + "' is missing", "add it");
  }
  return node;
}

void Reader::wrong_type(const toml::node& node, std::string_view key, std::string_view wanted) {
  error("E_PROBLEM_TYPE", at(node), "'" + std::string(key) + "' must be " + std::string(wanted));
}

const toml::table* Reader::table(const toml::table& parent, std::string_view key, bool required) {
  const toml::node* node = find(parent, key, required);
  if (node != nullptr && !node->is_table()) {
    wrong_type(*node, key, "a table");
    return nullptr;
  }
  return node == nullptr ? nullptr : node->as_table();
}

std::optional<std::string> Reader::string(const toml::table& parent,
                                          std::string_view key,
                                          bool required) {
  const toml::node* node = find(parent, key, required);
  if (node == nullptr) {
    return std::nullopt;
  }
  if (!node->is_string()) {
    wrong_type(*node, key, "a string");
    return std::nullopt;
  }
  return node->as_string()->get();
}

std::vector<std::string> Reader::strings(const toml::table& parent, std::string_view key) {
  std::vector<std::string> out;
  const toml::node* node = parent.get(key);
  if (node == nullptr) {
    return out;
  }
  const toml::array* array = node->as_array();
  if (array == nullptr || array->size() > 256 ||
      !std::all_of(
          array->begin(), array->end(), [](const toml::node& n) { return n.is_string(); })) {
    wrong_type(*node, key, "a list of at most 256 strings");
    return out;
  }
  for (const toml::node& entry : *array) {
    out.push_back(entry.as_string()->get());
  }
  return out;
}

std::optional<double> Reader::number(const toml::table& parent, std::string_view key) {
  const toml::node* node = parent.get(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  const auto value = node->is_number() ? node->value<double>() : std::nullopt;
  if (!value || !std::isfinite(*value) || *value < 0) {
    wrong_type(*node, key, "a number that is not negative");
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> Reader::integer(const toml::table& parent, std::string_view key) {
  const toml::node* node = parent.get(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  if (!node->is_integer()) {
    wrong_type(*node, key, "an integer");
    return std::nullopt;
  }
  return node->as_integer()->get();
}

std::optional<bool> Reader::boolean(const toml::table& parent, std::string_view key) {
  const toml::node* node = parent.get(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  if (!node->is_boolean()) {
    wrong_type(*node, key, "true or false");
    return std::nullopt;
  }
  return node->as_boolean()->get();
}

std::optional<std::string> Reader::choice(const toml::table& parent,
                                          std::string_view key,
                                          std::span<const std::string_view> choices) {
  auto value = string(parent, key, false);
  if (!value) {
    return std::nullopt;
  }
  if (std::find(choices.begin(), choices.end(), *value) == choices.end()) {
    const std::vector<std::string> known(choices.begin(), choices.end());
    error("E_PROBLEM_VALUE",
          at(*parent.get(key)),
          "'" + shortened(*value) + "' is no value of '" + std::string(key) + "'",
          suggestion(*value, known));
    return std::nullopt;
  }
  return value;
}

std::optional<Located> Reader::expression(const toml::table& parent,
                                          std::string_view key,
                                          bool required) {
  const toml::node* node = find(parent, key, required);
  return node == nullptr ? std::nullopt : expression(*node, key);
}

std::optional<Located> Reader::expression(const toml::node& node, std::string_view what) {
  if (node.is_string()) {
    return expression(node, node.as_string()->get(), 0);
  }
  if (node.is_integer()) {
    const std::string text = std::to_string(node.as_integer()->get());
    return expression(node, text, 0);
  }
  if (node.is_floating_point() && std::isfinite(node.as_floating_point()->get())) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", node.as_floating_point()->get());
    return expression(node, text, 0);
  }
  wrong_type(node, what, "an expression (a string) or a number");
  return std::nullopt;
}

std::optional<Located> Reader::expression(const toml::node& node,
                                          std::string_view text,
                                          std::size_t offset) {
  Location where = at(node);
  where.column += static_cast<int>(offset) + (node.is_string() ? 1 : 0);
  auto parsed = expr::parse(text);
  if (auto* fault = std::get_if<expr::SyntaxError>(&parsed)) {
    where.column += static_cast<int>(fault->offset);
    error(fault->code, where, fault->what + " in '" + shortened(text) + "'");
    return std::nullopt;
  }
  return Located{std::get<expr::Expr>(std::move(parsed)), where};
}

std::optional<std::int64_t> Reader::constant(const toml::node& node, std::string_view what) {
  const auto parsed = expression(node, what);
  if (!parsed) {
    return std::nullopt;
  }
  try {
    return expr::eval_int(parsed->expr, {}, expr::Division::exact);
  } catch (const expr::EvalError& fault) {
    error(fault.code, parsed->where, std::string(what) + ": " + fault.what, "write an integer");
    return std::nullopt;
  }
}

}  // namespace sweep::problem

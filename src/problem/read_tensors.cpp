#include "problem/reader.h"
#include "util/text.h"

#include <algorithm>
#include <array>

namespace sweep::problem {
namespace {

constexpr std::array kTypes = std::to_array<std::string_view>({"f64",
                                                               "f32",
                                                               "f16",
                                                               "bf16",
                                                               "e4m3",
                                                               "e5m2",
                                                               "i64",
                                                               "i32",
                                                               "i16",
                                                               "i8",
                                                               "u64",
                                                               "u32",
                                                               "u16",
                                                               "u8",
                                                               "bool",
                                                               "c64",
                                                               "c128"});

// Parts of a text that commas outside of brackets separate, with their offsets.
std::vector<std::pair<std::size_t, std::string_view>> arguments(std::string_view text) {
  std::vector<std::pair<std::size_t, std::string_view>> out;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += c == '(' || c == '[' ? 1 : 0;
    depth -= c == ')' || c == ']' ? 1 : 0;
    if (c == ',' && (depth == 0 || i == text.size())) {
      out.emplace_back(begin, text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return out;
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n')) {
    ++at;
  }
  return at;
}

Location inside(const Reader& reader, const toml::node& node, std::size_t offset) {
  Location where = reader.at(node);
  where.column += static_cast<int>(offset) + 1;
  return where;
}

// The type before `end`; a mistake with the nearest type if there is none.
std::optional<expr::DType> read_type(Reader& reader,
                                     const toml::node& node,
                                     std::string_view text,
                                     std::size_t end) {
  const std::string_view word = util::trim(text.substr(0, end));
  const auto type = expr::parse_dtype(word);
  if (!type) {
    const std::vector<std::string> known(kTypes.begin(), kTypes.end());
    reader.error("E_PROBLEM_DTYPE",
                 inside(reader, node, 0),
                 "'" + std::string(word.substr(0, 40)) + "' is no element type",
                 suggestion(word, known));
  }
  return type;
}

bool read_shape(Reader& reader,
                const toml::node& node,
                std::string_view text,
                std::size_t open,
                std::size_t close,
                std::vector<Located>& shape) {
  const std::string_view inner = text.substr(open + 1, close - open - 1);
  if (util::trim(inner).empty()) {
    return true;
  }
  for (const auto& [offset, part] : arguments(inner)) {
    auto extent = reader.expression(node, part, open + 1 + offset);
    if (!extent) {
      return false;
    }
    shape.push_back(*std::move(extent));
  }
  if (shape.size() > 8) {
    reader.error("E_PROBLEM_SHAPE", inside(reader, node, open), "a tensor has at most 8 axes");
    return false;
  }
  return true;
}

struct Spec {
  expr::DType type{};
  std::vector<Located> shape;
  bool per_rank = false;
  std::optional<Located> fill;
};

// "DTYPE[SHAPE] [per rank] [= FILL]"
std::optional<Spec> read_spec(Reader& reader, const toml::node& node, const std::string& name) {
  if (!node.is_string()) {
    reader.error("E_PROBLEM_TYPE",
                 reader.at(node),
                 "'" + name + "' must be a string",
                 "write \"f32[n] = normal()\"");
    return std::nullopt;
  }
  const std::string& text = node.as_string()->get();
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) {
    reader.error("E_PROBLEM_SHAPE",
                 inside(reader, node, 0),
                 "'" + name + "' has no shape",
                 "write \"f32[n]\"; [] is one element");
    return std::nullopt;
  }
  Spec spec;
  const auto type = read_type(reader, node, text, open);
  if (!type || !read_shape(reader, node, text, open, close, spec.shape)) {
    return std::nullopt;
  }
  spec.type = *type;
  std::size_t at = skip_space(text, close + 1);
  constexpr std::string_view kPerRank = "per rank";
  if (text.compare(at, kPerRank.size(), kPerRank) == 0) {
    spec.per_rank = true;
    at = skip_space(text, at + kPerRank.size());
  }
  if (at < text.size() && text[at] == '=') {
    at = skip_space(text, at + 1);
    spec.fill = reader.expression(node, std::string_view(text).substr(at), at);
    return spec.fill ? std::optional(spec) : std::nullopt;
  }
  if (at < text.size()) {
    reader.error("E_PROBLEM_SPEC",
                 inside(reader, node, at),
                 "'" + text.substr(at, 40) + "' is not understood here",
                 "after the shape comes 'per rank' or '= FILL'");
    return std::nullopt;
  }
  return spec;
}

void read_role(
    Reader& reader, const toml::table& root, std::string_view key, Role role, Problem& problem) {
  const toml::table* table = reader.table(root, key, role == Role::input || role == Role::output);
  if (table == nullptr) {
    return;
  }
  const bool needs_fill = role == Role::input || role == Role::inout;
  for (const Reader::Item& item : reader.items(*table, 64)) {
    auto spec = read_spec(reader, *item.node, item.name);
    if (!spec) {
      continue;
    }
    if (needs_fill != spec->fill.has_value()) {
      reader.error("E_PROBLEM_FILL",
                   item.where,
                   "'" + item.name + (needs_fill ? "' has no fill" : "' must have no fill"),
                   needs_fill ? "write \"... = normal()\", or made() with an inputs.cu"
                              : "outputs and aux are written by kernels");
      continue;
    }
    Tensor tensor;
    tensor.name = item.name;
    tensor.role = role;
    tensor.type = spec->type;
    tensor.shape = std::move(spec->shape);
    tensor.per_rank = spec->per_rank;
    tensor.fill = std::move(spec->fill);
    tensor.where = item.where;
    problem.tensors.push_back(std::move(tensor));
  }
  if (role == Role::output && table->empty()) {
    reader.error("E_PROBLEM_OUTPUTS",
                 reader.at(*table),
                 "a problem needs an output",
                 "add one, as in y = \"f32[n]\"");
  }
}

void read_checks(Reader& reader, const toml::table& root, Problem& problem) {
  const toml::table* table = reader.table(root, "check", false);
  if (table == nullptr) {
    return;
  }
  for (const Reader::Item& item : reader.items(*table, 64)) {
    auto spec = read_spec(reader, *item.node, item.name);
    if (!spec) {
      continue;
    }
    if (spec->type != expr::DType::f64 || spec->fill) {
      reader.error("E_PROBLEM_CHECK",
                   item.where,
                   "error(" + item.name + ") is f64 without a fill",
                   "write \"f64[n]\"");
      continue;
    }
    problem.checks.push_back({item.name, std::move(spec->shape)});
  }
}

}  // namespace

void read_tensors(Reader& reader, const toml::table& root, Problem& problem) {
  if (const toml::table* table = reader.table(root, "groups", false)) {
    for (const Reader::Item& item : reader.items(*table, 16)) {
      if (auto rule = reader.expression(*item.node, item.name)) {
        problem.groups.push_back({item.name, *std::move(rule)});
      }
    }
  }
  read_role(reader, root, "inputs", Role::input, problem);
  read_role(reader, root, "inout", Role::inout, problem);
  read_role(reader, root, "outputs", Role::output, problem);
  read_role(reader, root, "aux", Role::aux, problem);
  read_checks(reader, root, problem);
}

void read_scalars(Reader& reader, const toml::table& root, Problem& problem) {
  const toml::table* table = reader.table(root, "scalars", false);
  if (table == nullptr) {
    return;
  }
  for (const Reader::Item& item : reader.items(*table, 32)) {
    const std::string* text = item.node->is_string() ? &item.node->as_string()->get() : nullptr;
    const std::size_t equal = text == nullptr ? std::string::npos : text->find('=');
    if (equal == std::string::npos) {
      reader.error("E_PROBLEM_SCALAR",
                   item.where,
                   "a scalar is \"TYPE = EXPR\"",
                   "write \"f32 = draw(0.1, 0.5)\"");
      continue;
    }
    const auto type = read_type(reader, *item.node, *text, equal);
    if (!type) {
      continue;
    }
    const std::size_t begin = skip_space(*text, equal + 1);
    std::string_view rule = std::string_view(*text).substr(begin);
    const auto parts = arguments(rule);
    const bool hidden = parts.size() == 2 && util::trim(parts[1].second) == "hidden";
    if (parts.size() > 1 && !hidden) {
      reader.error(
          "E_PROBLEM_SCALAR",
          inside(reader, *item.node, begin + parts[1].first),
          "'" + std::string(util::trim(parts[1].second).substr(0, 40)) + "' is not understood here",
          "only ', hidden' may follow");
      continue;
    }
    if (expr::is_complex(*type)) {
      reader.error("E_PROBLEM_SCALAR", item.where, "a scalar is real", "give two scalars");
      continue;
    }
    rule = hidden ? parts[0].second : rule;
    if (auto parsed = reader.expression(*item.node, rule, begin)) {
      problem.scalars.push_back({item.name, *type, *std::move(parsed), hidden});
    }
  }
}

void read_contents(Reader& reader, const toml::table& root, Problem& problem) {
  const toml::table* table = reader.table(root, "contents", false);
  if (table == nullptr) {
    return;
  }
  for (const Reader::Item& item : reader.items(*table, 16)) {
    const toml::table* fills = item.node->as_table();
    if (fills == nullptr || item.name == "default") {
      reader.error("E_PROBLEM_CONTENT",
                   item.where,
                   item.name == "default" ? "the content 'default' always exists"
                                          : "a content is a table input -> fill",
                   "write [contents.ties] and x = \"choice(0, 1)\"");
      continue;
    }
    Content content;
    content.name = item.name;
    for (const Reader::Item& entry : reader.items(*fills, 64)) {
      if (auto fill = reader.expression(*entry.node, entry.name)) {
        content.fills.emplace_back(entry.name, *std::move(fill));
      }
    }
    problem.contents.push_back(std::move(content));
  }
}

}  // namespace sweep::problem

#include "expr/ast.h"
#include "problem/reader.h"

#include <algorithm>
#include <array>

namespace sweep::problem {
namespace {

constexpr std::array kRootKeys = std::to_array<std::string_view>(
    {"schema",    "id",        "title",    "domain",  "statement",   "slates",
     "regime",    "precision", "requires", "dims",    "constraints", "scalars",
     "groups",    "inputs",    "inout",    "outputs", "aux",         "check",
     "static",    "contents",  "shapes",   "stress",  "edges",       "heldout",
     "tolerance", "work",      "policy",   "limits",  "baseline",    "translation"});

constexpr std::array kPrecisions = std::to_array<std::string_view>(
    {"fp64", "fp32", "tf32", "bf16", "fp16", "e4m3", "fp8", "int8"});

// "level/part" of lower-case letters, digits and underscores.
bool is_id(const std::string& id) {
  const auto slash = id.find('/');
  const auto word = [](std::string_view text) {
    return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
  };
  return slash != std::string::npos && word(std::string_view(id).substr(0, slash)) &&
         word(std::string_view(id).substr(slash + 1));
}

std::optional<std::int64_t> constant_of(Reader& reader,
                                        const Located& rule,
                                        const expr::Node& node) {
  try {
    return expr::eval_int(node, {}, expr::Division::exact);
  } catch (const expr::EvalError& fault) {
    reader.error(fault.code,
                 rule.where,
                 fault.what,
                 "bounds are integers, or integer arithmetic such as 1<<20");
    return std::nullopt;
  }
}

bool is_call(const expr::Node& node, std::string_view function) {
  return node.kind == expr::Node::Kind::call && node.text == function;
}

// Parts of "K*free(MIN, MAX)".
bool read_free(Reader& reader, Dim& dim, const expr::Node& call) {
  if (call.operands.size() != 2) {
    reader.error("E_PROBLEM_DIM", dim.rule.where, "free takes (MIN, MAX)", "write free(1, 1024)");
    return false;
  }
  const auto min = constant_of(reader, dim.rule, *call.operands[0]);
  const auto max = constant_of(reader, dim.rule, *call.operands[1]);
  if (!min || !max) {
    return false;
  }
  if (*min < 0 || *min > *max || *max > (std::int64_t{1} << 40)) {
    reader.error("E_PROBLEM_DIM", dim.rule.where, "free(MIN, MAX) needs 0 <= MIN <= MAX <= 2^40");
    return false;
  }
  dim.kind = Dim::Kind::free;
  dim.min = *min;
  dim.max = *max;
  return true;
}

bool read_ranks(Reader& reader, Dim& dim, const expr::Node& call) {
  dim.kind = Dim::Kind::ranks;
  for (const auto& operand : call.operands) {
    const auto value = constant_of(reader, dim.rule, *operand);
    if (!value || *value < 1 || *value > 64) {
      reader.error("E_PROBLEM_DIM", dim.rule.where, "ranks(..) takes counts from 1 to 64");
      return false;
    }
    dim.choices.push_back(*value);
  }
  if (dim.choices.empty()) {
    reader.error("E_PROBLEM_DIM", dim.rule.where, "ranks(..) is empty", "write ranks(1, 2, 4, 8)");
  }
  return !dim.choices.empty();
}

bool read_rule(Reader& reader, Dim& dim) {
  const expr::Node& root = dim.rule.expr.root();
  if (is_call(root, "free")) {
    return read_free(reader, dim, root);
  }
  if (is_call(root, "ranks")) {
    return read_ranks(reader, dim, root);
  }
  if (root.kind == expr::Node::Kind::binary && root.text == "*" &&
      is_call(*root.operands[1], "free")) {
    const auto factor = constant_of(reader, dim.rule, *root.operands[0]);
    if (!factor || *factor < 1 || *factor > (std::int64_t{1} << 20)) {
      reader.error(
          "E_PROBLEM_DIM", dim.rule.where, "the factor before free(..) must be from 1 to 2^20");
      return false;
    }
    dim.factor = *factor;
    return read_free(reader, dim, *root.operands[1]);
  }
  dim.kind = Dim::Kind::derived;
  return true;
}

}  // namespace

void read_head(Reader& reader, const toml::table& root, Problem& problem) {
  reader.allow(root, kRootKeys, "the file");
  const auto schema = reader.integer(root, "schema");
  if (schema != 1) {
    reader.error(
        "E_PROBLEM_SCHEMA",
        root.contains("schema") ? reader.at(*root.get("schema")) : Location{reader.file(), 1, 1},
        "this program reads schema 1",
        "write schema = 1");
  }
  problem.id = reader.string(root, "id", true).value_or("");
  if (!problem.id.empty() && !is_id(problem.id)) {
    reader.error("E_PROBLEM_ID",
                 reader.at(*root.get("id")),
                 "an id is LEVEL/NAME in lower-case letters, digits and '_'",
                 "write for example id = \"level1/3\"");
  }
  problem.title = reader.string(root, "title", true).value_or("");
  problem.domain = reader.string(root, "domain", true).value_or("");
  problem.statement = reader.string(root, "statement", true).value_or("");
  problem.slates = reader.strings(root, "slates");
  problem.requirements = reader.strings(root, "requires");
  problem.regime = reader.string(root, "regime", false);
  if (const auto text = reader.choice(root, "precision", kPrecisions)) {
    const auto* const found = std::find(kPrecisions.begin(), kPrecisions.end(), *text);
    problem.precision = static_cast<Precision>(found - kPrecisions.begin());
  }
}

void read_dims(Reader& reader, const toml::table& root, Problem& problem) {
  const toml::table* table = reader.table(root, "dims", true);
  if (table == nullptr) {
    return;
  }
  for (const Reader::Item& item : reader.items(*table, 32)) {
    auto rule = reader.expression(*item.node, item.name);
    if (!rule) {
      continue;
    }
    Dim dim;
    dim.name = item.name;
    dim.rule = *std::move(rule);
    if (read_rule(reader, dim)) {
      problem.dims.push_back(std::move(dim));
    }
  }
  const auto ranks = std::count_if(problem.dims.begin(), problem.dims.end(), [](const Dim& dim) {
    return dim.kind == Dim::Kind::ranks;
  });
  if (ranks > 1) {
    reader.error("E_PROBLEM_DIM", reader.at(*table), "more than one dim is ranks(..)", "keep one");
  }
  if (const toml::table* constraints = reader.table(root, "constraints", false)) {
    constexpr std::array known = std::to_array<std::string_view>({"all"});
    reader.allow(*constraints, known, "[constraints]");
    if (const toml::node* all = constraints->get("all"); all != nullptr && all->is_array()) {
      for (const toml::node& node : *all->as_array()) {
        if (auto rule = reader.expression(node, "constraint")) {
          problem.constraints.push_back(*std::move(rule));
        }
      }
    } else if (all != nullptr) {
      reader.error("E_PROBLEM_TYPE", reader.at(*all), "'all' must be a list of expressions");
    }
  }
}

}  // namespace sweep::problem

#include "problem/reader.h"

#include <algorithm>
#include <array>

namespace sweep::problem {
namespace {

constexpr std::array kUses = std::to_array<std::string_view>({"cpu", "check", "time", "golden"});

std::vector<std::string> choosable(const Problem& problem) {
  std::vector<std::string> out;
  for (const Dim& dim : problem.dims) {
    if (dim.kind != Dim::Kind::derived) {
      out.push_back(dim.name);
    }
  }
  return out;
}

bool in_bounds(const Dim& dim, std::int64_t value) {
  if (dim.kind == Dim::Kind::ranks) {
    return std::find(dim.choices.begin(), dim.choices.end(), value) != dim.choices.end();
  }
  return value % dim.factor == 0 && value / dim.factor >= dim.min && value / dim.factor <= dim.max;
}

// A value for one free dim, checked against its rule.
void read_value(Reader& reader,
                const Reader::Item& item,
                const Problem& problem,
                expr::IntEnv& free) {
  const Dim* dim = problem.dim(item.name);
  if (dim == nullptr || dim->kind == Dim::Kind::derived) {
    reader.error("E_PROBLEM_UNKNOWN_DIM",
                 item.where,
                 dim == nullptr ? "'" + item.name.substr(0, 64) + "' is no dim"
                                : "'" + item.name + "' is derived from other dims",
                 dim == nullptr ? suggestion(item.name, choosable(problem)) : "leave it out");
    return;
  }
  const auto value = reader.constant(*item.node, item.name);
  if (!value) {
    return;
  }
  free[item.name] = *value;
  if (!in_bounds(*dim, *value)) {
    reader.error(
        "E_PROBLEM_BOUNDS",
        reader.at(*item.node),
        item.name + " = " + std::to_string(*value) + " is outside " + dim->rule.expr.text(),
        "change the value or the bounds");
  }
}

void complete(Reader& reader,
              const Location& where,
              const Problem& problem,
              const expr::IntEnv& free) {
  for (const std::string& name : choosable(problem)) {
    if (!free.contains(name)) {
      reader.error(
          "E_PROBLEM_SHAPE", where, "no value for dim '" + name + "'", "add " + name + " = ...");
    }
  }
}

Uses read_uses(Reader& reader, const toml::table& table, const Location& where) {
  Uses uses;
  if (!table.contains("use")) {
    uses.check = uses.time = true;
    return uses;
  }
  const std::vector<std::string> known(kUses.begin(), kUses.end());
  for (const std::string& word : reader.strings(table, "use")) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      reader.error("E_PROBLEM_USE",
                   where,
                   "'" + word.substr(0, 40) + "' is no use of a shape",
                   suggestion(word, known));
    }
    uses.cpu = uses.cpu || word == "cpu";
    uses.check = uses.check || word == "check";
    uses.time = uses.time || word == "time";
    uses.golden = uses.golden || word == "golden";
  }
  return uses;
}

void read_samplers(Reader& reader,
                   const toml::table& table,
                   const Problem& problem,
                   std::vector<Sampler>& out) {
  for (const Reader::Item& item : reader.items(table, 32)) {
    const auto names = choosable(problem);
    if (std::find(names.begin(), names.end(), item.name) == names.end()) {
      reader.error("E_PROBLEM_UNKNOWN_DIM",
                   item.where,
                   "'" + item.name.substr(0, 64) + "' is no free dim",
                   suggestion(item.name, names));
      continue;
    }
    if (auto rule = reader.expression(*item.node, item.name)) {
      out.push_back({item.name, *std::move(rule)});
    }
  }
}

void read_edges(Reader& reader, const toml::table& root, Problem& problem) {
  const toml::table* edges = reader.table(root, "edges", true);
  if (edges == nullptr) {
    return;
  }
  constexpr std::array known = std::to_array<std::string_view>({"list"});
  reader.allow(*edges, known, "[edges]");
  const toml::node* list = edges->get("list");
  if (list == nullptr || !list->is_array() || list->as_array()->size() > 64) {
    reader.error("E_PROBLEM_TYPE",
                 reader.at(list == nullptr ? *edges : *list),
                 "'list' must be a list of at most 64 shapes",
                 "write list = [{ n = 1 }]");
    return;
  }
  for (const toml::node& node : *list->as_array()) {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      reader.error(
          "E_PROBLEM_TYPE", reader.at(node), "an edge is a table of dims", "write { n = 1 }");
      continue;
    }
    expr::IntEnv free;
    for (const Reader::Item& item : reader.items(*table, 32)) {
      read_value(reader, item, problem, free);
    }
    complete(reader, reader.at(node), problem, free);
    problem.edges.push_back(std::move(free));
  }
}

}  // namespace

void read_shapes(Reader& reader, const toml::table& root, Problem& problem) {
  const toml::table* table = reader.table(root, "shapes", true);
  if (table == nullptr) {
    return;
  }
  for (const Reader::Item& item : reader.items(*table, 32)) {
    const toml::table* entry = item.node->as_table();
    if (entry == nullptr) {
      reader.error("E_PROBLEM_TYPE",
                   item.where,
                   "a shape is a table of dims",
                   "write tiny = { n = 8, use = [\"cpu\"] }");
      continue;
    }
    Shape shape;
    shape.name = item.name;
    shape.where = item.where;
    shape.uses = read_uses(reader, *entry, item.where);
    for (const Reader::Item& value : reader.items(*entry, 33)) {
      if (value.name != "use") {
        read_value(reader, value, problem, shape.free);
      }
    }
    complete(reader, item.where, problem, shape.free);
    problem.shapes.push_back(std::move(shape));
  }
  const auto cpu = std::count_if(
      problem.shapes.begin(), problem.shapes.end(), [](const Shape& s) { return s.uses.cpu; });
  if (cpu == 0) {
    reader.error("E_PROBLEM_CPU_SHAPE",
                 reader.at(*table),
                 "no shape has the use 'cpu'",
                 "add one with use = [\"cpu\"]");
  }
}

void read_draw_rules(Reader& reader, const toml::table& root, Problem& problem) {
  if (const toml::table* stress = reader.table(root, "stress", true)) {
    read_samplers(reader, *stress, problem, problem.stress);
    for (const Dim& dim : problem.dims) {
      const bool given = stress->contains(dim.name);
      if (dim.kind == Dim::Kind::free && !given) {
        reader.error("E_PROBLEM_STRESS",
                     reader.at(*stress),
                     "no rule for dim '" + dim.name + "'",
                     "add " + dim.name + " = \"log(1, 1000)\"");
      }
    }
  }
  if (const toml::table* heldout = reader.table(root, "heldout", false)) {
    read_samplers(reader, *heldout, problem, problem.heldout);
  }
  read_edges(reader, root, problem);
}

}  // namespace sweep::problem

#include "problem/reader.h"

#include <algorithm>
#include <array>

namespace sweep::problem {
namespace {

constexpr std::array kToleranceKeys = std::to_array<std::string_view>({"compare",
                                                                       "c_max",
                                                                       "c_rms",
                                                                       "ulps",
                                                                       "floor",
                                                                       "ceiling",
                                                                       "scale",
                                                                       "base",
                                                                       "rows",
                                                                       "unless",
                                                                       "else"});
constexpr std::array kWorkKeys = std::to_array<std::string_view>({"flops",
                                                                  "special",
                                                                  "bytes",
                                                                  "nominal_bytes",
                                                                  "link_bytes",
                                                                  "unit",
                                                                  "flops_is_floor",
                                                                  "reference_ops",
                                                                  "reference_depth",
                                                                  "reference_scratch",
                                                                  "slow_seed"});
constexpr std::array kUnits = std::to_array<std::string_view>({"fp32",
                                                               "int32",
                                                               "fp64",
                                                               "tensor-tf32",
                                                               "tensor-tf32x3",
                                                               "tensor-bf16",
                                                               "tensor-f16",
                                                               "tensor-fp8",
                                                               "tensor-int8"});
constexpr std::array kPolicyKeys = std::to_array<std::string_view>({"nan",
                                                                    "infinity",
                                                                    "determinism",
                                                                    "fast_math",
                                                                    "libraries",
                                                                    "algorithm",
                                                                    "isa",
                                                                    "isa_families"});
constexpr std::array kNever = std::to_array<std::string_view>({"never", "output"});
constexpr std::array kLimitKeys = std::to_array<std::string_view>(
    {"scratch", "seconds", "oracle_seconds", "ambiguous", "launches"});

std::vector<std::string> names_of(const Problem& problem, std::initializer_list<Role> roles) {
  std::vector<std::string> out;
  for (const Tensor& tensor : problem.tensors) {
    if (std::find(roles.begin(), roles.end(), tensor.role) != roles.end()) {
      out.push_back(tensor.name);
    }
  }
  return out;
}

// The aux tensor or input that `key` names, or "" with a mistake.
std::string reference_to(Reader& reader,
                         const toml::table& table,
                         std::string_view key,
                         const std::vector<std::string>& known) {
  const auto name = reader.string(table, key, false);
  if (!name) {
    return {};
  }
  if (std::find(known.begin(), known.end(), *name) == known.end()) {
    reader.error("E_PROBLEM_TOLERANCE",
                 reader.at(*table.get(key)),
                 "'" + name->substr(0, 64) + "' does not suit '" + std::string(key) + "'",
                 suggestion(*name, known));
    return {};
  }
  return *name;
}

void read_scale(Reader& reader,
                const toml::table& table,
                const Problem& problem,
                Tolerance& tolerance) {
  std::vector<std::string> known = names_of(problem, {Role::aux});
  known.insert(known.begin(), {"row", "tensor", "element"});
  const std::string scale = reference_to(reader, table, "scale", known);
  if (scale.empty() || scale == "row") {
    return;
  }
  tolerance.scale = scale == "tensor"    ? Tolerance::Scale::tensor
                    : scale == "element" ? Tolerance::Scale::element
                                         : Tolerance::Scale::aux;
  tolerance.scale_aux = tolerance.scale == Tolerance::Scale::aux ? scale : "";
}

void read_rule_of(Reader& reader,
                  const toml::table& table,
                  const Problem& problem,
                  const Tensor& output,
                  Tolerance& tolerance) {
  reader.allow(table, kToleranceKeys, "[tolerance." + output.name + "]");
  constexpr std::array compare = std::to_array<std::string_view>({"close", "bitwise"});
  if (const auto word = reader.choice(table, "compare", compare)) {
    tolerance.compare = *word == "close" ? Tolerance::Compare::close : Tolerance::Compare::bitwise;
    if (*word == "close" && expr::is_integer(output.type)) {
      reader.error("E_PROBLEM_TOLERANCE",
                   reader.at(*table.get("compare")),
                   "integers are compared bitwise",
                   "leave 'compare' out");
    }
  }
  const auto number = [&](std::string_view key, double& value) {
    value = reader.number(table, key).value_or(value);
  };
  number("c_max", tolerance.c_max);
  number("c_rms", tolerance.c_rms);
  number("ulps", tolerance.ulps);
  number("floor", tolerance.floor);
  number("ceiling", tolerance.ceiling);
  if (tolerance.floor > tolerance.ceiling) {
    reader.error(
        "E_PROBLEM_TOLERANCE", reader.at(table), "floor is above ceiling", "lower one of them");
  }
  read_scale(reader, table, problem, tolerance);
  tolerance.base =
      reference_to(reader, table, "base", names_of(problem, {Role::input, Role::inout}));
  tolerance.otherwise = reference_to(reader, table, "else", names_of(problem, {Role::aux}));
  if (const auto rows = reader.integer(table, "rows")) {
    if (*rows < 1 ||
        *rows > static_cast<std::int64_t>(std::max<std::size_t>(1, output.shape.size()))) {
      reader.error("E_PROBLEM_TOLERANCE",
                   reader.at(*table.get("rows")),
                   "'rows' counts trailing axes of the output");
    } else {
      tolerance.rows = static_cast<int>(*rows);
    }
  }
  tolerance.unless = reader.expression(table, "unless", false);
  if (!tolerance.otherwise.empty() && !tolerance.unless) {
    reader.error("E_PROBLEM_TOLERANCE",
                 reader.at(*table.get("else")),
                 "'else' needs 'unless'",
                 "add the condition");
  }
}

bool has_check(const Problem& problem, const std::string& name) {
  return std::any_of(problem.checks.begin(), problem.checks.end(), [&](const Check& c) {
    return c.output == name;
  });
}

void set_default_tolerances(Problem& problem) {
  const double step = epsilon(problem.precision);
  for (const Tensor& tensor : problem.tensors) {
    if ((tensor.role == Role::output || tensor.role == Role::inout) &&
        !has_check(problem, tensor.name)) {
      Tolerance tolerance;
      tolerance.compare =
          expr::is_integer(tensor.type) ? Tolerance::Compare::bitwise : Tolerance::Compare::close;
      tolerance.floor = 4 * step;
      tolerance.ceiling = 4096 * step;
      problem.tolerances.emplace(tensor.name, tolerance);
    }
  }
}

}  // namespace

void read_tolerances(Reader& reader, const toml::table& root, Problem& problem) {
  set_default_tolerances(problem);
  const std::vector<std::string> outputs = names_of(problem, {Role::output, Role::inout});
  for (const Check& check : problem.checks) {
    if (std::find(outputs.begin(), outputs.end(), check.output) == outputs.end()) {
      reader.error("E_PROBLEM_CHECK",
                   reader.at(*root.get("check")),
                   "'" + check.output + "' is no output",
                   suggestion(check.output, outputs));
    }
  }
  const toml::table* table = reader.table(root, "tolerance", false);
  if (table == nullptr) {
    return;
  }
  for (const Reader::Item& item : reader.items(*table, 64)) {
    const auto found = problem.tolerances.find(item.name);
    const toml::table* entry = item.node->as_table();
    if (found == problem.tolerances.end() || entry == nullptr) {
      const bool checked = has_check(problem, item.name);
      reader.error("E_PROBLEM_TOLERANCE",
                   item.where,
                   checked ? "'" + item.name + "' has a [check], which replaces its tolerance"
                           : (entry == nullptr ? "a tolerance is a table"
                                               : "'" + item.name.substr(0, 64) + "' is no output"),
                   checked ? "remove one of the two" : suggestion(item.name, outputs));
      continue;
    }
    read_rule_of(reader, *entry, problem, *problem.tensor(item.name), found->second);
  }
}

void read_work(Reader& reader, const toml::table& root, Problem& problem) {
  const toml::table* table = reader.table(root, "work", true);
  if (table == nullptr) {
    return;
  }
  reader.allow(*table, kWorkKeys, "[work]");
  Work& work = problem.work;
  work.flops = reader.expression(*table, "flops", true).value_or(Located{});
  work.special = reader.expression(*table, "special", false);
  work.bytes = reader.expression(*table, "bytes", false);
  work.nominal_bytes = reader.expression(*table, "nominal_bytes", false);
  work.link_bytes = reader.expression(*table, "link_bytes", false);
  work.reference_scratch = reader.expression(*table, "reference_scratch", false);
  work.reference_ops = reader.expression(*table, "reference_ops", true).value_or(Located{});
  work.reference_depth = reader.expression(*table, "reference_depth", false);
  work.flops_is_floor = reader.boolean(*table, "flops_is_floor").value_or(true);
  work.slow_seed = reader.string(*table, "slow_seed", false).value_or("");
  if (const auto unit = reader.choice(*table, "unit", kUnits)) {
    work.unit = static_cast<Unit>(std::find(kUnits.begin(), kUnits.end(), *unit) - kUnits.begin());
  }
}

namespace {

void read_isa(Reader& reader, const toml::table& table, Policy& policy) {
  constexpr std::array words = std::to_array<std::string_view>({"off", "warn", "gate"});
  policy.isa_families = reader.strings(table, "isa_families");
  std::vector<std::string> known;
  for (const IsaFamily& family : isa_families()) {
    known.emplace_back(family.name);
  }
  for (const std::string& family : policy.isa_families) {
    if (std::find(known.begin(), known.end(), family) == known.end()) {
      reader.error("E_PROBLEM_ISA",
                   reader.at(*table.get("isa_families")),
                   "'" + family.substr(0, 64) + "' is no family of instructions",
                   suggestion(family, known));
    }
  }
  if (const auto word = reader.choice(table, "isa", words)) {
    policy.isa = *parse_isa_policy(*word);
    if (policy.isa != IsaPolicy::off && policy.isa_families.empty()) {
      reader.error("E_PROBLEM_ISA",
                   reader.at(*table.get("isa")),
                   "'isa' asks for no family",
                   "add isa_families = [\"wgmma\", \"tma\"]");
    }
  }
}

}  // namespace

void read_policy(Reader& reader, const toml::table& root, Problem& problem) {
  if (const toml::table* table = reader.table(root, "policy", false)) {
    reader.allow(*table, kPolicyKeys, "[policy]");
    constexpr std::array determinism = std::to_array<std::string_view>({"reported", "bitwise"});
    constexpr std::array algorithm = std::to_array<std::string_view>({"any", "conventional"});
    problem.policy.nan_output = reader.choice(*table, "nan", kNever) == "output";
    problem.policy.infinity_output = reader.choice(*table, "infinity", kNever) == "output";
    problem.policy.bitwise_repeat = reader.choice(*table, "determinism", determinism) == "bitwise";
    problem.policy.conventional_only =
        reader.choice(*table, "algorithm", algorithm) == "conventional";
    problem.policy.fast_math = reader.boolean(*table, "fast_math").value_or(false);
    problem.policy.libraries = reader.boolean(*table, "libraries").value_or(false);
    read_isa(reader, *table, problem.policy);
  }
  if (const toml::table* table = reader.table(root, "limits", false)) {
    reader.allow(*table, kLimitKeys, "[limits]");
    Limits& limits = problem.limits;
    limits.scratch = reader.expression(*table, "scratch", false);
    limits.seconds = reader.number(*table, "seconds").value_or(limits.seconds);
    limits.oracle_seconds = reader.number(*table, "oracle_seconds").value_or(limits.oracle_seconds);
    limits.ambiguous = reader.number(*table, "ambiguous").value_or(limits.ambiguous);
    limits.launches = reader.integer(*table, "launches").value_or(limits.launches);
    if (limits.launches < 1 || limits.launches > 1 << 20) {
      reader.error("E_PROBLEM_VALUE", reader.at(*table), "'launches' must be from 1 to 2^20");
    }
  }
}

void read_baselines(Reader& reader, const toml::table& root, Problem& problem) {
  const toml::node* node = root.get("baseline");
  if (node == nullptr) {
    return;
  }
  if (!node->is_array_of_tables()) {
    reader.error("E_PROBLEM_TYPE", reader.at(*node), "baselines are written [[baseline]]");
    return;
  }
  constexpr std::array known = std::to_array<std::string_view>({"name", "library", "args", "file"});
  for (const toml::node& entry : *node->as_array()) {
    const toml::table& table = *entry.as_table();
    reader.allow(table, known, "[[baseline]]");
    Baseline baseline;
    baseline.name = reader.string(table, "name", true).value_or("");
    baseline.library = reader.string(table, "library", false).value_or("");
    baseline.file = reader.string(table, "file", false).value_or("");
    if (baseline.library.empty() == baseline.file.empty()) {
      reader.error(
          "E_PROBLEM_BASELINE", reader.at(table), "a baseline has either 'library' or 'file'");
    }
    if (const toml::table* args = reader.table(table, "args", false)) {
      for (const Reader::Item& item : reader.items(*args, 64)) {
        if (auto value = reader.expression(*item.node, item.name)) {
          baseline.args.emplace_back(item.name, value->expr.text());
        }
      }
    }
    problem.baselines.push_back(std::move(baseline));
  }
}

namespace {

// What a port shall show is a wish, unless [policy] says more.
void read_evidence(Reader& reader,
                   const toml::table& table,
                   const Translation& translation,
                   Policy& policy) {
  const bool own = !policy.isa_families.empty();
  for (const std::string& word : translation.evidence) {
    const IsaFamily* family = isa_family(word);
    if (family == nullptr) {
      reader.error("E_PROBLEM_ISA",
                   reader.at(*table.get("evidence")),
                   "'" + word.substr(0, 64) + "' is no family or opcode of tensor cores or copies",
                   "write e.g. HGMMA or UTMALDG");
    } else if (!own &&
               std::find(policy.isa_families.begin(), policy.isa_families.end(), family->name) ==
                   policy.isa_families.end()) {
      policy.isa_families.emplace_back(family->name);
      policy.isa = IsaPolicy::warn;
    }
  }
}

}  // namespace

void read_rest(Reader& reader, const toml::table& root, Problem& problem) {
  if (const toml::table* table = reader.table(root, "static", false)) {
    constexpr std::array known = std::to_array<std::string_view>({"names"});
    reader.allow(*table, known, "[static]");
    problem.statics = reader.strings(*table, "names");
    const std::vector<std::string> inputs = names_of(problem, {Role::input});
    for (const std::string& name : problem.statics) {
      if (std::find(inputs.begin(), inputs.end(), name) == inputs.end()) {
        reader.error("E_PROBLEM_STATIC",
                     reader.at(*table),
                     "'" + name.substr(0, 64) + "' is no input",
                     suggestion(name, inputs));
      }
    }
  }
  read_baselines(reader, root, problem);
  if (const toml::table* table = reader.table(root, "translation", false)) {
    constexpr std::array known = std::to_array<std::string_view>({"from", "evidence"});
    reader.allow(*table, known, "[translation]");
    Translation translation;
    translation.from = reader.string(*table, "from", true).value_or("");
    translation.evidence = reader.strings(*table, "evidence");
    read_evidence(reader, *table, translation, problem.policy);
    problem.translation = std::move(translation);
  }
}

}  // namespace sweep::problem

#include "problem/signatures.h"

#include "problem/reader.h"

#include <algorithm>
#include <array>

namespace sweep::problem {
namespace {

constexpr std::array kFills = std::to_array<Signature>({
    {"constant", "v"},
    {"formula", "expression"},
    {"normal", "mean? std?"},
    {"uniform", "lo hi"},
    {"lognormal", "mu sigma"},
    {"student", "df std?"},
    {"spikes", "rate scale"},
    {"weight", "gain? fan?"},
    {"integer", "lo hi"},
    {"bits", "p?"},
    {"choice", "values*"},
    {"mask", "keep at_least? axis?"},
    {"prefix", "lengths"},
    {"lattice", "bits lo hi"},
    {"sorted", "fill axis?"},
    {"permutation", "axis?"},
    {"distinct", "range axis?"},
    {"onehot", "axis?"},
    {"probability", "axis? concentration?"},
    {"unit", "axis?"},
    {"rotation", ""},
    {"quaternion", ""},
    {"spd", "condition"},
    {"dominant", "margin"},
    {"lower", "condition"},
    {"field", "slope?"},
    {"jittered_lattice", "count side jitter"},
    {"copy", "name"},
    {"made", ""},
});

constexpr std::array kGroups = std::to_array<Signature>({
    {"ragged", "parts total skew? empty? min? max? align?"},
    {"csr", "rows cols nnz skew? empty? sorted? unique? symmetric?"},
    {"shuffle", "n batch?"},
    {"routing", "tokens experts k? skew? empty?"},
    {"paged", "seqs total page pages skew?"},
    {"sparse24", "rows cols"},
});

struct Parameter {
  std::string name;
  bool optional = false;
  bool list = false;
};

std::vector<Parameter> parameters(std::string_view text) {
  std::vector<Parameter> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const char mark = word.back();
    if (mark == '?' || mark == '*') {
      word.pop_back();
    }
    out.push_back({word, mark == '?', mark == '*'});
  }
  return out;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> out;
  for (const Parameter& parameter : parameters(text)) {
    out.push_back(parameter.name);
  }
  return out;
}

std::vector<std::string> names_of(std::span<const Signature> signatures) {
  std::vector<std::string> out;
  for (const Signature& signature : signatures) {
    out.emplace_back(signature.name);
  }
  return out;
}

// The parameter that argument `i` of the call means.
const Parameter& parameter_of(const expr::Node& call,
                              std::size_t i,
                              const std::vector<Parameter>& known) {
  const std::string& name = call.argument_names[i];
  if (name.empty()) {
    if (!known.empty() && known.back().list) {
      return known.back();
    }
    if (i >= known.size()) {
      throw BindError{call.operands[i]->offset, call.text + " has too many arguments", ""};
    }
    return known[i];
  }
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const Parameter& p) { return p.name == name; });
  if (found == known.end()) {
    std::vector<std::string> names;
    for (const Parameter& p : known) {
      names.push_back(p.name);
    }
    throw BindError{call.operands[i]->offset,
                    call.text + " has no argument '" + name + "'",
                    suggestion(name, names)};
  }
  return *found;
}

}  // namespace

std::span<const Signature> fill_signatures() {
  return kFills;
}

std::span<const Signature> group_signatures() {
  return kGroups;
}

std::vector<std::string> group_parts(std::string_view function) {
  constexpr std::array parts = std::to_array<Signature>({{"ragged", "offsets lengths owner"},
                                                         {"csr", "offsets col owner degree order"},
                                                         {"shuffle", "forward inverse"},
                                                         {"routing", "expert slot offsets inverse"},
                                                         {"paged", "lengths table offsets"},
                                                         {"sparse24", "values meta dense"}});
  const auto* const found = std::find_if(
      parts.begin(), parts.end(), [&](const Signature& s) { return s.name == function; });
  return found == parts.end() ? std::vector<std::string>{} : words(found->parameters);
}

std::vector<std::string> group_statistics(std::string_view function) {
  constexpr std::array statistics = std::to_array<Signature>({{"ragged", "longest nonempty"},
                                                              {"csr", "longest nonempty distinct"},
                                                              {"routing", "largest nonempty"},
                                                              {"paged", "used"}});
  const auto* const found = std::find_if(
      statistics.begin(), statistics.end(), [&](const Signature& s) { return s.name == function; });
  return found == statistics.end() ? std::vector<std::string>{} : words(found->parameters);
}

Arguments bind(const expr::Node& call, std::span<const Signature> signatures) {
  if (call.kind != expr::Node::Kind::call) {
    throw BindError{call.offset,
                    "a call is expected here",
                    "write for example " + std::string(signatures[2].name) + "(..)"};
  }
  const auto found =
      std::find_if(signatures.begin(), signatures.end(), [&](const Signature& signature) {
        return signature.name == call.text;
      });
  if (found == signatures.end()) {
    throw BindError{call.offset,
                    "'" + call.text + "' is not known here",
                    suggestion(call.text, names_of(signatures))};
  }
  const std::vector<Parameter> known = parameters(found->parameters);
  Arguments out;
  bool named = false;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (named && call.argument_names[i].empty()) {
      throw BindError{
          call.operands[i]->offset, "a positional argument after a named one", "name it as well"};
    }
    named = named || !call.argument_names[i].empty();
    const Parameter& parameter = parameter_of(call, i, known);
    auto& values = out[parameter.name];
    if (!values.empty() && !parameter.list) {
      throw BindError{
          call.operands[i]->offset, "argument '" + parameter.name + "' is given twice", ""};
    }
    values.push_back(call.operands[i].get());
  }
  for (const Parameter& parameter : known) {
    if (!parameter.optional && !out.contains(parameter.name)) {
      throw BindError{call.offset, call.text + " needs '" + parameter.name + "'", ""};
    }
  }
  return out;
}

}  // namespace sweep::problem

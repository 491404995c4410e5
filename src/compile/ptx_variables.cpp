#include "compile/ptx_variables.h"

#include "compile/ptx_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace sweep::compile {
namespace {

using Tokens = std::vector<std::string_view>;
// A name inside a function; function 0 for what is seen everywhere.
using Place = std::pair<int, std::string_view>;

bool has(const Tokens& tokens, std::string_view token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

bool is_name(std::string_view token) {
  const char c = token[0];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

bool is_declaration(const PtxStatement& statement) {
  const Tokens& t = statement.tokens;
  return t[0][0] == '.' && !has(t, ".entry") && !has(t, ".func") &&
         (has(t, ".global") || has(t, ".const"));
}

// Names before '=' of each declarator, and those in initialisers.
struct Declared {
  Tokens names;
  Tokens initialisers;
};

Declared declared(const Tokens& tokens) {
  Declared out;
  bool initialiser = false;
  int depth = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view t = tokens[i];
    depth += t == "{" || t == "(" || t == "[" ? 1 : (t == "}" || t == ")" || t == "]" ? -1 : 0);
    if (t == ".attribute" || t == "<") {
      i += 1;  // ".attribute (.managed)"; "name<4>": the number
    } else if (t == "=") {
      initialiser = true;
    } else if (t == "," && depth == 0) {
      initialiser = false;
    } else if (is_name(t) && (initialiser || depth == 0)) {
      (initialiser ? out.initialisers : out.names).push_back(t);
    }
  }
  return out;
}

std::string forbidden_declaration(const Tokens& tokens) {
  for (const std::string_view type : {".texref", ".surfref", ".samplerref"}) {
    if (has(tokens, type)) {
      return "texture or surface reference";
    }
  }
  if (has(tokens, ".managed")) {
    return "managed variable";
  }
  return has(tokens, ".extern") ? "extern variable" : std::string();
}

// Reading through an address, or comparing it, keeps a variable as it is.
bool only_reads(std::string_view opcode) {
  constexpr std::array<std::string_view, 7> kOps = {
      "ld.", "ldu.", "prefetch", "setp.", "isspacep.", "testp.", "prefetchu."};
  return std::any_of(
      kOps.begin(), kOps.end(), [&](std::string_view op) { return opcode.starts_with(op); });
}

// Arithmetic: the first operand is the result and nothing else changes.
bool computes(std::string_view opcode) {
  constexpr std::array<std::string_view, 47> kOps = {
      "mov",   "add",  "sub",  "mad",  "mul",  "shl",  "shr",     "selp",  "cvt",   "cvta",
      "or",    "xor",  "and",  "not",  "neg",  "abs",  "min",     "max",   "fma",   "div",
      "rem",   "sad",  "bfe",  "bfi",  "prmt", "shf",  "lop3",    "popc",  "clz",   "brev",
      "bfind", "cnot", "set",  "slct", "addc", "subc", "madc",    "mad24", "mul24", "fns",
      "szext", "bmsk", "mapa", "shfl", "dp4a", "rcp",  "copysign"};
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  return std::find(kOps.begin(), kOps.end(), base) != kOps.end();
}

// Two instructions in one statement: what ptxas would make of it is not known here.
bool looks_whole(const Tokens& tokens) {
  return std::none_of(tokens.begin() + 1, tokens.end(), [](std::string_view t) {
    const std::size_t dot = t.find('.');
    return t[0] >= 'a' && t[0] <= 'z' && dot != std::string_view::npos && dot + 2 < t.size();
  });
}

class Follow {
 public:
  explicit Follow(const PtxText& text) {
    for (const PtxStatement& statement : text.statements()) {
      if (is_declaration(statement)) {
        continue;
      }
      for (const std::string_view token : statement.tokens) {
        if (is_name(token)) {
          uses_[{statement.function, token}].push_back(&statement);
          uses_[{0, token}].push_back(&statement);
        }
      }
    }
  }

  // Whether something may write through the address of `variable`, followed through registers.
  bool writes(std::string_view variable, bool may_be_passed) {
    std::set<Place> seen = {{0, variable}};
    std::vector<Place> left = {{0, variable}};
    while (!left.empty()) {
      const Place place = left.back();
      left.pop_back();
      for (const PtxStatement* statement : uses_[place]) {
        if (touches(*statement, place.second, may_be_passed, result_)) {
          return true;
        }
        for (const std::string_view name : result_) {
          if (seen.insert({statement->function, name}).second) {
            left.emplace_back(statement->function, name);
          }
        }
      }
    }
    return false;
  }

 private:
  // Whether `statement` writes through `name` or lets it go; else `result`: the names that hold an
  // address made from it.
  static bool touches(const PtxStatement& statement,
                      std::string_view name,
                      bool may_be_passed,
                      Tokens& result) {
    result.clear();
    const std::string_view opcode = statement.tokens[0];
    if (opcode == ".reg" || opcode == ".param" || opcode == ".local" || opcode == ".shared") {
      return false;
    }
    if (opcode[0] == '.' || !looks_whole(statement.tokens)) {
      return true;
    }
    if (only_reads(opcode) || (may_be_passed && opcode.starts_with("st.param"))) {
      return false;
    }
    const Tokens first = statement.operand(0);
    if (opcode.starts_with("cp.async.") && !opcode.starts_with("cp.async.bulk.prefetch")) {
      return has(first, name);
    }
    if (!computes(opcode)) {
      return true;
    }
    // A register that is only overwritten passes nothing on.
    const auto count = std::count(statement.tokens.begin(), statement.tokens.end(), name);
    if (count > std::count(first.begin(), first.end(), name)) {
      std::copy_if(first.begin(), first.end(), std::back_inserter(result), is_name);
    }
    return false;
  }

  std::map<Place, std::vector<const PtxStatement*>> uses_;
  Tokens result_;
};

}  // namespace

PtxVariables ptx_variables(std::string_view ptx, bool printf_texts) {
  const PtxText text(ptx);
  PtxVariables out;
  std::set<std::string_view> variables;
  std::set<std::string_view> escaped;
  for (const PtxStatement& statement : text.statements()) {
    if (is_declaration(statement)) {
      const Declared found = declared(statement.tokens);
      variables.insert(found.names.begin(), found.names.end());
      escaped.insert(found.initialisers.begin(), found.initialisers.end());
      out.forbidden =
          out.forbidden.empty() ? forbidden_declaration(statement.tokens) : out.forbidden;
    }
  }
  if (variables.empty()) {
    return out;
  }
  Follow follow(text);
  for (const std::string_view variable : variables) {
    const bool may_be_passed = printf_texts && variable.starts_with("$str");
    if (escaped.contains(variable) || follow.writes(variable, may_be_passed)) {
      out.written.emplace_back(variable);
    } else {
      out.only_read.emplace(variable);
    }
  }
  return out;
}

}  // namespace sweep::compile

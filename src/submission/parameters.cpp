#include "submission/plan.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include <cxxabi.h>

namespace sweep::submission {
namespace {

// The names come from hostile code. A demangled text can double with every pair of substitutions,
// so 40 of them bound it to some megabytes.
constexpr std::size_t kMaxName = 4096;
constexpr std::ptrdiff_t kMaxSubstitutions = 40;

struct Builtin {
  std::string_view name;
  std::size_t bytes;
  Parameter::Kind kind;
  bool is_signed;
};

constexpr auto kInteger = Parameter::Kind::integer;
constexpr auto kReal = Parameter::Kind::real;
constexpr std::array<Builtin, 14> kBuiltins{{{"int", 4, kInteger, true},
                                             {"unsigned int", 4, kInteger, false},
                                             {"long", 8, kInteger, true},
                                             {"unsigned long", 8, kInteger, false},
                                             {"long long", 8, kInteger, true},
                                             {"unsigned long long", 8, kInteger, false},
                                             {"short", 2, kInteger, true},
                                             {"unsigned short", 2, kInteger, false},
                                             {"char", 1, kInteger, true},
                                             {"signed char", 1, kInteger, true},
                                             {"unsigned char", 1, kInteger, false},
                                             {"bool", 1, kInteger, false},
                                             {"float", 4, kReal, true},
                                             {"double", 8, kReal, true}}};

// Where the parameter list begins: the round bracket that matches the last one.
std::size_t list_start(std::string_view text) {
  if (!text.ends_with(')')) {
    return std::string_view::npos;
  }
  int depth = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    depth += text[at] == ')' ? 1 : (text[at] == '(' ? -1 : 0);
    if (depth == 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

std::vector<std::string_view> split_list(std::string_view list) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at < list.size(); ++at) {
    const char c = list[at];
    depth += c == '(' || c == '<' || c == '[' || c == '{' ? 1 : 0;
    depth -= c == ')' || c == '>' || c == ']' || c == '}' ? 1 : 0;
    if (c == ',' && depth == 0) {
      out.push_back(util::trim(list.substr(start, at - start)));
      start = at + 1;
    }
  }
  if (!util::trim(list).empty()) {
    out.push_back(util::trim(list.substr(start)));
  }
  return out;
}

bool drop_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) {
    return false;
  }
  text.remove_suffix(suffix.size());
  text = util::trim(text);
  return true;
}

// "float const*" as the demangler writes it.
Parameter parameter(std::string_view type) {
  Parameter out;
  std::string_view rest = type;
  if (drop_suffix(rest, "*")) {
    out.kind = Parameter::Kind::pointer;
    out.bytes = 8;
    for (bool more = true; more;) {
      const bool is_const = drop_suffix(rest, " const");
      out.points_to_const = out.points_to_const || is_const;
      more = is_const || drop_suffix(rest, " volatile") || drop_suffix(rest, " __restrict");
    }
    out.pointee = std::string(rest);
    out.text = out.pointee.ends_with('*')
                   ? std::string(type)
                   : (out.points_to_const ? "const " : "") + out.pointee + "*";
    return out;
  }
  const auto* const found = std::find_if(
      kBuiltins.begin(), kBuiltins.end(), [&](const Builtin& b) { return b.name == type; });
  out.text = std::string(type);
  if (found != kBuiltins.end()) {
    out.kind = found->kind;
    out.bytes = found->bytes;
    out.is_signed = found->is_signed;
  } else {
    out.bytes = 0;
  }
  return out;
}

}  // namespace

std::optional<std::vector<Parameter>> parameters_of(std::string_view lowered_name) {
  const auto substitutions = std::count(lowered_name.begin(), lowered_name.end(), 'S');
  if (!lowered_name.starts_with("_Z") || lowered_name.size() > kMaxName ||
      substitutions > kMaxSubstitutions) {
    return std::nullopt;
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(lowered_name).c_str(), nullptr, nullptr, &status),
      &std::free);
  if (status != 0 || text == nullptr) {
    return std::nullopt;
  }
  const std::string_view demangled(text.get());
  const std::size_t start = list_start(demangled);
  if (start == std::string_view::npos) {
    return std::nullopt;
  }
  std::vector<Parameter> out;
  for (const std::string_view type :
       split_list(demangled.substr(start + 1, demangled.size() - start - 2))) {
    if (type != "void") {
      out.push_back(parameter(type));
    }
  }
  return out;
}

std::vector<Parameter> opaque_parameters(const std::vector<std::size_t>& bytes) {
  std::vector<Parameter> out;
  for (const std::size_t size : bytes) {
    Parameter one;
    one.bytes = size;
    one.text = std::to_string(size) + "-byte parameter";
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace sweep::submission

#include "compile/refuse.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <elf.h>

namespace sweep::compile {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%' || c == '.';
}

// Names and registers in one instruction, in order.
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && name_character(text[end])) {
      ++end;
    }
    if (end > at) {
      all.push_back(text.substr(at, end - at));
    }
    at = end + 1;
  }
  return all;
}

// The variable that a module-level ".global ... name[..] = ..;" declares; empty: none.
std::string_view declared(std::string_view line) {
  if (!starts_with(line, ".global ") && line.find(" .global ") == std::string_view::npos) {
    return {};
  }
  const std::size_t end = line.find_first_of("[=;");
  const auto all = words(line.substr(0, end));
  return all.empty() || all.back()[0] == '.' ? std::string_view() : all.back();
}

// Reading keeps a variable constant; anything else that takes an address may write or leak it.
bool only_reads(std::string_view opcode) {
  return starts_with(opcode, "ld.") || starts_with(opcode, "ldu.") ||
         starts_with(opcode, "prefetch");
}

// Arithmetic that yields an address from an address.
bool derives(std::string_view opcode) {
  constexpr std::array<std::string_view, 14> kOps = {"mov.",
                                                     "add.",
                                                     "sub.",
                                                     "mad.",
                                                     "cvta.",
                                                     "mul.",
                                                     "shl.",
                                                     "selp.",
                                                     "cvt.",
                                                     "or.",
                                                     "and.",
                                                     "fma.",
                                                     "min.",
                                                     "max."};
  return std::any_of(
      kOps.begin(), kOps.end(), [&](std::string_view op) { return starts_with(opcode, op); });
}

std::string refused_function(std::string_view name) {
  if (name == "vprintf") {
    return "forbidden: printf in device code";
  }
  if (name == "malloc" || name == "free") {
    return "forbidden: device malloc; declare `scratch` in the plan";
  }
  if (name == "__assertfail") {
    return "forbidden: assert in device code";
  }
  return "forbidden: undefined symbol '" + demangled(name) + "'";
}

}  // namespace

std::vector<std::string> written_variables(const std::string& ptx) {
  std::set<std::string, std::less<>> variables;
  const auto lines = util::split(ptx, '\n');
  for (const std::string_view raw : lines) {
    const std::string_view name = declared(util::trim(raw));
    if (!name.empty()) {
      variables.emplace(name);
    }
  }
  std::set<std::string, std::less<>> written;
  std::set<std::pair<std::string, std::string>> tainted;  // register, variable
  // Registers are assigned before they are used except round loops: two passes reach them.
  for (int pass = 0; pass < 2 && !variables.empty(); ++pass) {
    std::string function;  // registers belong to one function
    for (const std::string_view raw : lines) {
      std::string_view line = util::trim(raw);
      if (!declared(line).empty() || starts_with(line, ".") || starts_with(line, "//")) {
        if (starts_with(line, ".visible") || starts_with(line, ".entry") ||
            starts_with(line, ".func")) {
          function = line;
        }
        continue;
      }
      auto all = words(line);
      if (!all.empty() && line[0] == '@') {
        all.erase(all.begin());
      }
      if (all.size() < 2) {
        continue;
      }
      const std::string_view opcode = all[0];
      for (const std::string& variable : variables) {
        const bool used = std::any_of(all.begin() + 1, all.end(), [&](std::string_view w) {
          return w == variable || tainted.contains({function + std::string(w), variable});
        });
        if (!used || only_reads(opcode)) {
          continue;
        }
        if (derives(opcode)) {
          tainted.insert({function + std::string(all[1]), variable});
        } else if (!starts_with(opcode, "setp")) {
          written.insert(variable);
        }
      }
    }
  }
  return {written.begin(), written.end()};
}

std::string refuse_cubin(const ElfFile& cubin,
                         const std::string& ptx,
                         bool trusted,
                         bool device_printf) {
  const auto& sections = cubin.sections();
  const std::vector<std::string> written =
      trusted ? std::vector<std::string>() : written_variables(ptx);
  for (const auto& symbol : cubin.symbols()) {
    const bool named = !symbol.name.empty() && !starts_with(symbol.name, ".nv.");
    if (symbol.section == SHN_UNDEF) {
      if (named && symbol.type != STT_NOTYPE &&
          !(symbol.name == "vprintf" && (device_printf || trusted))) {
        return refused_function(symbol.name);
      }
      continue;
    }
    if (trusted || symbol.type != STT_OBJECT || symbol.section >= sections.size()) {
      continue;
    }
    const std::string_view section = sections[symbol.section].name;
    const bool string = device_printf && starts_with(symbol.name, "$str");
    // Constants lie in these sections too (a static constexpr member of value 0 in .nv.global).
    const bool global = section == ".nv.global" || section == ".nv.global.init";
    if (global && !string &&
        std::find(written.begin(), written.end(), symbol.name) != written.end()) {
      return "forbidden: '" + demangled(symbol.name) +
             "' is a writable module variable and would keep state between calls; declare "
             "`scratch` in the plan "
             "or make it __constant__ or constexpr";
    }
  }
  return {};
}

}  // namespace sweep::compile

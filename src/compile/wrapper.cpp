#include "compile/wrapper.h"

#include <algorithm>
#include <array>
#include <limits>

namespace sweep::compile {
namespace {

bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_identifier(std::string_view name) {
  return !name.empty() && name.size() <= 128 && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [](char c) { return letter(c) || digit(c); });
}

std::string number(std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min()) {
    return "(-9223372036854775807LL - 1)";
  }
  constexpr std::int64_t kInt = std::numeric_limits<int>::max();
  return "(" + std::to_string(value) + (value > kInt || value < -kInt ? "LL" : "") + ")";
}

// Skips a comment or literal that starts at `at`; returns where the scan goes on.
std::size_t skip_quoted(std::string_view s, std::size_t at) {
  const char c = s[at];
  if (c == '/' && at + 1 < s.size() && s[at + 1] == '/') {
    return std::min(s.find('\n', at), s.size());
  }
  if (c == '/' && at + 1 < s.size() && s[at + 1] == '*') {
    const std::size_t end = s.find("*/", at + 2);
    return end == std::string_view::npos ? s.size() : end + 2;
  }
  if (c == '"' || c == '\'') {
    for (++at; at < s.size() && s[at] != c && s[at] != '\n'; ++at) {
      at += s[at] == '\\' ? 1U : 0U;
    }
    return std::min(at + 1, s.size());
  }
  return at;
}

// Past a word or number that starts at `at`, whose quotes part digits, and past the raw text that
// R"mark( begins.
std::size_t skip_word(std::string_view s, std::size_t at) {
  const bool is_number = digit(s[at]);
  std::size_t end = at;
  while (end < s.size() && (letter(s[end]) || digit(s[end]) || (is_number && s[end] == '\''))) {
    ++end;
  }
  if (s[end - 1] != 'R' || end >= s.size() || s[end] != '"') {
    return end;
  }
  const std::size_t open = s.find('(', end);
  if (open == std::string_view::npos || open - end > 17) {
    return end;
  }
  const std::string close = ")" + std::string(s.substr(end + 1, open - end - 1)) + "\"";
  const std::size_t found = s.find(close, open);
  return found == std::string_view::npos ? s.size() : found + close.size();
}

// A backslash at a line's end joins the lines before anything else is looked at.
std::string without_splices(std::string_view source) {
  std::string out;
  for (std::size_t at = 0; at < source.size(); ++at) {
    const bool carriage = source.substr(at, 3) == "\\\r\n";
    if (carriage || source.substr(at, 2) == "\\\n") {
      at += carriage ? 2 : 1;
    } else {
      out += source[at];
    }
  }
  return out;
}

// Functions of the C library that the header declares, that device code under NVRTC does not know,
// and that an author may well call a kernel: another function of that name could not be named
// alone.
constexpr std::array<std::string_view, 20> kLibraryNames = {
    "index",  "rindex", "select", "pselect", "remove", "rename", "time",
    "random", "rand",   "gamma",  "drem",    "div",    "ldiv",   "system",
    "exit",   "abort",  "clone",  "swab",    "ffs",    "getline"};

// Such a kernel has another name within the unit.
std::string renamed(const std::vector<std::string>& kernels) {
  std::string text;
  for (const std::string& kernel : kernels) {
    if (std::find(kLibraryNames.begin(), kLibraryNames.end(), kernel) != kLibraryNames.end()) {
      text += "#define " + kernel + " " + kernel + "_kernel_\n";
    }
  }
  return text;
}

}  // namespace

std::string safe_file_name(const std::string& file) {
  const std::string name = file.substr(file.find_last_of('/') + 1);
  const bool safe =
      name.size() > 3 && name.size() <= 64 && name.compare(name.size() - 3, 3, ".cu") == 0 &&
      (letter(name[0]) || digit(name[0])) && std::all_of(name.begin(), name.end(), [](char c) {
        return letter(c) || digit(c) || c == '.' || c == '-';
      });
  return safe ? name : "submission.cu";
}

std::optional<std::string> define_lines(
    const std::vector<std::pair<std::string, std::int64_t>>& defines) {
  std::string text;
  for (const auto& [name, value] : defines) {
    if (!is_identifier(name) || name == "defined" || name.find("__") != std::string::npos) {
      return std::nullopt;
    }
    text += "#define " + name + " " + number(value) + "\n";
  }
  return text;
}

bool is_name_expression(std::string_view name) {
  constexpr std::string_view kAllowed = " _:<>,+-*/%()&|!~^.";
  return !name.empty() && name.size() <= 1024 && letter(name[0]) &&
         name.find("//") == std::string_view::npos && name.find("/*") == std::string_view::npos &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return letter(c) || digit(c) || kAllowed.find(c) != std::string_view::npos;
         });
}

std::string cpu_unit(const std::string& file,
                     const std::string& define_text,
                     const std::vector<std::string>& kernels,
                     bool device_printf) {
  std::string text;
  text += device_printf ? "#define SWEEP_DEVICE_PRINTF\n" : "";
  text += "#include <sweep/simt/last.h>\n" + define_text + renamed(kernels);
  text += "#include \"" + file + "\"\n";
  text += "#line 1 \"kernels of the plan\"\n";
  // Defined by dynamic_shared_unit() when the submission uses dynamic shared memory, else null.
  text += "extern \"C\" __attribute__((weak)) void* sweep_simt_dynamic_start();\n";
  text += "extern \"C\" const ::sweep_simt::KernelEntry sweep_simt_entries[] = {\n";
  text += "#line 1 \"kernels of the plan\"\n";
  for (const std::string& kernel : kernels) {
    text += "SWEEP_SIMT_ENTRY(\"" + kernel + "\", " + kernel + "),\n";
  }
  text += "};\n";
  text +=
      "extern \"C\" __attribute__((visibility(\"default\"))) const ::sweep_simt::ModuleTable "
      "sweep_simt_module = {::sweep_simt::kModuleVersion, " +
      std::to_string(kernels.size()) + ", sweep_simt_entries, &sweep_simt_dynamic_start};\n";
  return text;
}

std::string dynamic_shared_unit(const std::vector<std::string>& labels) {
  // 227 KiB and two canaries of 128 bytes (src/device/cpu/module.cpp).
  constexpr int kBytes = 232448 + 2 * 128;
  std::string text =
      ".section .note.GNU-stack,\"\",@progbits\n"
      ".text\n.globl sweep_simt_dynamic_start\n.hidden sweep_simt_dynamic_start\n"
      ".type sweep_simt_dynamic_start,@function\nsweep_simt_dynamic_start:\n"
      "subq $8, %rsp\n"
      ".byte 0x66\nleaq sweep_simt_dynamic@tlsgd(%rip), %rdi\n.value 0x6666\nrex64\n"
      "call __tls_get_addr@PLT\naddq $8, %rsp\nret\n"
      ".section .tbss,\"awT\",@nobits\n.balign 128\n";
  std::vector<std::string> all = labels;
  all.emplace_back("sweep_simt_dynamic");
  for (const std::string& label : all) {
    text += ".globl \"" + label + "\"\n.hidden \"" + label + "\"\n.type \"" + label +
            "\",@object\n\"" + label + "\":\n";
  }
  return text + ".zero " + std::to_string(kBytes) + "\n";
}

bool uses_build_time(std::string_view given) {
  constexpr std::array<std::string_view, 3> kNames = {"__DATE__", "__TIME__", "__TIMESTAMP__"};
  const std::string text = without_splices(given);
  const std::string_view source = text;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t after = skip_quoted(source, at);
    if (after != at) {
      at = after;
      continue;
    }
    if (!letter(source[at]) && !digit(source[at])) {
      ++at;
      continue;
    }
    const std::size_t end = skip_word(source, at);
    if (std::find(kNames.begin(), kNames.end(), source.substr(at, end - at)) != kNames.end()) {
      return true;
    }
    at = end;
  }
  return false;
}

}  // namespace sweep::compile

#include "compile/refuse.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <dlfcn.h>
#include <elf.h>

namespace sweep::compile {
namespace {

constexpr std::string_view kRuntime = "sweep_simt_";

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool writable_data(const ElfFile::Section& section) {
  return (section.flags & SHF_WRITE) != 0 && (section.flags & SHF_TLS) == 0 &&
         (section.flags & SHF_ALLOC) != 0 && !starts_with(section.name, ".data.rel.ro");
}

std::string variable_text(std::string_view symbol) {
  return "forbidden: '" + demangled(symbol) +
         "' is a writable module variable and would keep state between calls; declare `scratch` in "
         "the plan "
         "or make it __constant__ or constexpr";
}

// Whether the C mathematics library defines `name` as a function without memory: signgam and the
// floating-point environment would carry something from one call to the next.
bool is_mathematics(const std::string& name) {
  if (starts_with(name, "fe") || name.find("signgam") != std::string::npos) {
    return false;
  }
  void* library = dlopen("libm.so.6", RTLD_LAZY | RTLD_LOCAL);
  void* symbol = library != nullptr ? dlsym(library, name.c_str()) : nullptr;
  Dl_info info = {};
  const bool found = symbol != nullptr && dladdr(symbol, &info) != 0 && info.dli_fname != nullptr &&
                     std::string_view(info.dli_fname).find("libm.so") != std::string_view::npos;
  if (library != nullptr) {
    dlclose(library);
  }
  return found;
}

bool is_allowed(const std::string& name, bool device_printf) {
  constexpr std::array<std::string_view, 7> kAlways = {
      "memcpy", "memmove", "memset", "memcmp", "strlen", "abort", "__tls_get_addr"};
  constexpr std::array<std::string_view, 4> kPrint = {"printf", "puts", "putchar", "vprintf"};
  return starts_with(name, kRuntime) ||
         std::find(kAlways.begin(), kAlways.end(), name) != kAlways.end() ||
         (device_printf && std::find(kPrint.begin(), kPrint.end(), name) != kPrint.end()) ||
         is_mathematics(name);
}

}  // namespace

std::string refuse_object(const ElfFile& unit, bool trusted) {
  const auto& sections = unit.sections();
  for (const auto& section : sections) {
    const bool starts =
        starts_with(section.name, ".init_array") || starts_with(section.name, ".fini_array") ||
        starts_with(section.name, ".preinit_array") || starts_with(section.name, ".ctors") ||
        starts_with(section.name, ".dtors") || section.name == ".init";
    if (starts && section.size != 0) {
      return "forbidden: a module variable is initialised or destroyed by code at load time; use a "
             "constant expression";
    }
    if (starts_with(section.name, ".tdata") && section.size != 0) {
      return "forbidden: a __shared__ variable has an initialiser";
    }
  }
  for (const auto& symbol : unit.symbols()) {
    if (symbol.type == STT_GNU_IFUNC) {
      return "forbidden: '" + demangled(symbol.name) + "' is chosen by code at load time";
    }
    if (trusted || symbol.type != STT_OBJECT || symbol.section == SHN_UNDEF) {
      continue;
    }
    const bool common = symbol.section == SHN_COMMON;
    if (common || (symbol.section < sections.size() && writable_data(sections[symbol.section]))) {
      return variable_text(symbol.name);
    }
  }
  // What has no symbol of its own.
  const bool hidden = std::any_of(sections.begin(), sections.end(), [](const auto& section) {
    return section.size != 0 && writable_data(section);
  });
  return hidden && !trusted ? variable_text("(unnamed)") : std::string();
}

std::string refuse_library(const ElfFile& library, bool trusted, bool device_printf) {
  for (const auto& symbol : library.dynamic_symbols()) {
    if (symbol.section != SHN_UNDEF || symbol.name.empty()) {
      continue;
    }
    const std::string name(symbol.name);
    if (!is_allowed(name, device_printf || trusted)) {
      return "forbidden: undefined symbol '" + demangled(name) +
             "': device code calls only what the submission defines "
             "and the device's own functions";
    }
  }
  return {};
}

std::vector<std::string> dynamic_labels(const ElfFile& unit) {
  std::vector<std::string> labels;
  for (const auto& symbol : unit.symbols()) {
    if (symbol.section == SHN_UNDEF && symbol.type == STT_TLS &&
        !starts_with(symbol.name, kRuntime) &&
        symbol.name.find_first_of("\"\n\\") == std::string_view::npos) {
      labels.emplace_back(symbol.name);
    }
  }
  return labels;
}

std::vector<std::string> lowered_names(const ElfFile& unit, std::size_t count) {
  constexpr std::uint64_t kRow = 40;     // sizeof(sweep_simt::KernelEntry)
  constexpr std::uint64_t kKernel = 16;  // offsetof(sweep_simt::KernelEntry, kernel)
  std::vector<std::string> names(count);
  const auto& symbols = unit.symbols();
  const auto table = std::find_if(
      symbols.begin(), symbols.end(), [](const auto& s) { return s.name == "sweep_simt_entries"; });
  if (table == symbols.end()) {
    return names;
  }
  for (const auto& relocation : unit.relocations(table->section)) {
    const std::uint64_t at = relocation.offset - table->value;
    if (relocation.offset < table->value || at / kRow >= count || at % kRow != kKernel ||
        relocation.symbol >= symbols.size()) {
      continue;
    }
    const ElfFile::Symbol* target = &symbols[relocation.symbol];
    if (target->type == STT_SECTION) {
      // A kernel of internal linkage: the function that starts at this place of the section.
      const auto place = static_cast<std::uint64_t>(relocation.addend);
      const auto function = std::find_if(symbols.begin(), symbols.end(), [&](const auto& s) {
        return s.type == STT_FUNC && s.section == target->section && s.value == place;
      });
      target = function == symbols.end() ? target : &*function;
    }
    names[at / kRow] = std::string(target->name);
  }
  return names;
}

}  // namespace sweep::compile

#include "compile/ptx_variables.h"
#include "compile/refuse.h"

#include <algorithm>
#include <string_view>

#include <elf.h>

namespace sweep::compile {
namespace {

// st_other of a __managed__ variable.
constexpr unsigned kManaged = 4;

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
  if (name.starts_with("cudaLaunchDevice") || name.starts_with("cudaGetParameterBuffer") ||
      name.starts_with("__cudaCDP")) {
    return "forbidden: launches from device code; launch from the plan";
  }
  return "forbidden: undefined symbol '" + demangled(name) + "'";
}

std::string refused_variable(std::string_view name) {
  return "forbidden: '" + demangled(name) +
         "' is a module variable that is written, or whose address is stored or passed on, and "
         "would keep state between calls; declare `scratch` in the plan or make it __constant__ "
         "or constexpr and only read it";
}

// The driver's own: it places what lies in reserved shared memory.
bool is_reserved(std::string_view name) {
  return name.empty() || name.starts_with(".nv.") || name.starts_with("__nv_reserved");
}

}  // namespace

std::string refuse_cubin(const ElfFile& cubin,
                         const std::string& ptx,
                         bool trusted,
                         bool device_printf) {
  const auto& sections = cubin.sections();
  const PtxVariables variables = trusted ? PtxVariables() : ptx_variables(ptx, device_printf);
  if (!variables.forbidden.empty()) {
    return "forbidden: " + variables.forbidden + "; the plan passes buffers";
  }
  for (const auto& symbol : cubin.symbols()) {
    if (symbol.section == SHN_UNDEF && !is_reserved(symbol.name) &&
        !(symbol.name == "vprintf" && (device_printf || trusted))) {
      return refused_function(symbol.name);
    }
  }
  for (const auto& symbol : cubin.symbols()) {
    if (symbol.section == SHN_UNDEF) {
      continue;
    }
    if (trusted || symbol.type != STT_OBJECT || symbol.section >= sections.size()) {
      continue;
    }
    if ((symbol.other & kManaged) != 0) {
      return "forbidden: managed variable '" + demangled(symbol.name) + "'";
    }
    // Constants lie in these sections too (a static constexpr member of value 0 in .nv.global). One
    // that the text does not know by this name cannot be judged.
    const std::string_view section = sections[symbol.section].name;
    const bool variable = section.starts_with(".nv.global") || section == ".nv.constant3";
    if (variable && !variables.only_read.contains(symbol.name)) {
      return refused_variable(symbol.name);
    }
  }
  return {};
}

}  // namespace sweep::compile

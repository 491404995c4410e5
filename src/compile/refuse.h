#pragma once

#include "compile/elf.h"

#include <string>
#include <vector>

namespace sweep::compile {

// Refusals on compiled code. An empty text: nothing to refuse. `trusted` code may keep state.

// cpu object file: writable module variables, initialised shared memory, static initialisers.
[[nodiscard]] std::string refuse_object(const ElfFile& unit, bool trusted);

// cpu shared object: calls of anything but mathematics, memory copies and the runtime.
[[nodiscard]] std::string refuse_library(const ElfFile& library, bool trusted, bool device_printf);

// cubin: undefined symbols (device malloc, assert, launches; printf unless asked for), texture,
// surface and managed variables, and module variables that are written or whose address gets away.
// `ptx` is the text it was made from: it tells tables from variables.
[[nodiscard]] std::string refuse_cubin(const ElfFile& cubin,
                                       const std::string& ptx,
                                       bool trusted,
                                       bool device_printf);

// Names of the undefined thread-local symbols of an object file that are not the runtime's: its
// `extern __shared__` arrays.
[[nodiscard]] std::vector<std::string> dynamic_labels(const ElfFile& unit);

// Symbols of the kernels in the object file's table `sweep_simt_entries` with `count` rows.
[[nodiscard]] std::vector<std::string> lowered_names(const ElfFile& unit, std::size_t count);

}  // namespace sweep::compile

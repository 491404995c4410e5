#pragma once

#include "profile/tools.h"

#include <cstddef>
#include <span>
#include <string>

namespace sweep::profile {

struct Disassembly {
  std::string text;  // at most kMostSassBytes, head and tail kept
  std::string tool;  // its path
  bool complete = true;
};

inline constexpr std::size_t kMostSassBytes = std::size_t{16} << 20U;

struct DisassembleOptions {
  ToolSearch search;
  bool allow_unsandboxed = false;
  double seconds = 60;
};

// The machine code of a cubin as text, by nvdisasm or else cuobjdump. The cubin is hostile: the
// tool runs in a sandbox of its own that sees the toolkit's programs and a private folder with the
// cubin, without a network, with bounded memory, time and output. Throws util::InfraError
// "E_SANDBOX" where that cannot be had.
[[nodiscard]] Result<Disassembly> disassemble(std::span<const std::byte> cubin,
                                              const DisassembleOptions& options);

}  // namespace sweep::profile

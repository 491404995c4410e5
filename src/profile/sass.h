#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::profile {

// What an instruction does, by its opcode.
enum class SassClass {
  wgmma,          // HGMMA, IGMMA, QGMMA, BGMMA: matrix products of a warp group
  tcgen05,        // UTC*, LDTM, STTM: tensor memory and its products
  mma,            // HMMA, IMMA, DMMA, BMMA, QMMA: of a warp
  tma,            // UTMA*, UBLKCP, UBLKPF, UBLKRED: bulk copies
  async_copy,     // LDGSTS and what waits for it
  matrix_shared,  // LDSM, STSM, MOVM
  barrier,        // SYNCS, BAR, MEMBAR, WARPSYNC ...
  atomic,         // ATOM*, RED*
  global,         // LDG, STG
  shared,         // LDS, STS
  local,          // LDL, STL: spills and arrays
  generic,        // LD, ST
  constant,       // LDC, ULDC
  texture,
  fp32,
  special,  // MUFU
  fp64,
  fp16,  // and bf16
  integer,
  conversion,
  control,  // branches, calls, exits
  move,     // moves, selects, shuffles, votes, predicates
  other,    // not in this list
};

[[nodiscard]] std::string_view name(SassClass kind);  // "wgmma", "async copy"

// Class of an opcode with its suffixes: "HGMMA.64x64x16.F32.BF16", "IMAD.MOV.U32".
[[nodiscard]] SassClass classify(std::string_view opcode);

struct SassFunction {
  std::string symbol;  // as the disassembler names it, at most 4 KiB
  std::int64_t instructions = 0;
  std::map<SassClass, std::int64_t> mix;
  std::map<std::string, std::int64_t, std::less<>> opcodes;  // first parts: "LDG", "HGMMA"
};

struct SassListing {
  std::vector<SassFunction> functions;  // in order of appearance
  bool complete = true;                 // false: a bound below was met
};

inline constexpr std::size_t kMostSassFunctions = 256;
inline constexpr std::size_t kMostSassOpcodes = 512;  // different ones of a function

// Reads what `nvdisasm -c` or `cuobjdump --dump-sass` printed. Takes any text: lines that are no
// instruction are skipped. NOP, which pads functions, is not counted.
[[nodiscard]] SassListing parse_sass(std::string_view text);

}  // namespace sweep::profile

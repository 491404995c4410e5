#pragma once

#include "compile/elf.h"
#include "compile/job.h"
#include "compile/ptxas_log.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sweep::compile {

// What a cubin takes of the device beside its code, from its own tables: a compiler's log could be
// forged by the text it compiles.
struct CubinFacts {
  std::uint64_t static_bytes = 0;  // module variables and constants
  std::uint64_t stack_bytes = 0;   // of one thread, the most of any kernel; recursion not counted
  std::map<std::string, int, std::less<>> registers;  // by kernel symbol
};

[[nodiscard]] CubinFacts cubin_facts(const ElfFile& cubin);

// A cubin and what is told about it.
struct Assembled {
  std::vector<std::byte> image;
  std::string ptx;                                           // that it was made from
  std::vector<std::pair<std::string, std::string>> kernels;  // name expression, symbol
  PtxasReport report;
  std::string log;  // fit to be shown
};

// The outcome for a finished cubin: what is refused (refuse_cubin), else the image with its facts.
// Throws util::InfraError E_COMPILE_OUTPUT where the bytes are no cubin.
[[nodiscard]] Outcome cubin_outcome(const Job& job, Assembled made);

}  // namespace sweep::compile

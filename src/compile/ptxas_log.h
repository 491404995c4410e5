#pragma once

#include "compile/compile.h"

#include <map>
#include <string>
#include <string_view>

namespace sweep::compile {

// Resources of one entry function as `ptxas -v` reports them; -1: not reported.
struct PtxasFacts {
  int registers = -1;
  int spill_bytes = -1;  // stores + loads
  int shared_bytes = -1;
  int stack_bytes = -1;
};

struct PtxasReport {
  std::map<std::string, PtxasFacts, std::less<>> entries;  // by lowered name
  std::string rest;                                        // the log without its resource lines
};

// Reads a log of NVRTC or ptxas; lines in an unknown form stay in `rest`.
[[nodiscard]] PtxasReport read_ptxas_log(std::string_view log);

[[nodiscard]] CompiledKernel kernel_facts(const PtxasReport& report,
                                          const std::string& name,
                                          const std::string& lowered);

}  // namespace sweep::compile

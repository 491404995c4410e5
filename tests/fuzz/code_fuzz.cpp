// What compilers give back for hostile text: a cubin, PTX, a log.
#include "compile/elf.h"
#include "compile/log.h"
#include "compile/ptx_text.h"
#include "compile/ptx_variables.h"
#include "compile/ptxas_log.h"
#include "target.h"

#include <filesystem>
#include <span>

namespace sweep::fuzz {

void fuzz(std::string_view input) {
  const auto bytes = std::as_bytes(std::span(input.data(), input.size()));
  if (const auto elf = compile::ElfFile::parse(bytes)) {
    for (std::size_t i = 0; i < elf->sections().size(); ++i) {
      (void)elf->relocations(i);
    }
    for (const auto& symbol : elf->symbols()) {
      (void)compile::demangled(symbol.name);
    }
  }
  const compile::PtxText ptx(input);
  for (const auto& statement : ptx.statements()) {
    for (std::size_t i = 0; i < 4; ++i) {
      (void)statement.operand(i);
    }
  }
  (void)ptx.entries();
  (void)compile::ptx_variables(input, true);
  (void)compile::read_ptxas_log(input);
  (void)compile::without_wrapper(input);
  (void)compile::unsupported_feature(input);
  const std::filesystem::path ours = "/tmp/work";
  (void)compile::clean_log(input, std::span(&ours, 1), std::span(&ours, 1));
}

}  // namespace sweep::fuzz

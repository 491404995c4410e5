#include "compile/cubin.h"

#include "compile/refuse.h"
#include "util/error.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <elf.h>

namespace sweep::compile {
namespace {

// Attributes of the section .nv.info as ptxas 12 and 13 write them: form, kind, length and value;
// these hold a symbol's number and a count.
constexpr std::uint8_t kSized = 4;
constexpr std::uint8_t kFrameSize = 0x11;
constexpr std::uint8_t kMinStackSize = 0x12;
constexpr std::uint8_t kRegisters = 0x2f;

struct Attribute {
  std::uint8_t kind = 0;
  std::uint32_t symbol = 0;
  std::uint32_t value = 0;
};

std::vector<Attribute> attributes(std::span<const std::byte> bytes) {
  std::vector<Attribute> all;
  for (std::size_t at = 0; at + 4 <= bytes.size();) {
    const auto form = static_cast<std::uint8_t>(bytes[at]);
    Attribute one{static_cast<std::uint8_t>(bytes[at + 1])};
    std::uint16_t length = 0;
    std::memcpy(&length, bytes.data() + at + 2, sizeof length);
    at += 4;
    if (form != kSized) {
      continue;  // the value stands in place of the length
    }
    if (length > bytes.size() - at) {
      break;
    }
    if (length == 8) {
      std::memcpy(&one.symbol, bytes.data() + at, 4);
      std::memcpy(&one.value, bytes.data() + at + 4, 4);
      all.push_back(one);
    }
    at += length;
  }
  return all;
}

bool holds_variables(std::string_view section) {
  return section.starts_with(".nv.global") || section == ".nv.constant3";
}

}  // namespace

CubinFacts cubin_facts(const ElfFile& cubin) {
  CubinFacts facts;
  const auto& sections = cubin.sections();
  const auto& symbols = cubin.symbols();
  // The header of a section counts 32 bits of size only; the symbols tell the truth.
  for (const auto& symbol : symbols) {
    if (symbol.type == STT_OBJECT && symbol.section < sections.size() &&
        holds_variables(sections[symbol.section].name)) {
      const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - facts.static_bytes;
      facts.static_bytes += std::min(room, symbol.size);
    }
  }
  const ElfFile::Section* info = cubin.section(".nv.info");
  for (const Attribute& one :
       info == nullptr ? std::vector<Attribute>() : attributes(info->bytes)) {
    if (one.kind == kFrameSize || one.kind == kMinStackSize) {
      facts.stack_bytes = std::max<std::uint64_t>(facts.stack_bytes, one.value);
    } else if (one.kind == kRegisters && one.symbol < symbols.size() && one.value < 1024) {
      facts.registers[std::string(symbols[one.symbol].name)] = static_cast<int>(one.value);
    }
  }
  return facts;
}

Outcome cubin_outcome(const Job& job, Assembled made) {
  const auto cubin = ElfFile::parse(made.image);
  if (!cubin) {
    throw util::InfraError({"compiler role", "the compiler made no cubin", {}}, "E_COMPILE_OUTPUT");
  }
  if (const std::string why =
          refuse_cubin(*cubin, made.ptx, job.may_keep_state(), job.request.device_printf);
      !why.empty()) {
    return failed(Result::Status::forbidden, why + "\n" + made.log);
  }
  const CubinFacts facts = cubin_facts(*cubin);
  Outcome outcome;
  outcome.status = Result::Status::ok;
  outcome.static_bytes = facts.static_bytes;
  outcome.stack_bytes = facts.stack_bytes;
  for (const auto& [name, lowered] : made.kernels) {
    CompiledKernel kernel = kernel_facts(made.report, name, lowered);
    const auto registers = facts.registers.find(lowered);
    kernel.registers = registers != facts.registers.end() ? registers->second : kernel.registers;
    outcome.kernels.push_back(std::move(kernel));
  }
  outcome.log = std::move(made.log);
  outcome.image = std::move(made.image);
  outcome.ptx = std::move(made.ptx);
  return outcome;
}

}  // namespace sweep::compile

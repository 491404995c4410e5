#include "compile/ptxas_log.h"

#include "util/text.h"

#include <charconv>

namespace sweep::compile {
namespace {

// The number right before `unit` in `line`; -1: none.
int number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) {
    return -1;
  }
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') {
    --begin;
  }
  int value = -1;
  std::from_chars(line.data() + begin, line.data() + at, value);
  return value;
}

// The text between the first two quotes.
std::string quoted(std::string_view line) {
  const std::size_t begin = line.find('\'');
  const std::size_t end = begin == std::string_view::npos ? begin : line.find('\'', begin + 1);
  return end == std::string_view::npos ? std::string()
                                       : std::string(line.substr(begin + 1, end - begin - 1));
}

void read_resources(std::string_view line, PtxasFacts& facts) {
  if (line.find("bytes stack frame") != std::string_view::npos) {
    facts.stack_bytes = number_before(line, " bytes stack frame");
    facts.spill_bytes =
        number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
  }
  if (line.find("Used ") != std::string_view::npos) {
    facts.registers = number_before(line, " registers");
    const int shared = number_before(line, " bytes smem");
    facts.shared_bytes = shared < 0 ? 0 : shared;
  }
}

}  // namespace

PtxasReport read_ptxas_log(std::string_view log) {
  PtxasReport report;
  PtxasFacts* current = nullptr;
  for (const std::string_view line : util::split(log, '\n')) {
    // NVRTC puts "ptxas" before the line of the stack, ptxas itself blanks.
    const bool info =
        line.starts_with("ptxas info   ") || line.starts_with("ptxas         ") ||
        (line.starts_with("    ") && line.find(" bytes stack frame, ") != std::string_view::npos);
    if (!info) {
      if (!util::trim(line).empty()) {
        report.rest += line;
        report.rest += '\n';
      }
      continue;
    }
    if (line.find("Compiling entry function") != std::string_view::npos) {
      current = &report.entries[quoted(line)];
    } else if (line.find("Function properties for") != std::string_view::npos) {
      const std::string name(util::trim(line.substr(line.find("for") + 3)));
      const auto known = report.entries.find(name);
      current = known == report.entries.end() ? nullptr : &known->second;
    } else if (current != nullptr) {
      read_resources(line, *current);
    }
  }
  return report;
}

CompiledKernel kernel_facts(const PtxasReport& report,
                            const std::string& name,
                            const std::string& lowered) {
  CompiledKernel kernel;
  kernel.name = name;
  kernel.lowered = lowered;
  const auto facts = report.entries.find(lowered);
  if (facts != report.entries.end()) {
    kernel.registers = facts->second.registers;
    kernel.spill_bytes = facts->second.spill_bytes;
    kernel.shared_bytes = facts->second.shared_bytes;
    kernel.stack_bytes = facts->second.stack_bytes;
  }
  return kernel;
}

}  // namespace sweep::compile

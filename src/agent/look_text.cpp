// Texts of disassembly and sanitizer.
#include "agent/profile_text.h"
#include "util/excerpt.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace sweep::agent {
namespace {

using nlohmann::json;
using profile::SassClass;
using profile::Unavailable;

constexpr std::size_t kMostSassKernels = 8;
constexpr std::size_t kMostFindings = 6;  // of a checker
constexpr std::size_t kMostSassName = 160;
constexpr int kMostRegisters = 255;

std::int64_t sass_count(const profile::SassFunction& code, SassClass kind) {
  const auto found = code.mix.find(kind);
  return found == code.mix.end() ? 0 : found->second;
}

bool tensor_cores(const profile::SassFunction& code) {
  return sass_count(code, SassClass::wgmma) + sass_count(code, SassClass::tcgen05) +
             sass_count(code, SassClass::mma) >
         0;
}

std::string sass_bytes(int bytes) {
  return bytes < 0 ? "?" : util::human_bytes(static_cast<std::uint64_t>(bytes));
}

// "38 fp32, 12 integer": the most frequent first.
std::string mix_text(const profile::SassFunction& code) {
  std::vector<std::pair<SassClass, std::int64_t>> mix(code.mix.begin(), code.mix.end());
  std::ranges::stable_sort(mix, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [kind, number] : mix) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, profile::name(kind));
  }
  return text.empty() ? "no code in the listing" : text;
}

std::string notes_of(const profile::KernelSass& kernel) {
  std::string out;
  if (kernel.spill_bytes > 0 || sass_count(kernel.code, SassClass::local) > 0) {
    out += fmt::format("  hint: {} instructions reach local memory: {}\n",
                       sass_count(kernel.code, SassClass::local),
                       kernel.spill_bytes > 0
                           ? "registers are spilled; fewer live values or smaller tiles"
                           : "an array is indexed by a value unknown at compile time; unroll, or "
                             "use shared memory");
  }
  if (kernel.registers >= kMostRegisters) {
    out += "  hint: the kernel is at the limit of 255 registers\n";
  }
  if (!tensor_cores(kernel.code)) {
    out += "  note: no tensor core instructions\n";
  }
  if (sass_count(kernel.code, SassClass::fp64) > 0) {
    out += "  note: fp64 instructions; a literal without f (1.0) makes double arithmetic\n";
  }
  return out;
}

std::string sass_kernel_text(const profile::KernelSass& kernel) {
  return fmt::format(
             "kernel {}: {} instructions; {} registers, {} spilled, {} shared, {} stack\n  "
             "{}\n",
             util::narrowed(util::printable(kernel.name), kMostSassName),
             kernel.code.instructions,
             kernel.registers < 0 ? "?" : std::to_string(kernel.registers),
             sass_bytes(kernel.spill_bytes),
             sass_bytes(kernel.shared_bytes),
             sass_bytes(kernel.stack_bytes),
             mix_text(kernel.code)) +
         notes_of(kernel);
}

std::string finding_text(const profile::Finding& finding) {
  std::string text = fmt::format("  {}x {}", finding.count, finding.kind);
  if (!finding.kernel.empty()) {
    text += " in " + util::narrowed(finding.kernel, kMostSassName) + finding.offset;
  }
  if (!finding.thread.empty()) {
    text += ", thread " + finding.thread + " of block " + finding.block;
  }
  return util::printable(text + (finding.detail.empty() ? "" : ": " + finding.detail)) + "\n";
}

std::string checker_text(const profile::CheckerResult& checker) {
  if (const auto* missing = std::get_if<Unavailable>(&checker.log)) {
    return checker.checker + ": no result: " + util::printable(missing->text()) + "\n";
  }
  const auto& log = std::get<profile::SanitizerLog>(checker.log);
  if (log.findings.empty()) {
    std::string text = checker.checker + ": nothing found\n";
    for (const std::string& note : log.notes) {
      text += "  " + util::printable(note) + "\n";
    }
    return text;
  }
  std::string text = fmt::format("{}: {} kind{} of finding\n",
                                 checker.checker,
                                 log.findings.size(),
                                 log.findings.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < std::min(kMostFindings, log.findings.size()); ++i) {
    text += finding_text(log.findings[i]);
  }
  if (log.findings.size() > kMostFindings) {
    text += fmt::format("  and {} further kinds\n", log.findings.size() - kMostFindings);
  }
  return text;
}

}  // namespace

std::string sass_text(const profile::SassReport& report) {
  std::string out = "compiled for " + report.arch + "\n";
  for (std::size_t i = 0; i < std::min(kMostSassKernels, report.kernels.size()); ++i) {
    out += sass_kernel_text(report.kernels[i]);
  }
  if (report.kernels.size() > kMostSassKernels) {
    out += fmt::format("and {} further kernels\n", report.kernels.size() - kMostSassKernels);
  }
  for (std::size_t i = 0; i < std::min(kMostSassKernels, report.others.size()); ++i) {
    out += fmt::format("function {}: {} instructions, not inlined\n",
                       util::narrowed(util::printable(report.others[i].symbol), kMostSassName),
                       report.others[i].instructions);
  }
  if (!report.complete) {
    out += "the listing was too long: counts are of a part\n";
  }
  return out + "Counts are of instructions in the code, not of executions.\n";
}

json sass_facts(const profile::SassReport& report) {
  int registers = -1;
  bool spills = false, tensor = false;
  json mix = json::object();
  for (const profile::KernelSass& kernel : report.kernels) {
    registers = std::max(registers, kernel.registers);
    spills = spills || kernel.spill_bytes > 0;
    tensor = tensor || tensor_cores(kernel.code);
    for (const auto& [kind, number] : kernel.code.mix) {
      const std::string name(profile::name(kind));
      mix[name] = mix.value(name, std::int64_t{0}) + number;
    }
  }
  return {{"max_registers", registers < 0 ? json() : json(registers)},
          {"has_register_spills", spills},
          {"has_tensor_core_ops", tensor},
          {"instruction_mix", std::move(mix)}};
}

std::string sanitizer_text(const profile::SanitizerReport& report) {
  std::string out = "shape " + report.shape + "\n";
  for (const profile::CheckerResult& checker : report.checkers) {
    out += checker_text(checker);
  }
  return out;
}

bool nothing_found(const profile::SanitizerReport& report) {
  bool worked = false;
  for (const profile::CheckerResult& checker : report.checkers) {
    const auto* log = std::get_if<profile::SanitizerLog>(&checker.log);
    if (log != nullptr && !log->findings.empty()) {
      return false;
    }
    worked = worked || log != nullptr;
  }
  return worked;
}

}  // namespace sweep::agent

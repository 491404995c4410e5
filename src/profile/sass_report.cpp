#include "profile/sass_report.h"

#include <algorithm>

namespace sweep::profile {

SassReport join(const std::vector<compile::CompiledKernel>& kernels, SassListing listing) {
  SassReport report;
  report.complete = listing.complete;
  for (const compile::CompiledKernel& kernel : kernels) {
    KernelSass made;
    made.name = kernel.name;
    made.registers = kernel.registers;
    made.spill_bytes = kernel.spill_bytes;
    made.shared_bytes = kernel.shared_bytes;
    made.stack_bytes = kernel.stack_bytes;
    made.code.symbol = kernel.lowered;
    const auto found = std::ranges::find(listing.functions, kernel.lowered, &SassFunction::symbol);
    if (found != listing.functions.end()) {
      made.code = std::move(*found);
      listing.functions.erase(found);
    }
    report.kernels.push_back(std::move(made));
  }
  report.others = std::move(listing.functions);
  return report;
}

Result<SassReport> sass_report(const Subject& subject, const DisassembleOptions& options) {
  if (subject.uncompiled) {
    return *subject.uncompiled;
  }
  Result<Disassembly> made = disassemble(subject.compiled.image.bytes, options);
  if (auto* missing = std::get_if<Unavailable>(&made)) {
    return std::move(*missing);
  }
  auto& listing = std::get<Disassembly>(made);
  SassReport report = join(subject.compiled.kernels, parse_sass(listing.text));
  report.arch = subject.arch;
  report.tool = listing.tool;
  report.complete = report.complete && listing.complete;
  report.text = std::move(listing.text);
  return report;
}

}  // namespace sweep::profile

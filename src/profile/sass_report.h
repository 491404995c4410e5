#pragma once

#include "profile/disassemble.h"
#include "profile/report.h"
#include "profile/subject.h"

namespace sweep::profile {

// The instruction mix of the subject's kernels. Unavailable where it has no image or nothing here
// disassembles.
[[nodiscard]] Result<SassReport> sass_report(const Subject& subject,
                                             const DisassembleOptions& options);

// Joins a listing with what the compiler says of each kernel. A kernel without code in the listing
// has no instructions.
[[nodiscard]] SassReport join(const std::vector<compile::CompiledKernel>& kernels,
                              SassListing listing);

}  // namespace sweep::profile

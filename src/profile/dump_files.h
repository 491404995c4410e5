#pragma once

#include "profile/dump.h"
#include "profile/report.h"
#include "profile/subject.h"

#include <string>
#include <vector>

namespace sweep::profile {

// Source, plan of each visible shape, inputs, PTX, cubin and log of the compilation; what cannot be
// written is added to `left_out` with its reason.
void write_subject(DumpFolder& dump,
                   const evaluate::EvaluationRequest& request,
                   const evaluate::Evaluation& evaluation,
                   const Result<Subject>& made,
                   std::vector<std::string>& left_out);

// kernel.sass.
void write_sass(DumpFolder& dump,
                const Result<SassReport>& sass,
                std::vector<std::string>& left_out);

// sanitizer_CHECKER.txt of each checker that ran; profile.ncu-rep and ncu.txt.
void write_tools(DumpFolder& dump, const Report& report);

// result.json: the archive of the evaluation with member "tools".
void write_result(DumpFolder& dump, const evaluate::Evaluation& evaluation, const Report& report);

}  // namespace sweep::profile

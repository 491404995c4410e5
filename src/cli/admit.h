#pragma once

#include "admit/admit.h"
#include "cli/options.h"
#include "cli/style.h"
#include "problem/problem.h"

#include <filesystem>
#include <string>
#include <vector>

namespace sweep::cli {

// Arguments of `sweep problems admit`.
struct AdmitRequest {
  std::vector<std::filesystem::path> folders;
  std::string device = "cpu";
  std::vector<std::string> only;  // rules by name or number
  int draws = evaluate::admission::Options{}.draws;
  double draw_seconds = evaluate::admission::Options{}.draw_seconds;
  GlobalOptions global;
};

// Examines each problem, prints a table of rules and stores the result beside the problem unless
// only some rules were asked for. Exit code kDone if all are admitted (with --only: if those rules
// hold), else kNotCorrect. Throws util::Error for unknown rules and devices and where the machine
// fails.
int admit_problems(const AdmitRequest& request);

// Where a problem stands, by the record in its folder and the files as they are now.
[[nodiscard]] admit::Standing standing_of(const problem::Problem& problem);

// Rows of one problem: verdict, each rule with its worst case, failures and what to change. Lines
// are wrapped to `columns` (0: not at all).
[[nodiscard]] std::string admission_text(const admit::Admission& admission,
                                         const std::string& title,
                                         const Style& style,
                                         std::size_t columns);

}  // namespace sweep::cli

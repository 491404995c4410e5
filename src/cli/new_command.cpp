#include "cli/command.h"
#include "cli/installation.h"
#include "cli/options.h"
#include "cli/problem_text.h"
#include "evaluate/preparation.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace sweep::cli {

// The starter is the seed: it compiles, passes and is the 1.0x to beat. The comment above it lists
// what a plan may name.
int run_new(const std::vector<std::string>& arguments) {
  std::string id;
  CLI::App app{"Prints a starter kernel for a problem: it compiles, passes and lists the tensors.",
               "sweep new"};
  app.add_option(
         "PROBLEM", id, "problem id, e.g. level1/3 (sweep problems list), or the folder of one")
      ->required();
  parse(app, arguments);
  const evaluate::Services services = evaluation_services();
  const problem::Problem problem = evaluate::find_problem(services, id);
  const std::string seed = evaluate::find_seed(services, problem).text;
  std::cout << signature_comment(problem);
  if (seed.find("//@ problem") == std::string::npos) {
    std::cout << "//@ problem " << problem.id << '\n';
  }
  std::cout << seed;
  return kDone;
}

}  // namespace sweep::cli

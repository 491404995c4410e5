#include "cli/command.h"
#include "cli/roles.h"

#include <string>
#include <vector>

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = sweep::cli::run_role(arguments)) {
    return *code;
  }
  return sweep::cli::run(argc > 0 ? argv[0] : "sweep", arguments);
}

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sweep::compile {

struct ToolRun {
  std::string text;  // standard output and error as they came, at most 256 KiB
  bool timed_out = false;
  int code = -1;   // exit code when signal == 0
  int signal = 0;  // that ended it

  [[nodiscard]] bool ok() const { return code == 0 && signal == 0 && !timed_out; }
};

// Runs a compiler from inside the sandboxed role, where sockets and so util::run_program are
// denied. `arguments` without argv[0]; the current folder and the role's own limits apply. At most
// `seconds`, then it is killed; what it started itself dies with the role. Throws util::InfraError
// when it cannot be started.
[[nodiscard]] ToolRun run_tool(const std::filesystem::path& program,
                               const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment,
                               double seconds);

}  // namespace sweep::compile

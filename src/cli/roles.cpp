#include "cli/roles.h"

#include "compile/compiler.h"
#include "endpoint/builtin.h"
#include "evaluate/judge.h"
#include "evaluate/runner.h"
#include "profile/replay.h"
#include "queue/devices.h"
#include "queue/worker.h"
#include "report/server.h"
#include "util/error.h"
#include "wire/channel.h"

#include <array>
#include <csignal>
#include <iostream>
#include <string_view>

namespace sweep::cli {

namespace {

using Arguments = std::vector<std::string>;

struct Role {
  std::string_view word;
  int (*run)(const Arguments& rest);
};

constexpr std::array kRoles = {
    Role{"__worker", [](const Arguments&) { return queue::worker_main(); }},
    Role{"__compile",
         [](const Arguments&) { return compile::compile_role_main(wire::Channel::kRoleFd); }},
    Role{"__judge", [](const Arguments&) { return evaluate::judge_main(wire::Channel::kRoleFd); }},
    Role{"__run", [](const Arguments&) { return evaluate::runner_main(wire::Channel::kRoleFd); }},
    Role{"__replay", [](const Arguments& rest) { return profile::replay_main(rest); }},
    Role{"__web", [](const Arguments& rest) { return report::web_main(rest); }},
    Role{"__endpoint",
         [](const Arguments& rest) {
           return rest.empty() ? 2 : endpoint::serve_scripts(rest.front());
         }},
    Role{"__devices", [](const Arguments&) { return queue::devices_main(); }},
};

}  // namespace

std::optional<int> run_role(const Arguments& arguments) {
  if (arguments.empty() || !arguments.front().starts_with("__")) {
    return std::nullopt;
  }
  // A peer that is gone, or a file above its limit, must be an error of the write, not a silent
  // death.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (const Role& role : kRoles) {
    if (role.word != arguments.front()) {
      continue;
    }
    try {
      return role.run(Arguments(arguments.begin() + 1, arguments.end()));
    } catch (const std::exception& error) {
      std::cerr << arguments.front() << ": " << error.what() << '\n';
      return 3;
    }
  }
  return std::nullopt;
}

}  // namespace sweep::cli

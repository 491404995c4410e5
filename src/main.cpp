#include "compile/compiler.h"
#include "evaluate/judge.h"
#include "evaluate/runner.h"
#include "wire/channel.h"

#include <array>
#include <string_view>

namespace {

struct Role {
  std::string_view word;
  int (*body)(int fd);
};

// Hidden subcommands: other roles of this program, started with their channel as a descriptor.
constexpr std::array kRoles = {
    Role{"__compile", &sweep::compile::compile_role_main},
    Role{"__judge", &sweep::evaluate::judge_main},
    Role{"__run", &sweep::evaluate::runner_main},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  for (const Role& role : kRoles) {
    if (role.word == word) {
      return role.body(sweep::wire::Channel::kRoleFd);
    }
  }
  return 0;
}

// Starts a program on a machine that lacks something, for end-to-end tests:
//   without landlock PROGRAM ARGUMENTS...              as on a kernel without Landlock
//   without space FOLDER BYTES PROGRAM ARGUMENTS...    FOLDER is a disk of BYTES bytes
//   without writing FOLDER PROGRAM ARGUMENTS...        FOLDER is mounted read-only
// Ends with 77 when this machine does not let it (no privilege to mount). The lack goes with the
// started program; nothing outside it changes.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include <sched.h>
#include <seccomp.h>
#include <sys/mount.h>
#include <unistd.h>

namespace {

constexpr int kCannot = 77;
constexpr int kWrongUse = 2;

int fail(const char* call) {
  std::fprintf(stderr, "without: %s: %s\n", call, std::strerror(errno));
  return kCannot;
}

// A filter is inherited by every program that is started from here.
int deny_landlock() {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) {
    return fail("seccomp_init");
  }
  constexpr int kCreateRuleset = 444;  // landlock_create_ruleset on every architecture
  const bool loaded = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), kCreateRuleset, 0) == 0 &&
                      seccomp_load(filter) == 0;
  seccomp_release(filter);
  return loaded ? 0 : fail("seccomp_load");
}

int own_mounts() {
  return ::unshare(CLONE_NEWNS) == 0 &&
                 ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0
             ? 0
             : fail("unshare");
}

int small_disk(const char* folder, std::string_view bytes) {
  if (const int code = own_mounts(); code != 0) {
    return code;
  }
  const std::string options = "size=" + std::string(bytes);
  return ::mount("none", folder, "tmpfs", 0, options.c_str()) == 0 ? 0 : fail("mount");
}

int read_only(const char* folder) {
  if (const int code = own_mounts(); code != 0) {
    return code;
  }
  return ::mount(folder, folder, nullptr, MS_BIND, nullptr) == 0 &&
                 ::mount(folder, folder, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0
             ? 0
             : fail("mount");
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = count > 1 ? arguments[1] : "";
  int program = 0;
  int code = kWrongUse;
  if (what == "landlock" && count > 2) {
    program = 2;
    code = deny_landlock();
  } else if (what == "space" && count > 4) {
    program = 4;
    code = small_disk(arguments[2], arguments[3]);
  } else if (what == "writing" && count > 3) {
    program = 3;
    code = read_only(arguments[2]);
  }
  if (code != 0) {
    return code;
  }
  ::execv(arguments[program], arguments + program);
  return fail("execv");
}

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::util {

// What a sandboxed child may touch. Everything not named here is refused by Landlock; a path that
// does not exist is left out. Folders count with all that is below them. Policies add up: `policy
// += nvidia_driver();`.
struct SandboxPolicy {
  std::vector<std::filesystem::path> read;          // open for reading, list
  std::vector<std::filesystem::path> read_execute;  // as read, and may be executed
  std::vector<std::filesystem::path> read_write;    // as read, and write, make, rename and remove
  std::vector<std::filesystem::path> devices;       // read, write and ioctl, e.g. /dev/nvidia0

  // false: after the start no other program can be executed. The child itself is started through a
  // descriptor; what is left of that opening is closed by deny_exec().
  bool allow_exec = false;

  // true: unix stream sockets may be made, bound and listened on, which libcuda does to start.
  // Connecting stays refused, and abstract names belong to the child's own network namespace.
  bool listen_unix = false;

  // true: the child may start sandboxed children of its own, from the program that it was started
  // from and no other: namespaces and socket pairs can be made, and /proc can be read and written,
  // which the identity maps of a new user namespace need. Its children get every protection but a
  // /proc of their own, since nothing can be mounted under Landlock; they see the child's. Started
  // by root where other users may make no user namespaces, the child stays root, and its process
  // limit is then not mandatory.
  bool start_sandboxed = false;

  // false: no pid namespace. libcuda looks itself up in /proc by its number, which is wrong in a
  // pid namespace that has no /proc of its own (verified with driver 580: cuInit gives error 304).
  bool own_pids = true;

  // Threads and processes together, the first one counted.
  std::uint32_t max_processes = 64;

  // Start even when mandatory protections are missing; Process::protections() then says which.
  bool allow_unsandboxed = false;

  // Paths of both; max_processes the larger; what either allows.
  SandboxPolicy& operator+=(const SandboxPolicy& other);
};

// What a dynamically linked program needs to start and run: libraries, ld.so.cache, locale and time
// zone data, /dev/null, /dev/zero, /dev/urandom. Nothing below /etc that tells about the users.
[[nodiscard]] SandboxPolicy system_libraries();

// Programs and their data below /usr, /bin and /opt, for g++, as, ld and ptxas; implies
// system_libraries() and allow_exec.
[[nodiscard]] SandboxPolicy system_programs();

// What libcuda needs besides system_libraries(): /dev/nvidia*, /proc, /sys (read only) and driver
// libraries.
[[nodiscard]] SandboxPolicy nvidia_driver();

// One protection of a child, as wished and as found.
struct Protection {
  std::string name;  // "landlock", "seccomp", "network namespace", "process limit", ... (see
                     // protection_names())
  bool mandatory = false;
  bool active = false;
  std::string detail;  // why it is missing, or which kind it is ("ABI 7", "uid 1500012345")
};

// Every protection's name, in the order of reports. The mandatory ones are landlock, seccomp,
// network namespace and process limit.
[[nodiscard]] std::vector<std::string_view> protection_names();

// Starts children with everything on and reports what held, including a real attempt to start more
// processes than allowed. Takes some milliseconds. For doctor, and stored with results.
[[nodiscard]] std::vector<Protection> probe_sandbox();

// True when all mandatory ones are active.
[[nodiscard]] bool sealed(const std::vector<Protection>& protections);

// For a role's own start: from now on this process can execute nothing and reach no other process
// by its number: no signals, limits or priorities (seccomp, cannot be undone). InfraError
// "E_SANDBOX" when the kernel refuses.
void deny_exec();

}  // namespace sweep::util

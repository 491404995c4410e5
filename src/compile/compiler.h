#pragma once

#include "compile/compile.h"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sweep::compile {

struct Options {
  // Folder for compiled images and the precompiled header of the cpu device, made 0700 on first
  // use. Empty: $SWEEP_CACHE_DIR, else $XDG_CACHE_HOME/sweep, else ~/.cache/sweep.
  std::filesystem::path cache;
  bool use_cache = true;         // false: every call compiles; the precompiled header is still kept
  double deadline_seconds = 60;  // one compilation, from start of the role to its reply
  // Compiles although Landlock, the network namespace or the process limit cannot be had; the
  // results say so.
  bool allow_unsandboxed = false;
  // The `sweep` program to start as compiler role; empty: this process's own program.
  std::filesystem::path program;
};

// Which compilers this machine has; an empty version means "not found" and `reason` says what to
// install.
struct Toolchain {
  std::string gxx;  // "g++ (Debian 12.2.0-14) 12.2.0"
  std::string gxx_reason;
  std::string nvrtc;  // "NVRTC 13.0"
  std::string nvrtc_reason;
  std::string ptxas;  // needed for .ptx submissions only
  std::string ptxas_reason;
  std::string nvcc;  // needed where it is asked for only; needs g++ and ptxas as well
  std::string nvcc_reason;
};

// Compiles submissions, each in a sandboxed process of its own (the compiler role), behind a disk
// cache keyed by source, constants, flags, compiler version and headers. Entries are checked
// against their hash when read. Safe to share a cache folder between processes. One object serves
// one thread.
class Compiler {
 public:
  explicit Compiler(Options options = {});
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;
  Compiler(Compiler&&) noexcept;
  Compiler& operator=(Compiler&&) noexcept;
  ~Compiler();

  // Never throws for what is wrong with the source. Throws util::UsageError E_COMPILE_TOOLCHAIN
  // (compiler missing: says what to install), util::InfraError E_COMPILE_UNSANDBOXED (protection
  // missing) or E_COMPILE_ROLE (the role broke its protocol).
  [[nodiscard]] Result compile(const Request& request);

  // The harness's own texts (inputs.cu, check.cu): same process, flags and cache, but none of the
  // refusals that exist to keep a submission honest (module variables and printf are allowed).
  [[nodiscard]] Result compile_trusted(const Request& request);

  [[nodiscard]] const Toolchain& toolchain() const;

  // One line for each protection of the compiler role that is not in force on this machine; empty =
  // all hold.
  [[nodiscard]] std::vector<std::string> missing_protections() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Body of `sweep __compile`: reads one request from the connected socket `fd`, compiles it,
// replies, returns an exit code. Never throws.
[[nodiscard]] int compile_role_main(int fd);

}  // namespace sweep::compile

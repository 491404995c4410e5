#include "compile/compiler.h"

#include "compile/cache.h"
#include "compile/gxx.h"
#include "compile/policy.h"
#include "compile/protocol.h"
#include "compile/toolchain.h"
#include "compile/wrapper.h"
#include "embedded_simt_headers.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"
#include "util/sha256.h"
#include "util/work_folder.h"
#include "wire/channel.h"

#ifdef SWEEP_HAVE_CUDA
#include "embedded_device_headers.h"
#endif

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <optional>

#include <sys/stat.h>

namespace sweep::compile {
namespace {

using Clock = std::chrono::steady_clock;

// Raised whenever the meaning of a cached outcome changes.
constexpr std::string_view kCacheVersion = "2";

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Length before each part: no two lists of parts give the same text.
void add(util::Sha256& hash, std::string_view part) {
  hash.update(std::to_string(part.size()) + ":");
  hash.update(part);
}

std::string headers_hash() {
  util::Sha256 hash;
  for (const auto& file : embedded::simt_headers()) {
    add(hash, file.name);
    add(hash, file.text);
  }
#ifdef SWEEP_HAVE_CUDA
  for (const auto& file : embedded::device_headers()) {
    add(hash, file.name);
    add(hash, file.text);
  }
#endif
  return util::to_hex(hash.finish());
}

// What decides how the request is compiled besides its text.
std::string compiler_name(const Request& r, const Toolchain& names) {
  if (r.target.kind == device::Kind::cpu) {
    return names.gxx + processor_identity();
  }
  if (r.language == submission::Language::ptx) {
    return names.ptxas;
  }
  return r.nvcc ? names.nvcc + names.ptxas + names.gxx : names.nvrtc;
}

std::string key_of(const Request& r,
                   bool trusted,
                   const Toolchain& names,
                   const std::string& headers) {
  const bool cpu = r.target.kind == device::Kind::cpu;
  util::Sha256 hash;
  add(hash, kCacheVersion);
  add(hash, headers);
  add(hash, compiler_name(r, names));
  for (const std::string& flag : cpu ? gxx_flags(r.flags.fast_math) : std::vector<std::string>()) {
    add(hash, flag);
  }
  add(hash, cpu ? "cpu" : r.target.arch);
  add(hash, r.language == submission::Language::ptx ? "ptx" : "cuda");
  add(hash, safe_file_name(r.file));
  add(hash, r.source);
  for (const std::string& kernel : r.kernels) {
    add(hash, "kernel");
    add(hash, kernel);
  }
  for (const auto& [name, value] : r.defines) {
    add(hash, "define");
    add(hash, name);
    add(hash, std::to_string(value));
  }
  add(hash,
      std::to_string(r.flags.maxrregcount) + (r.flags.fast_math ? "f" : "-") +
          (r.device_printf ? "p" : "-") + (trusted ? "t" : "-") + (r.contract ? "c" : "-") +
          (r.may_keep_state ? "s" : ""));
  return util::to_hex(hash.finish());
}

[[noreturn]] void missing(const std::string& reason) {
  throw util::UsageError({"compile", reason, {}}, "E_COMPILE_TOOLCHAIN");
}

// The compiler is a library of the role (NVRTC): what breaks it breaks the role, and is the text's
// doing. Empty: the role ended for another reason.
std::optional<Outcome> broken(const util::ExitStatus& status) {
  constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGXFSZ};
  if (status.signal == SIGKILL || status.code == kRoleOutOfMemory) {
    Outcome outcome = failed(Result::Status::out_of_memory, "the compiler ran out of memory\n");
    outcome.killed = status.signal == SIGKILL;
    return outcome;
  }
  if (std::find(kCrashes.begin(), kCrashes.end(), status.signal) == kCrashes.end()) {
    return std::nullopt;
  }
  return failed(Result::Status::compile_error, "the compiler was " + status.text() + "\n");
}

}  // namespace

struct Compiler::State {
  explicit State(Options given) : options(std::move(given)), cache(Cache(cache_folder())) {}

  [[nodiscard]] std::filesystem::path cache_folder() const {
    return options.cache.empty() ? default_cache_folder() : options.cache;
  }

  const ToolPaths& tools() {
    if (!tool_paths) {
      tool_paths = find_tools();
    }
    return *tool_paths;
  }

  const util::Self& self() {
    if (!program) {
      program = options.program.empty() ? util::Self::open() : util::Self::open(options.program);
    }
    return *program;
  }

  void require(const Request& request);
  void require_nvcc();
  Outcome run(const Job& job);
  Outcome run_once(Job job);
  Outcome exchange(const Job& job, util::Process& process, wire::Channel& channel);
  const std::filesystem::path& headers();
  std::string precompiled();
  Result compile(const Request& request, bool trusted);

  Options options;
  Cache cache;
  std::optional<ToolPaths> tool_paths;
  std::optional<util::Self> program;
  std::optional<util::TempDir> header_folder;
  std::string header_hash = headers_hash();
};

void Compiler::State::require_nvcc() {
  const Toolchain& names = tools().names;
  for (const auto& [path, reason] : {std::pair(tools().nvcc, names.nvcc_reason),
                                     std::pair(tools().ptxas, names.ptxas_reason),
                                     std::pair(tools().gxx, names.gxx_reason)}) {
    if (path.empty()) {
      missing(reason);
    }
  }
}

void Compiler::State::require(const Request& request) {
  const Toolchain& names = tools().names;
  if (request.target.kind == device::Kind::cpu) {
    if (request.language == submission::Language::cuda && tools().gxx.empty()) {
      missing(names.gxx_reason);
    }
  } else if (request.language == submission::Language::ptx) {
    if (tools().ptxas.empty()) {
      missing(names.ptxas_reason);
    }
  } else if (request.nvcc) {
    require_nvcc();
  } else if (tools().nvrtc.empty()) {
    missing(names.nvrtc_reason);
  }
}

Outcome Compiler::State::exchange(const Job& job, util::Process& process, wire::Channel& channel) {
  const util::Fd source = util::make_memfd("sweep-source");
  util::write_all(source.get(), job.request.source, "compiler role");
  const int fd = source.get();
  try {
    // The reply may come a little after the compiler's own deadline.
    const wire::Message reply = channel.ask(to_json(job), job.seconds + 2, std::span(&fd, 1), 1);
    if (reply.body.contains("error")) {
      throw util::InfraError({"compiler role", wire::field<std::string>(reply.body, "error"), {}},
                             wire::field<std::string>(reply.body, "code"));
    }
    if (reply.fds.size() != 1) {
      throw wire::WireError({"compiler role", "no data came", {}}, "E_WIRE_FDS");
    }
    return outcome_from_json(reply.body, read_memory(reply.fds[0].get(), kMaxBlob));
  } catch (const wire::WireError& error) {
    process.kill_group();
    const util::ExitStatus status = process.wait();
    if (error.code() == "E_WIRE_TIMEOUT" || status.timed_out || status.signal == SIGXCPU) {
      return failed(Result::Status::timeout, "the compiler ran past its deadline\n");
    }
    const auto crash = broken(status);
    if (error.code() == "E_WIRE_CLOSED" && crash) {
      return *crash;
    }
    throw util::InfraError(
        {"compiler role", std::string(error.what()) + " (" + status.text() + ")", {}},
        "E_COMPILE_ROLE");
  }
}

// Who killed a compiler is not told. What a text does to it comes again each time; kills from
// outside, even several while the machine lacks memory, do not.
Outcome Compiler::State::run(const Job& job) {
  constexpr int kRestarts = 3;
  Outcome made = run_once(job);
  for (int i = 0; i < kRestarts && made.killed; ++i) {
    made = run_once(job);
  }
  return made;
}

Outcome Compiler::State::run_once(Job job) {
  const util::WorkFolder work("sweep-compile", "/tmp");
  job.work = work.path();
  job.seconds = options.deadline_seconds;
  auto [ours, theirs] = wire::Channel::make_pair();
  util::SpawnSpec spec;
  spec.argv = {"sweep", "__compile"};
  spec.env = util::basic_environment(work.path());
  spec.fds = {{theirs.get(), wire::Channel::kRoleFd}};
  spec.work_folder = work.path();
  spec.limits = role_limits(job);
  spec.deadline = options.deadline_seconds + 3;
  spec.sandbox = role_policy(job);
  spec.sandbox->allow_unsandboxed = options.allow_unsandboxed;
  try {
    util::Process process = util::Process::start_self(self(), spec);
    theirs.reset();
    wire::Channel channel(std::move(ours), "compiler role");
    return exchange(job, process, channel);
  } catch (const util::InfraError& error) {
    if (error.code() == "E_SANDBOX") {
      throw util::InfraError(
          {"compile", error.message().what, "run with --allow-unsandboxed to compile without"},
          "E_COMPILE_UNSANDBOXED");
    }
    throw;
  }
}

// Bytes of the precompiled header: from the cache folder when they match their hash, else made now.
std::string Compiler::State::precompiled() {
  util::Sha256 hash;
  add(hash, header_hash);
  add(hash, tools().names.gxx);
  add(hash, processor_identity());
  for (const std::string& flag : gxx_flags(false)) {
    add(hash, flag);
  }
  const std::string key = util::to_hex(hash.finish());
  if (const auto found = cache.find(key)) {
    return blobs_of(*found);
  }
  Job job;
  job.precompile = true;
  job.gxx = tools().gxx;
  job.headers = header_folder->path();
  const Outcome made = run(job);
  if (made.status != Result::Status::ok) {
    throw util::InfraError(
        {"compile", "the cpu device's header could not be precompiled: " + made.log, {}},
        "E_COMPILE_HEADER");
  }
  cache.store(key, made);
  return blobs_of(made);
}

// A folder readable by the role under any user: include/ and pch.h with its precompiled form.
const std::filesystem::path& Compiler::State::headers() {
  if (!header_folder) {
    header_folder.emplace("sweep-headers", "/tmp");
    const auto& folder = header_folder->path();
    for (const auto& file : embedded::simt_headers()) {
      const auto path = util::join_inside(folder / "include", file.name);
      util::make_folders(path.parent_path());
      util::write_file_atomic(path, file.text, 0644);
    }
    util::write_file_atomic(folder / "pch.h", "#include <sweep/simt.h>\n", 0644);
    if (chmod(folder.c_str(), 0755) != 0) {
      util::throw_errno("chmod", folder.native());
    }
    try {
      util::write_file_atomic(folder / "pch.h.gch", precompiled(), 0644);
    } catch (...) {
      header_folder.reset();
      throw;
    }
  }
  return header_folder->path();
}

Result Compiler::State::compile(const Request& request, bool trusted) {
  const auto start = Clock::now();
  if (request.source.size() > kMaxSource) {
    throw util::UsageError({request.file, "the text is larger than 1 MiB", "make it shorter"},
                           "E_FILE_SIZE");
  }
  require(request);
  Result result;
  result.key = key_of(request, trusted, tools().names, header_hash);
  std::optional<Outcome> outcome;
  if (options.use_cache) {
    outcome = cache.find(result.key);
  }
  result.cached = outcome.has_value();
  if (!outcome) {
    Job job;
    job.request = request;
    job.trusted = trusted;
    job.gxx = tools().gxx;
    job.nvrtc = tools().nvrtc;
    job.cuda_include = tools().cuda_include;
    job.ptxas = tools().ptxas;
    job.nvcc = tools().nvcc;
    if (request.target.kind == device::Kind::cpu &&
        request.language == submission::Language::cuda) {
      job.headers = headers();
    }
    outcome = run(job);
    const bool lasting = outcome->status != Result::Status::timeout &&
                         outcome->status != Result::Status::out_of_memory;
    if (options.use_cache && lasting) {
      cache.store(result.key, *outcome);
    }
  }
  result.status = outcome->status;
  result.log = std::move(outcome->log);
  result.ptx = std::move(outcome->ptx);
  result.static_bytes = outcome->static_bytes;
  result.stack_bytes = outcome->stack_bytes;
  result.image.bytes = std::move(outcome->image);
  result.kernels = std::move(outcome->kernels);
  for (CompiledKernel& kernel : result.kernels) {
    if (auto named = submission::parameters_of(kernel.lowered)) {
      kernel.parameters = std::move(named);
    }
    result.image.kernels.push_back({kernel.name, kernel.lowered});
  }
  result.seconds = since(start);
  return result;
}

Compiler::Compiler(Options options) : state_(std::make_unique<State>(std::move(options))) {}

Compiler::Compiler(Compiler&&) noexcept = default;
Compiler& Compiler::operator=(Compiler&&) noexcept = default;
Compiler::~Compiler() = default;

Result Compiler::compile(const Request& request) {
  return state_->compile(request, false);
}

Result Compiler::compile_trusted(const Request& request) {
  return state_->compile(request, true);
}

const Toolchain& Compiler::toolchain() const {
  return state_->tools().names;
}

std::vector<std::string> Compiler::missing_protections() const {
  std::vector<std::string> lines;
  for (const util::Protection& protection : util::probe_sandbox()) {
    if (protection.mandatory && !protection.active) {
      lines.push_back(protection.name + ": " + protection.detail);
    }
  }
  return lines;
}

}  // namespace sweep::compile

#include "compile/gxx.h"

#include "compile/elf.h"
#include "compile/job.h"
#include "compile/log.h"
#include "compile/refuse.h"
#include "compile/tool.h"
#include "compile/wrapper.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"
#include "util/text.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <set>

namespace sweep::compile {
namespace {

constexpr std::size_t kMaxImage = std::size_t{64} << 20;
constexpr std::size_t kMaxHeader = std::size_t{256} << 20;

using Clock = std::chrono::steady_clock;

struct Gxx {
  const Job& job;
  Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(job.seconds));

  // Runs g++ with `arguments` in the work folder.
  [[nodiscard]] ToolRun run(const std::vector<std::string>& arguments) const {
    const double left = std::chrono::duration<double>(end - Clock::now()).count();
    return run_tool(job.gxx, arguments, util::basic_environment(job.work), std::max(0.1, left));
  }
};

// What g++ says when a program that it started was killed.
constexpr std::string_view kKilled = "Killed signal terminated program";

bool ran_out_of_memory(const std::string& log) {
  return log.find("virtual memory exhausted") != std::string::npos ||
         log.find("out of memory allocating") != std::string::npos ||
         log.find("Cannot allocate memory") != std::string::npos ||
         log.find("memory exhausted") != std::string::npos;
}

// Folders of our headers that a log names. A precompiled header from the cache names the one of the
// process that made it, which is gone.
std::vector<std::filesystem::path> header_folders(const std::string& log) {
  constexpr std::string_view kBegin = "/tmp/sweep-headers.";
  constexpr std::size_t kRandom = 6;  // mkdtemp's
  std::set<std::filesystem::path> found;
  for (std::size_t at = log.find(kBegin); at != std::string::npos; at = log.find(kBegin, at + 1)) {
    const std::size_t end = at + kBegin.size() + kRandom;
    if (end < log.size() && log[end] == '/' && log.find('/', at + kBegin.size()) == end) {
      found.insert(log.substr(at, end - at));
    }
  }
  return {found.begin(), found.end()};
}

std::string shown(const Job& job, const std::string& raw) {
  std::vector<std::filesystem::path> ours = {job.work, job.headers / "include", job.headers};
  for (const std::filesystem::path& folder : header_folders(raw)) {
    ours.push_back(folder / "include");
    ours.push_back(folder);
  }
  const std::vector<std::filesystem::path> known = {
      "/usr/include", "/usr/lib", "/usr/bin", "/usr/local/include"};
  return without_wrapper(clean_log(raw, ours, known));
}

Outcome outcome_of_failure(const Job& job, const ToolRun& run) {
  const bool too_long = run.text.find("CPU time limit exceeded") != std::string::npos;
  if (run.timed_out || too_long || run.signal == SIGXCPU) {
    return failed(Result::Status::timeout, "the compiler ran past its deadline\n");
  }
  const bool killed = run.signal == SIGKILL || run.text.find(kKilled) != std::string::npos;
  if (killed || ran_out_of_memory(run.text)) {
    Outcome outcome = failed(Result::Status::out_of_memory, "the compiler ran out of memory\n");
    outcome.killed = killed;
    return outcome;
  }
  const std::string feature = unsupported_feature(run.text);
  if (!feature.empty()) {
    return failed(Result::Status::unsupported,
                  "unsupported on device cpu: " + feature + "\n" + shown(job, run.text));
  }
  return failed(Result::Status::compile_error, shown(job, run.text));
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

std::vector<std::string> compile_arguments(const Job& job) {
  std::vector<std::string> arguments = gxx_flags(job.request.flags.fast_math);
  arguments.insert(arguments.end(),
                   {"-I",
                    (job.headers / "include").native(),
                    "-include",
                    (job.headers / "pch.h").native(),
                    "-I",
                    (job.headers / "include/sweep/cuda").native(),
                    "-c",
                    "unit.cpp",
                    "-o",
                    "unit.o"});
  return arguments;
}

// Links unit.o into kernel.so, with the dynamic shared memory when the unit asks for some.
ToolRun link(const Gxx& gxx, const std::vector<std::string>& dynamic) {
  std::vector<std::string> arguments = {"-shared",
                                        "-nostartfiles",
                                        "-static-libgcc",
                                        "-Wl,-z,noexecstack",
                                        "-Wl,-z,now",
                                        "-Wl,--build-id=none",
                                        "-o",
                                        "kernel.so",
                                        "unit.o"};
  if (!dynamic.empty()) {
    util::write_file_atomic(gxx.job.work / "dynamic.s", dynamic_shared_unit(dynamic));
    arguments.emplace_back("dynamic.s");
  }
  return gxx.run(arguments);
}

}  // namespace

std::vector<std::string> gxx_flags(bool fast_math) {
  std::vector<std::string> flags = {"-std=c++20",
                                    "-O2",
                                    "-march=native",
                                    "-fPIC",
                                    "-fvisibility=hidden",
                                    "-fno-exceptions",
                                    "-fno-rtti",
                                    "-fno-extern-tls-init",
                                    "-fopenmp-simd",
                                    "-fno-strict-aliasing",
                                    "-fno-math-errno",
                                    "-fno-trapping-math",
                                    "-fno-stack-protector",
                                    "-fstack-clash-protection",
                                    "-fdiagnostics-color=never",
                                    "-fmax-errors=20",
                                    "-Werror=date-time",
                                    "-fno-asynchronous-unwind-tables"};
  if (fast_math) {
    flags.insert(flags.end(), {"-fno-signed-zeros", "-fassociative-math", "-freciprocal-math"});
  }
  return flags;
}

Outcome precompile_cpu(const Job& job) {
  const Gxx gxx{job};
  std::vector<std::string> arguments = gxx_flags(false);
  arguments.insert(arguments.end(),
                   {"-I",
                    (job.headers / "include").native(),
                    "-I",
                    (job.headers / "include/sweep/cuda").native(),
                    "-x",
                    "c++-header",
                    (job.headers / "pch.h").native(),
                    "-o",
                    "pch.gch"});
  const ToolRun run = gxx.run(arguments);
  if (!run.ok()) {
    throw util::InfraError({job.gxx.native(),
                            "the cpu device's header does not compile: " + run.text,
                            "use g++ 12 or newer"},
                           "E_COMPILE_HEADER");
  }
  Outcome outcome;
  outcome.status = Result::Status::ok;
  outcome.image = bytes_of(util::read_file(job.work / "pch.gch", kMaxHeader));
  return outcome;
}

Outcome compile_cpu(const Job& job) {
  const auto defines = define_lines(job.request.defines);
  if (!defines) {
    return failed(Result::Status::compile_error,
                  "a plan constant has a name that cannot be a macro\n");
  }
  const std::string file = safe_file_name(job.request.file);
  util::write_file_atomic(job.work / file, job.request.source);
  util::write_file_atomic(
      job.work / "unit.cpp",
      // The harness's own texts are under none of the refusals.
      (job.trusted ? "#define SWEEP_TRUSTED\n" : "") +
          cpu_unit(file, *defines, job.request.kernels, job.request.device_printf));
  const Gxx gxx{job};
  const ToolRun compiled = gxx.run(compile_arguments(job));
  if (!compiled.ok()) {
    return outcome_of_failure(job, compiled);
  }
  Outcome outcome;
  outcome.log = shown(job, compiled.text);
  const std::vector<std::byte> object = bytes_of(util::read_file(job.work / "unit.o", kMaxImage));
  const auto unit = ElfFile::parse(object);
  if (!unit) {
    throw util::InfraError({"compiler role", "g++ wrote no object file", {}}, "E_COMPILE_OUTPUT");
  }
  if (const std::string why = refuse_object(*unit, job.may_keep_state()); !why.empty()) {
    return failed(Result::Status::forbidden, why + "\n" + outcome.log);
  }
  const ToolRun linked = link(gxx, dynamic_labels(*unit));
  if (!linked.ok()) {
    return outcome_of_failure(job, linked);
  }
  outcome.image = bytes_of(util::read_file(job.work / "kernel.so", kMaxImage));
  const auto library = ElfFile::parse(outcome.image);
  if (!library) {
    throw util::InfraError({"compiler role", "g++ wrote no shared object", {}}, "E_COMPILE_OUTPUT");
  }
  if (const std::string why = refuse_library(*library, job.trusted, job.request.device_printf);
      !why.empty()) {
    return failed(Result::Status::forbidden, why + "\n" + outcome.log);
  }
  const std::vector<std::string> lowered = lowered_names(*unit, job.request.kernels.size());
  for (std::size_t i = 0; i < lowered.size(); ++i) {
    CompiledKernel kernel;
    kernel.name = job.request.kernels[i];
    kernel.lowered = lowered[i];
    outcome.kernels.push_back(std::move(kernel));
  }
  outcome.status = Result::Status::ok;
  return outcome;
}

}  // namespace sweep::compile

#include "compile/ptxas.h"

#include "compile/cubin.h"
#include "compile/log.h"
#include "compile/ptx_text.h"
#include "compile/ptxas_log.h"
#include "util/file.h"
#include "util/process.h"

#include <algorithm>
#include <csignal>

namespace sweep::compile {
namespace {

constexpr std::size_t kMaxCubin = std::size_t{64} << 20;

std::vector<std::string> ptxas_arguments(const Job& job) {
  std::vector<std::string> all = {
      "-v", "-arch=" + job.request.target.arch, "unit.ptx", "-o", "unit.cubin"};
  if (job.request.flags.maxrregcount > 0) {
    all.push_back("-maxrregcount=" + std::to_string(job.request.flags.maxrregcount));
  }
  return all;
}

bool ran_out_of_memory(const ToolRun& run) {
  constexpr std::string_view kSigns[] = {"Memory allocation failure",
                                         "out of memory",
                                         "std::bad_alloc",
                                         "Cannot allocate memory",
                                         "memory exhausted"};
  return run.signal == SIGKILL || std::any_of(std::begin(kSigns), std::end(kSigns), [&](auto sign) {
           return run.text.find(sign) != std::string::npos;
         });
}

}  // namespace

ToolRun run_ptxas(const Job& job, double seconds) {
  return run_tool(job.ptxas, ptxas_arguments(job), util::basic_environment(job.work), seconds);
}

std::vector<std::byte> read_cubin(const Job& job) {
  const std::string bytes = util::read_file(job.work / "unit.cubin", kMaxCubin);
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  return {data, data + bytes.size()};
}

Outcome tool_failure(const ToolRun& run, const std::string& log) {
  if (run.timed_out || run.signal == SIGXCPU) {
    return failed(Result::Status::timeout, "the compiler ran past its deadline\n");
  }
  if (ran_out_of_memory(run)) {
    Outcome outcome = failed(Result::Status::out_of_memory, "the compiler ran out of memory\n");
    outcome.killed = run.signal == SIGKILL;
    return outcome;
  }
  return failed(Result::Status::compile_error,
                run.signal == 0
                    ? log
                    : log + "the compiler crashed (signal " + std::to_string(run.signal) + ")\n");
}

// Plan constants have no meaning in PTX: there is no preprocessor. They act in the plan alone.
Outcome compile_ptx(const Job& job) {
  util::write_file_atomic(job.work / "unit.ptx", job.request.source);
  const ToolRun run = run_ptxas(job, job.seconds);
  Assembled made;
  made.report = read_ptxas_log(run.text);
  const std::vector<std::filesystem::path> ours = {job.work};
  made.log = clean_log(made.report.rest, ours, {});
  if (!run.ok()) {
    return tool_failure(run, made.log);
  }
  const std::vector<PtxEntry> entries = PtxText(job.request.source).entries();
  std::vector<const PtxEntry*> launched;
  for (const std::string& name : job.request.kernels) {
    const auto entry = std::find_if(
        entries.begin(), entries.end(), [&](const PtxEntry& e) { return e.name == name; });
    if (entry == entries.end()) {
      return failed(Result::Status::compile_error,
                    "the text has no .entry named '" + name + "'\n" + made.log);
    }
    launched.push_back(&*entry);
    made.kernels.emplace_back(name, name);
  }
  made.image = read_cubin(job);
  made.ptx = job.request.source;
  Outcome outcome = cubin_outcome(job, std::move(made));
  for (std::size_t i = 0; i < outcome.kernels.size(); ++i) {
    outcome.kernels[i].parameters = launched[i]->parameters;
  }
  return outcome;
}

}  // namespace sweep::compile

#include "compile/job.h"
#include "compile/log.h"
#include "compile/ptxas_log.h"
#include "compile/refuse.h"
#include "compile/tool.h"
#include "util/error.h"
#include "util/file.h"
#include "util/process.h"

namespace sweep::compile {
namespace {

constexpr std::size_t kMaxCubin = std::size_t{64} << 20;

std::vector<std::string> arguments(const Job& job) {
  std::vector<std::string> all = {
      "-v", "-arch=" + job.request.target.arch, "unit.ptx", "-o", "unit.cubin"};
  if (job.request.flags.maxrregcount > 0) {
    all.push_back("-maxrregcount=" + std::to_string(job.request.flags.maxrregcount));
  }
  return all;
}

}  // namespace

// Plan constants have no meaning in PTX: there is no preprocessor.
Outcome compile_ptx(const Job& job) {
  util::write_file_atomic(job.work / "unit.ptx", job.request.source);
  const ToolRun run =
      run_tool(job.ptxas, arguments(job), util::basic_environment(job.work), job.seconds);
  const PtxasReport report = read_ptxas_log(run.text);
  const std::vector<std::filesystem::path> ours = {job.work};
  const std::string log = clean_log(report.rest, ours, {});
  if (run.timed_out) {
    return failed(Result::Status::timeout, "ptxas ran past its deadline\n");
  }
  if (!run.ok()) {
    return failed(Result::Status::compile_error, log);
  }
  const std::string bytes = util::read_file(job.work / "unit.cubin", kMaxCubin);
  Outcome outcome;
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  outcome.image.assign(data, data + bytes.size());
  const auto cubin = ElfFile::parse(outcome.image);
  if (!cubin) {
    throw util::InfraError({"compiler role", "ptxas made no cubin", {}}, "E_COMPILE_OUTPUT");
  }
  const std::string why =
      refuse_cubin(*cubin, job.request.source, job.may_keep_state(), job.request.device_printf);
  if (!why.empty()) {
    return failed(Result::Status::forbidden, why + "\n" + log);
  }
  for (const std::string& name : job.request.kernels) {
    if (!report.entries.contains(name)) {
      return failed(Result::Status::compile_error,
                    "the text has no .entry named '" + name + "'\n" + log);
    }
    outcome.kernels.push_back(kernel_facts(report, name, name));
  }
  outcome.status = Result::Status::ok;
  outcome.log = log;
  outcome.ptx = job.request.source;
  return outcome;
}

}  // namespace sweep::compile

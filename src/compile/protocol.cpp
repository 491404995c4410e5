#include "compile/protocol.h"

#include "util/error.h"
#include "util/text.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <array>

#include <sys/stat.h>
#include <unistd.h>

namespace sweep::compile {
namespace {

using wire::field;

constexpr std::array<std::string_view, 6> kStatus = {
    "ok", "compile_error", "unsupported", "forbidden", "timeout", "out_of_memory"};

[[noreturn]] void refuse(const std::string& what) {
  throw wire::WireError({"compiler role", what, {}}, "E_WIRE_FIELD");
}

int small(const nlohmann::json& body, const char* key) {
  const auto value = field<std::int64_t>(body, key);
  if (value < -1 || value > (1 << 30)) {
    refuse(std::string(key) + " is out of range");
  }
  return static_cast<int>(value);
}

const nlohmann::json& array(const nlohmann::json& body, const char* key) {
  constexpr std::size_t kMax = 65536;
  if (!body.contains(key) || !body.at(key).is_array() || body.at(key).size() > kMax) {
    refuse(std::string(key) + " is not a list");
  }
  return body.at(key);
}

const nlohmann::json& object(const nlohmann::json& entry) {
  if (!entry.is_object()) {
    refuse("a list entry is not an object");
  }
  return entry;
}

nlohmann::json declared_to_json(const std::vector<submission::Parameter>& parameters) {
  nlohmann::json list = nlohmann::json::array();
  for (const submission::Parameter& parameter : parameters) {
    list.push_back({{"bytes", parameter.bytes},
                    {"real", parameter.kind == submission::Parameter::Kind::real},
                    {"text", parameter.text}});
  }
  return list;
}

std::vector<submission::Parameter> declared_from_json(const nlohmann::json& body) {
  std::vector<submission::Parameter> parameters;
  for (const auto& entry : array(body, "declared")) {
    submission::Parameter parameter;
    parameter.bytes = field<std::uint64_t>(object(entry), "bytes");
    parameter.kind = field<bool>(entry, "real") ? submission::Parameter::Kind::real
                                                : submission::Parameter::Kind::opaque;
    parameter.text = field<std::string>(entry, "text");
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

}  // namespace

std::string_view status_name(Result::Status status) {
  return kStatus[static_cast<std::size_t>(status)];
}

nlohmann::json to_json(const Job& job) {
  const Request& r = job.request;
  nlohmann::json defines = nlohmann::json::array();
  for (const auto& [name, value] : r.defines) {
    defines.push_back({{"name", name}, {"value", value}});
  }
  return {{"precompile", job.precompile},
          {"trusted", job.trusted},
          {"file", util::to_valid_utf8(r.file)},
          {"ptx", r.language == submission::Language::ptx},
          {"cuda", r.target.kind == device::Kind::cuda},
          {"arch", r.target.arch},
          {"kernels", r.kernels},
          {"defines", defines},
          {"maxrregcount", r.flags.maxrregcount},
          {"fast_math", r.flags.fast_math},
          {"nvcc", r.nvcc},
          {"device_printf", r.device_printf},
          {"contract", r.contract},
          {"may_keep_state", r.may_keep_state},
          {"work", job.work.native()},
          {"headers", job.headers.native()},
          {"gxx", job.gxx.native()},
          {"nvrtc", job.nvrtc.native()},
          {"cuda_include", job.cuda_include.native()},
          {"ptxas", job.ptxas.native()},
          {"nvcc_path", job.nvcc.native()},
          {"seconds", job.seconds}};
}

Job job_from_json(const nlohmann::json& body) {
  Job job;
  Request& r = job.request;
  job.precompile = field<bool>(body, "precompile");
  job.trusted = field<bool>(body, "trusted");
  r.file = field<std::string>(body, "file");
  r.language = field<bool>(body, "ptx") ? submission::Language::ptx : submission::Language::cuda;
  r.target.kind = field<bool>(body, "cuda") ? device::Kind::cuda : device::Kind::cpu;
  r.target.arch = field<std::string>(body, "arch");
  r.kernels = field<std::vector<std::string>>(body, "kernels");
  for (const auto& entry : array(body, "defines")) {
    r.defines.emplace_back(field<std::string>(object(entry), "name"),
                           field<std::int64_t>(entry, "value"));
  }
  r.flags.maxrregcount = small(body, "maxrregcount");
  r.flags.fast_math = field<bool>(body, "fast_math");
  r.nvcc = field<bool>(body, "nvcc");
  r.device_printf = field<bool>(body, "device_printf");
  r.contract = field<bool>(body, "contract");
  r.may_keep_state = field<bool>(body, "may_keep_state");
  job.work = field<std::string>(body, "work");
  job.headers = field<std::string>(body, "headers");
  job.gxx = field<std::string>(body, "gxx");
  job.nvrtc = field<std::string>(body, "nvrtc");
  job.cuda_include = field<std::string>(body, "cuda_include");
  job.ptxas = field<std::string>(body, "ptxas");
  job.nvcc = field<std::string>(body, "nvcc_path");
  job.seconds = field<double>(body, "seconds");
  return job;
}

nlohmann::json to_json(const Outcome& outcome) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const CompiledKernel& kernel : outcome.kernels) {
    nlohmann::json entry = {{"name", kernel.name},
                            {"lowered", kernel.lowered},
                            {"registers", kernel.registers},
                            {"spill_bytes", kernel.spill_bytes},
                            {"shared_bytes", kernel.shared_bytes},
                            {"stack_bytes", kernel.stack_bytes}};
    if (kernel.parameters) {
      entry["declared"] = declared_to_json(*kernel.parameters);
    }
    kernels.push_back(std::move(entry));
  }
  nlohmann::json body = {{"status", status_name(outcome.status)},
                         {"log", util::to_valid_utf8(outcome.log)},
                         {"kernels", kernels},
                         {"static_bytes", outcome.static_bytes},
                         {"stack_bytes", outcome.stack_bytes},
                         {"image_bytes", outcome.image.size()},
                         {"ptx_bytes", outcome.ptx.size()}};
  if (outcome.killed) {
    body["killed"] = true;
  }
  return body;
}

Outcome outcome_from_json(const nlohmann::json& body, std::string_view blobs) {
  Outcome outcome;
  const auto status = field<std::string>(body, "status");
  const auto* at = std::find(kStatus.begin(), kStatus.end(), status);
  if (at == kStatus.end()) {
    refuse("unknown status");
  }
  outcome.status = static_cast<Result::Status>(at - kStatus.begin());
  outcome.log = field<std::string>(body, "log");
  outcome.killed = body.contains("killed") && field<bool>(body, "killed");
  for (const auto& entry : array(body, "kernels")) {
    CompiledKernel kernel;
    kernel.name = field<std::string>(object(entry), "name");
    kernel.lowered = field<std::string>(entry, "lowered");
    kernel.registers = small(entry, "registers");
    kernel.spill_bytes = small(entry, "spill_bytes");
    kernel.shared_bytes = small(entry, "shared_bytes");
    kernel.stack_bytes = small(entry, "stack_bytes");
    if (entry.contains("declared")) {
      kernel.parameters = declared_from_json(entry);
    }
    outcome.kernels.push_back(std::move(kernel));
  }
  outcome.static_bytes = field<std::uint64_t>(body, "static_bytes");
  outcome.stack_bytes = field<std::uint64_t>(body, "stack_bytes");
  const auto image = field<std::uint64_t>(body, "image_bytes");
  const auto ptx = field<std::uint64_t>(body, "ptx_bytes");
  if (image > blobs.size() || ptx != blobs.size() - image) {
    refuse("sizes do not match the data");
  }
  const auto* data = reinterpret_cast<const std::byte*>(blobs.data());
  outcome.image.assign(data, data + image);
  outcome.ptx = std::string(blobs.substr(image));
  return outcome;
}

std::string blobs_of(const Outcome& outcome) {
  std::string all(reinterpret_cast<const char*>(outcome.image.data()), outcome.image.size());
  return all + outcome.ptx;
}

std::string read_memory(int fd, std::size_t max_bytes) {
  struct stat info = {};
  if (fstat(fd, &info) != 0) {
    util::throw_errno("fstat", "compiler role");
  }
  if (info.st_size < 0 || static_cast<std::size_t>(info.st_size) > max_bytes) {
    throw util::InfraError(
        {"compiler role", "it returned more than " + std::to_string(max_bytes) + " bytes", {}},
        "E_COMPILE_ROLE");
  }
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = pread(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (n <= 0) {
      util::throw_errno("pread", "compiler role");
    }
    done += static_cast<std::size_t>(n);
  }
  return text;
}

}  // namespace sweep::compile

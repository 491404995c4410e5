#include "compile/compiler.h"
#include "compile/protocol.h"
#include "compile/wrapper.h"
#include "util/error.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <iostream>
#include <new>

namespace sweep::compile {
namespace {

// The work of a job that has come over the channel.
Outcome checked(Job job) {
  const Request& r = job.request;
  if (r.language == submission::Language::cuda && uses_build_time(r.source)) {
    return failed(Result::Status::forbidden,
                  "forbidden: __DATE__, __TIME__ and __TIMESTAMP__ make the text differ at every "
                  "compilation\n");
  }
  const auto bad = std::find_if(
      r.kernels.begin(), r.kernels.end(), [](const auto& k) { return !is_name_expression(k); });
  if (bad != r.kernels.end()) {
    return failed(Result::Status::compile_error,
                  "the plan launches something that is no kernel name\n");
  }
  if (r.target.kind == device::Kind::cpu) {
    return r.language == submission::Language::ptx
               ? failed(Result::Status::unsupported, "unsupported on device cpu: .ptx\n")
               : compile_cpu(job);
  }
  if (r.source.find('\0') != std::string::npos) {
    return failed(Result::Status::compile_error, "the text holds a NUL byte\n");
  }
  // g++ skips a byte order mark, NVRTC and ptxas do not.
  if (r.source.starts_with("\xEF\xBB\xBF")) {
    job.request.source.erase(0, 3);
  }
  if (r.language == submission::Language::ptx) {
    return compile_ptx(job);
  }
  return r.nvcc ? compile_nvcc(job) : compile_cuda(job);
}

void reply(wire::Channel& channel, const Outcome& outcome) {
  const std::string blobs = blobs_of(outcome);
  const util::Fd memory = util::make_memfd("sweep-compiled");
  util::write_all(memory.get(), blobs, "compiler role");
  const int fd = memory.get();
  channel.send(to_json(outcome), std::span(&fd, 1));
}

}  // namespace

int compile_role_main(int fd) {
  try {
    wire::Channel channel(util::Fd(fd), "evaluation");
    try {
      const wire::Message message = channel.receive(10, 1);
      Job job = job_from_json(message.body);
      if (message.fds.size() != 1) {
        throw wire::WireError({"compiler role", "no source came", {}}, "E_WIRE_FDS");
      }
      job.request.source = read_memory(message.fds[0].get(), kMaxSource);
      reply(channel, job.precompile ? precompile_cpu(job) : checked(std::move(job)));
      return 0;
    } catch (const wire::WireError&) {
      throw;
    } catch (const util::Error& error) {
      channel.send({{"error", error.what()}, {"code", error.code()}});
      return 3;
    }
  } catch (const std::bad_alloc&) {
    return kRoleOutOfMemory;
  } catch (const std::exception& error) {
    std::cerr << "compiler role: " << error.what() << '\n';
    return 3;
  }
}

}  // namespace sweep::compile

#include "profile/replay.h"

#include "device/plain.h"
#include "evaluate/engine.h"
#include "evaluate/image_wire.h"
#include "evaluate/judge_protocol.h"
#include "evaluate/peers.h"
#include "evaluate/signature.h"
#include "problem/fill.h"
#include "util/error.h"
#include "util/file.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <span>

#include <fcntl.h>

namespace sweep::profile {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using wire::field;

constexpr const char* kJob = "job.json";
constexpr const char* kImage = "image.bin";
constexpr const char* kResult = "replayed.json";
constexpr std::size_t kMostJob = std::size_t{64} << 20U;
constexpr std::size_t kMostResult = std::size_t{1} << 20U;

using Buffers = std::vector<std::unique_ptr<device::Buffer>>;

// Kernels may read the rest of the last 256 bytes (docs/submission.md).
std::size_t padded(std::int64_t bytes) {
  constexpr std::size_t kAlignment = 256;
  return std::max((static_cast<std::size_t>(bytes) + kAlignment - 1) / kAlignment, std::size_t{1}) *
         kAlignment;
}

// In the order of candidate_signature(), of each rank where it is ranked, filled where the problem
// fills them.
void make_tensors(device::Device& device,
                  device::Id id,
                  const problem::Problem& problem,
                  const problem::Draw& draw,
                  Buffers& buffers) {
  const problem::FillPlan plan(problem, draw);
  const std::unique_ptr<evaluate::Engine> engine = evaluate::make_host_engine(device);
  for (const problem::Tensor& tensor : problem.tensors) {
    if (tensor.role == problem::Role::aux) {
      continue;
    }
    const problem::ConcreteTensor made = problem::concrete(problem, tensor, draw);
    const std::size_t parts = evaluate::parts_of(made);
    const auto part = static_cast<std::int64_t>(static_cast<std::size_t>(made.bytes) / parts);
    for (std::size_t i = 0; i < parts; ++i) {
      buffers.push_back(device::allocate_plain(device, id, padded(part)));
    }
    for (std::size_t i = 0; i < plan.tensors().size(); ++i) {
      const problem::FilledTensor& filled = plan.tensors()[i];
      if (filled.tensor.name != made.name || made.bytes == 0) {
        continue;
      }
      if (parts == 1) {
        engine->fill(plan, i, buffers.back()->address());
        continue;
      }
      for (std::size_t rank = 0; rank < parts; ++rank) {
        std::vector<std::byte> values(static_cast<std::size_t>(part));
        const auto count = filled.tensor.count / static_cast<std::int64_t>(parts);
        plan.fill(i, static_cast<std::int64_t>(rank) * count, count, values);
        device.upload(buffers[buffers.size() - parts + rank]->address(), values);
      }
    }
  }
}

// Adds the tables of peers to the buffers.
void add_tables(device::Device& device,
                device::Id id,
                const submission::Expansion& expansion,
                Buffers& buffers,
                std::vector<device::Address>& addresses) {
  const evaluate::PeerWords tables = evaluate::peer_words(expansion, addresses);
  if (tables.words.empty()) {
    return;
  }
  const auto bytes = std::as_bytes(std::span(tables.words));
  buffers.push_back(device::allocate_plain(device, id, bytes.size()));
  device.upload(buffers.back()->address(), bytes);
  for (const std::size_t begin : tables.begins) {
    addresses.push_back(buffers.back()->address() + begin);
  }
}

Replayed failed(std::string what) {
  Replayed result;
  result.fault = std::move(what);
  return result;
}

Replayed run(device::Device& device,
             device::Module& module,
             const std::vector<device::Step>& steps) {
  auto prepared = device.prepare(module, steps);
  if (const auto* fault = std::get_if<device::Fault>(&prepared)) {
    return failed(fault->text);
  }
  const auto ran = device.run(*std::get<0>(prepared));
  if (const auto* fault = std::get_if<device::Fault>(&ran)) {
    return failed(fault->text);
  }
  Replayed result;
  result.launches = std::ranges::count_if(
      steps, [](const auto& step) { return std::holds_alternative<device::Launch>(step); });
  result.device_seconds = std::get<device::RunTime>(ran).device_seconds;
  return result;
}

json to_json(const Replayed& result) {
  return {{"launches", result.launches},
          {"device_seconds", result.device_seconds},
          {"fault", result.fault ? json(*result.fault) : json(nullptr)}};
}

Replayed replay_job(const fs::path& folder) {
  const json body = wire::parse_object(
      util::read_file(folder / kJob, kMostJob, util::Links::refuse), "replay job");
  const device::Id id = device::parse_id(field<std::string>(body, "device"));
  if (id.kind != device::Kind::cuda) {
    throw util::UsageError({"replay", "needs a GPU", "give --device cuda"}, "E_REPLAY_DEVICE");
  }
  const problem::Problem problem = evaluate::problem_from_json(body.at("problem"));
  const util::Fd image = util::open_file((folder / kImage).string(), O_RDONLY | O_NOFOLLOW);
  const evaluate::Code code =
      evaluate::code_from_json(body.at("code"),
                               evaluate::candidate_signature(problem),
                               evaluate::image_from(body.at("code").at("image"), image));
  expr::IntEnv free;
  for (const auto& [name, value] : body.at("free").items()) {
    free[name] = value.get<std::int64_t>();
  }
  const problem::Draw draw =
      problem::make_draw(problem,
                         field<std::string>(body, "shape"),
                         free,
                         "default",
                         problem::Key::from_seed(field<std::uint64_t>(body, "seed")));
  const std::unique_ptr<device::Device> device = device::open(id);
  return replay(*device, id, problem, code, draw);
}

}  // namespace

Replayed replay(device::Device& device,
                device::Id id,
                const problem::Problem& problem,
                const evaluate::Code& code,
                const problem::Draw& draw) {
  Buffers buffers;
  auto loaded = device.load(code.image);
  if (const auto* fault = std::get_if<device::Fault>(&loaded)) {
    return failed(fault->text);
  }
  device::Module& module = *std::get<0>(loaded);
  evaluate::Facts facts;
  for (const device::Kernel& kernel : code.image.kernels) {
    facts[kernel.name] = module.facts(kernel.name);
  }
  const auto expanded = evaluate::expand_for(
      code.submission,
      code.signature,
      draw,
      device.info().sm_count,
      [&module](const std::string& kernel, std::int64_t threads, std::int64_t shared) {
        return std::int64_t{
            module.occupancy(kernel, static_cast<int>(threads), static_cast<std::size_t>(shared))};
      },
      problem.limits.launches);
  if (const auto* error = std::get_if<submission::PlanError>(&expanded)) {
    return failed("the plan: " + error->what);
  }
  const auto& expansion = std::get<submission::Expansion>(expanded);
  make_tensors(device, id, problem, draw, buffers);
  for (const submission::ScratchBuffer& scratch : expansion.scratch) {
    buffers.push_back(device::allocate_plain(device, id, padded(scratch.bytes)));
  }
  std::vector<device::Address> addresses;
  for (const auto& buffer : buffers) {
    addresses.push_back(buffer->address());
  }
  add_tables(device, id, expansion, buffers, addresses);
  const auto steps = evaluate::bind_steps(code, expansion, facts, addresses);
  if (const auto* error = std::get_if<submission::PlanError>(&steps)) {
    return failed("the plan: " + error->what);
  }
  return run(device, module, std::get<0>(steps));
}

void write_replay(const fs::path& folder,
                  device::Id device,
                  const Subject& subject,
                  const VisibleShape& shape,
                  std::uint64_t seed) {
  json free = json::object();
  for (const auto& [name, value] : shape.place.free) {
    free[name] = value;
  }
  const json body = {{"device", device::text(device)},
                     {"problem", evaluate::problem_to_json(subject.problem)},
                     {"code", evaluate::code_to_json(subject.code)},
                     {"shape", shape.place.name},
                     {"free", std::move(free)},
                     {"seed", seed}};
  const std::vector<std::byte>& image = subject.code.image.bytes;
  util::write_file_atomic(folder / kImage,
                          {reinterpret_cast<const char*>(image.data()), image.size()});
  util::write_file_atomic(folder / kJob, body.dump());
}

Result<Replayed> read_replayed(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / kResult, error)) {
    return Unavailable{"the replayed kernel left no result", ""};
  }
  const json body = wire::parse_object(
      util::read_file(folder / kResult, kMostResult, util::Links::refuse), "replayed");
  if (body.contains("error")) {
    return Unavailable{field<std::string>(body, "error"), ""};
  }
  Replayed result;
  result.launches = field<std::int64_t>(body, "launches");
  result.device_seconds = field<double>(body, "device_seconds");
  if (!body.at("fault").is_null()) {
    result.fault = field<std::string>(body, "fault");
  }
  return result;
}

int replay_main(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) {
    throw util::UsageError({"__replay", "needs a folder", ""}, "E_REPLAY_FOLDER");
  }
  const fs::path folder = arguments.front();
  json result;
  int code = 0;
  try {
    result = to_json(replay_job(folder));
  } catch (const std::exception& error) {
    result = {{"error", error.what()}};
    code = 1;
  }
  util::write_file_atomic(folder / kResult,
                          result.dump(-1, ' ', false, json::error_handler_t::replace));
  return code;
}

}  // namespace sweep::profile

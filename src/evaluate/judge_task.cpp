#include "evaluate/judge_task.h"

#include "evaluate/image_wire.h"
#include "evaluate/judge_protocol.h"
#include "evaluate/signature.h"
#include "util/error.h"
#include "util/sha256.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

std::string text_of(const util::Fd& file) {
  const device::Image raw = image_from(json::array(), file);
  return {reinterpret_cast<const char*>(raw.bytes.data()), raw.bytes.size()};
}

}  // namespace

JudgeTask::JudgeTask(const problem::Problem& problem,
                     const Code& reference,
                     const Code& seed,
                     const HarnessImages& harness,
                     device::Kind kind,
                     std::uint64_t seed_number,
                     const std::optional<Ahead>& ahead) {
  json codes = json::array();
  json own = json::array();
  std::vector<util::Fd> images;
  for (const Code* code : {&reference, &seed}) {
    codes.push_back(code_to_json(*code));
    images.push_back(image_fd(code->image, code->submission.file));
  }
  std::string key = reference.digest + seed.digest;
  if (kind == device::Kind::cuda) {
    for (const device::Image* image :
         {&harness.own, &harness.engine.fill, &harness.engine.compare}) {
      own.push_back(kernels_to_json(*image));
      images.push_back(image_fd(*image, "the harness"));
      key += util::sha256_hex(
          {reinterpret_cast<const char*>(image->bytes.data()), image->bytes.size()});
    }
  }
  json body = {{"seed", seed_number},
               {"problem", problem_to_json(problem)},
               {"codes", std::move(codes)},
               {"harness", std::move(own)}};
  key_ = util::sha256_hex(body.dump() + key);
  if (ahead) {
    body["ahead"] = {{"options", options_to_json(ahead->options)},
                     {"check", ahead->check},
                     {"stress", ahead->stress}};
  }
  files_.push_back(util::make_memfd("sweep-task"));
  util::write_all(files_.back().get(), body.dump(), "the judge's task");
  for (util::Fd& image : images) {
    files_.push_back(std::move(image));
  }
}

std::vector<int> JudgeTask::fds() const {
  std::vector<int> fds;
  for (const util::Fd& file : files_) {
    fds.push_back(file.get());
  }
  return fds;
}

JudgeTask::Read JudgeTask::read(std::span<const util::Fd> fds) {
  constexpr std::size_t kPlain = 3, kWithHarness = 6;
  if (fds.size() != kPlain && fds.size() != kWithHarness) {
    throw util::InfraError({"judge", "a task with missing parts", ""}, "E_JUDGE_PROTOCOL");
  }
  const json body = wire::parse_object(text_of(fds[0]), "the judge's task");
  Read task;
  task.seed_number = field<std::uint64_t>(body, "seed");
  task.problem = problem_from_json(body.at("problem"));
  const json& codes = body.at("codes");
  task.reference = code_from_json(
      codes.at(0), reference_signature(task.problem), image_from(codes.at(0).at("image"), fds[1]));
  task.seed = code_from_json(
      codes.at(1), candidate_signature(task.problem), image_from(codes.at(1).at("image"), fds[2]));
  if (fds.size() == kWithHarness) {
    const json& harness = body.at("harness");
    const std::array<device::Image*, 3> images{&task.own, &task.engine.fill, &task.engine.compare};
    for (std::size_t i = 0; i < images.size(); ++i) {
      *images[i] = image_from(harness.at(i), fds[kPlain + i]);
    }
  }
  if (const auto ahead = body.find("ahead"); ahead != body.end()) {
    task.ahead = Ahead{options_from_json(ahead->at("options")),
                       field<bool>(*ahead, "check"),
                       field<bool>(*ahead, "stress")};
  }
  return task;
}

JudgeTask judge_task(const EvaluationRequest& request,
                     const problem::Problem& problem,
                     const Trusted& ours) {
  JudgeTask::Ahead ahead;
  ahead.check = !request.only || *request.only == Stage::check;
  ahead.stress = request.only ? *request.only == Stage::stress ||
                                    (ahead.check && request.device.kind == device::Kind::cuda)
                              : request.depth != Depth::fast;
  std::optional<JudgeTask::Ahead> wanted;
  if (request.prepare && request.off.empty() && (ahead.check || ahead.stress)) {
    ahead.options = stage_options(request, problem);
    wanted = std::move(ahead);
  }
  return {
      problem, ours.reference, ours.seed, ours.harness, request.device.kind, request.seed, wanted};
}

}  // namespace sweep::evaluate

// What roles tell each other: the first byte chooses the message, the rest is its JSON. Also a
// saved evaluation, which is read from old run files.
#include "compile/protocol.h"
#include "device/device.h"
#include "evaluate/evaluation.h"
#include "evaluate/evaluation_json.h"
#include "evaluate/judge_protocol.h"
#include "evaluate/phases_json.h"
#include "evaluate/runner_protocol.h"
#include "evaluate/step_patch.h"
#include "target.h"
#include "wire/channel.h"

#include <array>
#include <functional>
#include <string>

namespace sweep::fuzz {
namespace {

using Json = nlohmann::json;

const std::array<std::function<void(const Json&)>, 16>& readers() {
  using namespace evaluate;
  static const std::array<std::function<void(const Json&)>, 16> all{
      [](const Json& json) { (void)problem_from_json(json); },
      [](const Json& json) { (void)options_from_json(json); },
      [](const Json& json) { (void)guards_from_json(json.at("list")); },
      [](const Json& json) { throw_error(json); },
      [](const Json& json) {
        // What a runner does with them: patches applied to the steps before.
        std::vector<device::Step> steps = steps_from_json(json.at("steps"));
        apply_patches(patches_from_json(json.at("patches")), steps);
        (void)steps_to_json(steps);
      },
      [](const Json& json) { (void)fault_from_json(json); },
      [](const Json& json) { (void)facts_from_json(json); },
      [](const Json& json) { (void)compile::to_json(compile::job_from_json(json)); },
      [](const Json& json) { (void)compile::outcome_from_json(json, std::string(64, 'x')); },
      [](const Json& json) { (void)phases_from_json(json); },
      [](const Json& json) { (void)failure_from_json(json); },
      [](const Json& json) { (void)check_from_json(json); },
      [](const Json& json) { (void)stress_from_json(json); },
      [](const Json& json) { (void)time_from_json(json); },
      [](const Json& json) { (void)heldout_from_json(json); },
      [](const Json& json) {
        (void)protections_from_json(json);
        accepted([&] { (void)evaluation_from_json(json); });
      }};
  return all;
}

}  // namespace

void fuzz(std::string_view input) {
  if (input.empty()) {
    return;
  }
  accepted([&] {
    const Json json = wire::parse_object(std::string(input.substr(1)), "fuzz");
    try {
      readers().at(static_cast<unsigned char>(input[0]) % readers().size())(json);
    } catch (const Json::exception&) {
      // A member of another type or none: every caller of these readers takes it for a broken
      // message.
    }
  });
}

}  // namespace sweep::fuzz

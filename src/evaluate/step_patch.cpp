#include "evaluate/step_patch.h"

#include "evaluate/hex.h"
#include "util/error.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <map>

namespace sweep::evaluate {
namespace {

using device::Launch;
using device::Step;

[[noreturn]] void broken_patch(const char* what) {
  throw util::InfraError({"runner", what, ""}, "E_RUNNER_PROTOCOL");
}

bool same_form(const Launch& a, const Launch& b) {
  if (a.kernel != b.kernel || a.grid != b.grid || a.block != b.block ||
      a.shared_bytes != b.shared_bytes || a.arguments.size() != b.arguments.size() ||
      a.attributes != b.attributes || a.tensor_maps != b.tensor_maps) {
    return false;
  }
  for (std::size_t i = 0; i < a.arguments.size(); ++i) {
    if (a.arguments[i].size() != b.arguments[i].size()) {
      return false;
    }
  }
  return true;
}

bool same_form(const Step& a, const Step& b) {
  if (a.index() != b.index()) {
    return false;
  }
  if (const auto* launch = std::get_if<Launch>(&a)) {
    return same_form(*launch, std::get<Launch>(b));
  }
  if (const auto* set = std::get_if<device::Memset>(&a)) {
    const auto& other = std::get<device::Memset>(b);
    return set->to == other.to && set->bytes == other.bytes;
  }
  const auto& copy = std::get<device::Memcpy>(a);
  const auto& other = std::get<device::Memcpy>(b);
  return copy.to == other.to && copy.from == other.from && copy.bytes == other.bytes;
}

// Patches in the making: at most one runs on for each argument.
class Collector {
 public:
  void add(std::size_t step, const Launch& before, const Launch& after) {
    for (auto run = open_.begin(); run != open_.end();) {
      const std::size_t argument = run->first;
      const bool fits =
          argument < after.arguments.size() && after.arguments[argument] == run->second.bytes;
      if (fits) {
        ++run;
        continue;
      }
      done_.push_back(std::move(run->second));
      run = open_.erase(run);
    }
    for (std::size_t i = 0; i < after.arguments.size(); ++i) {
      if (before.arguments[i] == after.arguments[i]) {
        continue;
      }
      StepPatch& run =
          open_.try_emplace(i, StepPatch{step, step, i, after.arguments[i]}).first->second;
      run.last = step;
    }
  }

  std::vector<StepPatch> take() {
    for (auto& [argument, run] : open_) {
      done_.push_back(std::move(run));
    }
    return std::move(done_);
  }

 private:
  std::map<std::size_t, StepPatch> open_;
  std::vector<StepPatch> done_;
};

}  // namespace

std::optional<std::vector<StepPatch>> patches_between(std::span<const Step> before,
                                                      std::span<const Step> after) {
  if (before.size() != after.size()) {
    return std::nullopt;
  }
  Collector collector;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (!same_form(before[i], after[i])) {
      return std::nullopt;
    }
    if (const auto* launch = std::get_if<Launch>(&after[i])) {
      collector.add(i, std::get<Launch>(before[i]), *launch);
    }
  }
  return collector.take();
}

void apply_patches(std::span<const StepPatch> patches, std::vector<Step>& steps) {
  for (const StepPatch& patch : patches) {
    if (patch.first > patch.last || patch.last >= steps.size()) {
      broken_patch("a patch beyond the steps");
    }
    for (std::size_t i = patch.first; i <= patch.last; ++i) {
      auto* launch = std::get_if<Launch>(&steps[i]);
      if (launch == nullptr) {
        continue;
      }
      if (patch.argument >= launch->arguments.size() ||
          launch->arguments[patch.argument].size() != patch.bytes.size()) {
        broken_patch("a patch that does not fit a launch");
      }
      launch->arguments[patch.argument] = patch.bytes;
    }
  }
}

nlohmann::json patches_to_json(std::span<const StepPatch> patches) {
  nlohmann::json list = nlohmann::json::array();
  for (const StepPatch& patch : patches) {
    list.push_back({{"first", patch.first},
                    {"last", patch.last},
                    {"argument", patch.argument},
                    {"bytes", to_hex(patch.bytes)}});
  }
  return list;
}

std::vector<StepPatch> patches_from_json(const nlohmann::json& list) {
  if (!list.is_array()) {
    broken_patch("a list of patches expected");
  }
  std::vector<StepPatch> patches;
  for (const nlohmann::json& body : list) {
    patches.push_back({wire::field<std::uint64_t>(body, "first"),
                       wire::field<std::uint64_t>(body, "last"),
                       wire::field<std::uint64_t>(body, "argument"),
                       bytes_from_hex(wire::field<std::string>(body, "bytes"))});
  }
  return patches;
}

}  // namespace sweep::evaluate

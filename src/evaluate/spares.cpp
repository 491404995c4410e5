#include "evaluate/spares.h"

#include "util/error.h"

#include <utility>

namespace sweep::evaluate {
namespace {

// Whether a judge that was started for one serves the other.
bool alike(const JudgeSpec& a, const JudgeSpec& b) {
  return a.program == b.program && a.locks == b.locks && a.device.kind == b.device.kind &&
         a.device.index == b.device.index && a.allow_unsandboxed == b.allow_unsandboxed &&
         a.device_printf == b.device_printf && a.off == b.off && a.libraries == b.libraries &&
         a.deadline_seconds == b.deadline_seconds && a.runners == b.runners;
}

}  // namespace

Spares::Taken Spares::take(const JudgeSpec& spec) {
  if (spec.runners == 0) {
    Taken taken{std::make_unique<JudgeClient>(spec), false};
    taken.judge->begin();
    return taken;
  }
  std::unique_ptr<JudgeClient> spare = std::move(spare_);
  if (spare != nullptr && like_ && alike(*like_, spec)) {
    try {
      spare->begin();
      like_ = spec;
      like_->announced = spare->announcement();
      return {std::move(spare), true};
    } catch (const util::InfraError&) {
      // It died while it waited; a new one tells what is wrong, if anything is.
    }
  }
  spare.reset();
  Taken taken{std::make_unique<JudgeClient>(spec), false};
  taken.judge->begin();
  like_ = spec;
  like_->announced = taken.judge->announcement();
  return taken;
}

void Spares::refill(const JudgeTask* task) noexcept {
  if (!like_ || spare_ != nullptr) {
    return;
  }
  try {
    JudgeSpec spec = *like_;
    spec.ahead = true;
    spare_ = std::make_unique<JudgeClient>(spec);
    if (task != nullptr) {
      spare_->prepare(*task);
    }
  } catch (const std::exception&) {
    spare_.reset();
  }
}

}  // namespace sweep::evaluate

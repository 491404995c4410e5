#include "evaluate/admission/shared_use.h"

#include "evaluate/memory.h"

namespace sweep::evaluate::admission {
namespace {

constexpr double kPassSeconds = 1;
// Rules keep a case's tensors, those of another draw and what the reference makes of both.
constexpr double kRulesShare = 2;

}  // namespace

SharedUse::SharedUse(Session& session, const std::vector<problem::Draw>& draws)
    : session_(session), bytes_(kRulesShare * judged_bytes(session, draws)) {
  session_.lock(util::LockMode::shared, bytes_);
  since_ = clock_.monotonic();
}

void SharedUse::pass() {
  if (clock_.monotonic() - since_ >= kPassSeconds) {
    session_.lock(util::LockMode::shared, bytes_);
    since_ = clock_.monotonic();
  }
}

}  // namespace sweep::evaluate::admission

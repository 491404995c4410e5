#pragma once

#include "evaluate/admission/admission.h"
#include "evaluate/judge_stages.h"
#include "evaluate/session.h"

#include <vector>

// The rules about which draws there are, and how long the seed takes on them.
namespace sweep::evaluate::admission {

struct VisibleDraw {
  problem::Draw draw;
  bool first = true;  // of its shape and content
};

// `replicates` draws of each shape that check sees on this device and of each content, one draw
// where inputs and outputs have more than 16 MiB: so many elements differ enough among themselves.
// Shapes outermost, the default content first.
[[nodiscard]] std::vector<VisibleDraw> visible_draws(const Session& session, int replicates);

// Rule 6. Not measured on the cpu device.
[[nodiscard]] RuleResult work_rule(Session& session, const Options& options);

// The decision of rule 6 for one shape; times in seconds. Empty: it holds. `floor` is beyond what
// the caches hold, `nominal` with cold caches; `explained`: the problem says why the seed is slow.
[[nodiscard]] std::string work_failure(
    const std::string& shape, double seed, double floor, double nominal, bool explained);

// Rule 7: edges, held-out draws of a secret that is none, then stress draws until their number or
// the time is reached.
[[nodiscard]] RuleResult draws_rule(Session& session,
                                    Store& store,
                                    const Options& options,
                                    const Tick& tick);

}  // namespace sweep::evaluate::admission

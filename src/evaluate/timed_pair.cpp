#include "evaluate/timed_pair.h"

namespace sweep::evaluate {

bool started(const Pair& pair) {
  const auto over = [](const Player& player) {
    return player.arm == nullptr || player.arm->started();
  };
  return over(pair.seed) && over(pair.candidate);
}

Pair start_pair(Session& session, timing::Arm first, int replicate) {
  const Player& opponent = session.versus() != nullptr ? *session.versus() : session.seed();
  Pair pair;
  pair.first = first;
  pair.replicate = replicate;
  pair.in_order([&] { pair.seed = session.fresh(opponent); },
                [&] { pair.candidate = session.fresh(session.candidate()); });
  return pair;
}

}  // namespace sweep::evaluate

#include "evaluate/timed_pair.h"

namespace sweep::evaluate {

Pair start_pair(Session& session, timing::Arm first) {
  const Player& opponent = session.versus() != nullptr ? *session.versus() : session.seed();
  Pair pair;
  pair.first = first;
  pair.in_order([&] { pair.seed = session.fresh(opponent); },
                [&] { pair.candidate = session.fresh(session.candidate()); });
  return pair;
}

}  // namespace sweep::evaluate

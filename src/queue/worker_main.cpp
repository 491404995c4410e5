#include "queue/worker.h"
#include "util/error.h"

#include <iostream>

namespace sweep::queue {

int worker_main() {
  try {
    StopSignals signals;
    wire::Channel channel(util::Fd(wire::Channel::kRoleFd), "supervisor", kMaxMessage);
    serve(channel, signals, agent::run_item);
    return 0;
  } catch (const util::Interrupted&) {
    return 130;
  } catch (const std::exception& error) {
    std::cerr << "worker: " << error.what() << '\n';
    return 3;
  }
}

}  // namespace sweep::queue

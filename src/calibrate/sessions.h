#pragma once

#include "calibrate/bands.h"
#include "evaluate/evaluation.h"
#include "evaluate/harness.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sweep::evaluate {
class JudgeClient;
}

namespace sweep::calibrate {

// A judge that times a kernel against the seed as `sweep eval` does: separate runner processes,
// schedule, washer, flush, graphs, comparison. The destructor ends it.
class Sessions {
 public:
  struct Setup {
    std::filesystem::path program, locks;
    device::Id device;
    bool allow_unsandboxed = false;
    int replicates = 5;
    int blocks = 0;      // 0: as in `sweep eval`
    bool pilot = false;  // as in `sweep eval --full`
  };

  // `kernel` is timed against material.seed; both stay the caller's. Throws as
  // evaluate::JudgeClient.
  Sessions(const Setup& setup,
           const Material& material,
           const evaluate::Code& kernel,
           const evaluate::HarnessImages& harness);
  ~Sessions();
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  // Session `number`: contents and order of calls follow from it. The bands are the shapes of one
  // schedule, so that starting runners is paid once; `extra` rows more for a slower copy.
  [[nodiscard]] evaluate::TimeResult run(std::span<const SizedBand> bands,
                                         std::uint64_t number,
                                         std::span<const std::int64_t> extra = {});

 private:
  Setup setup_;
  std::string digest_;
  std::unique_ptr<evaluate::JudgeClient> judge_;
};

}  // namespace sweep::calibrate

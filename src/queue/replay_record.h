#pragma once

#include "config/matrix.h"
#include "queue/resume.h"
#include "record/item_services.h"
#include "record/ledger.h"
#include "util/clock.h"

#include <functional>
#include <string>
#include <vector>

namespace sweep::queue {

// The record of one item that is led again: tool results come from what was recorded, everything
// new goes to the folder and ledger of another run.
class ReplayRecord final : public record::ItemServices {
 public:
  // `old` is the recorded run, all alive as long as this. `expire` is called when everything
  // recorded of an item that ended at its time limit was asked again.
  ReplayRecord(const record::RunDir& old,
               const record::RunDir& out,
               record::Ledger& ledger,
               config::WorkItem item,
               const Replay& recorded,
               std::function<void()> expire)
      : old_(old.artifacts_folder()),
        artifacts_(out.artifacts_folder()),
        out_(out),
        ledger_(ledger),
        item_(std::move(item)),
        recorded_(recorded),
        expire_(std::move(expire)) {}

  std::string put_artifact(std::string_view bytes) override { return artifacts_.put(bytes); }

  std::string get_artifact(const std::string& sha256) override { return old_.get(sha256); }

  std::optional<record::Finished> finished_request(std::int64_t /*index*/) override {
    return std::nullopt;
  }

  std::optional<record::Finished> finished_tool(std::int64_t index) override;
  std::string record_request(const record::Finished& request) override;
  std::string record_tool(const record::Finished& tool) override;
  void save(const record::Trajectory& trajectory) override;

  std::unique_ptr<Permit> permit(const record::Need&) override {
    return std::make_unique<Permit>();
  }

  void progress(const record::Progress& /*progress*/) override {}

  bool within_budget(const record::Spend&) override { return true; }

  bool stopping() override { return false; }

 private:
  std::string append(std::string_view kind, const record::Finished& finished);

  record::Artifacts old_;
  record::Artifacts artifacts_;
  const record::RunDir& out_;
  record::Ledger& ledger_;
  config::WorkItem item_;
  const Replay& recorded_;
  std::function<void()> expire_;
  std::size_t requests_ = 0;
};

}  // namespace sweep::queue

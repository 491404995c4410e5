#pragma once

#include "record/ledger.h"
#include "record/run_dir.h"
#include "record/trajectory.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sweep::queue {

// What the ledger says of an item that has ended: enough to count and to show it without its
// trajectory, of which thousands cannot be read at each start.
struct Ending {
  std::string outcome;
  std::string file;   // the trajectory, below the run's folder
  bool told = false;  // the row has what follows; those of 0.1.0 have not
  std::string verdict{};
  std::string reason{};  // why it is not correct
  std::int64_t tokens = 0;
  std::optional<double> cost_usd{};  // unset: the price is unknown
  double wasted_usd = 0;
  std::optional<record::Interval> speedup{};
  std::string device{};
};

[[nodiscard]] Ending ending_of(const record::Trajectory& trajectory);

// What `item_end` rows have beside outcome, file and hash. `from` throws wire::WireError.
[[nodiscard]] nlohmann::json facts_json(const Ending& ending);
void facts_from(const nlohmann::json& facts, Ending& ending);

// Where each item of a run stands by its ledger, which alone counts: a trajectory that says more
// was not acknowledged, or was changed.
class Endings {
 public:
  explicit Endings(const std::vector<record::Row>& rows);

  // The item's last word; null while it has none, or has begun again since.
  [[nodiscard]] const Ending* of(const std::string& item) const;

  // Whether the item was ever begun.
  [[nodiscard]] bool begun(const std::string& item) const { return items_.contains(item); }

 private:
  std::map<std::string, std::optional<Ending>, std::less<>> items_;
};

// The ending of an item whose trajectory is still there; null otherwise.
[[nodiscard]] const Ending* standing(const Endings& endings,
                                     const record::RunDir& run,
                                     const std::string& item,
                                     const record::ItemName& name);

}  // namespace sweep::queue

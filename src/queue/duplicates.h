#pragma once

#include "record/item_services.h"
#include "record/ledger.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sweep::queue {

// What a run has judged, by the keys of its tool rows, and what its workers are judging now, so
// that nothing is judged twice. Filled from the ledger, so that a resumed run knows it as well.
class Duplicates {
 public:
  // Takes a row in: a tool call with `keys` in its facts, the first of each key counts; or an item
  // that is begun anew, whose judgements are then asked for anew. Any other is let through.
  void note(const record::Row& row);

  struct Answer {
    std::optional<record::Judged> known;
    bool wait = false;  // another worker is at it: ask again
  };

  // Without either, the keys are the worker's until its row is noted or release().
  [[nodiscard]] Answer ask(int worker, const std::vector<std::string>& keys);

  // The worker's item has ended, or the worker is gone.
  void release(int worker);

 private:
  std::map<std::string, record::Judged> known_;
  std::map<std::string, int> claims_;
};

}  // namespace sweep::queue

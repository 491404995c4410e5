// Old run files: a ledger, a trajectory, the tries of a request.
#include "agent/exchange_record.h"
#include "record/json.h"
#include "record/ledger.h"
#include "record/trajectory.h"
#include "target.h"

namespace sweep::fuzz {

void fuzz(std::string_view input) {
  const record::Verification ledger = record::verify_ledger_text(input, "ledger.jsonl");
  must(ledger.torn_bytes <= input.size());
  must(!ledger.intact || ledger.problem.empty());
  accepted([&] {
    (void)agent::get_exchange([&](const std::string&) { return std::string(input); }, "artifact");
  });
  accepted([&] {
    const record::Trajectory read = record::parse_trajectory(input, "trajectory.json");
    // What was read is written in a form that reads the same.
    const std::string once = record::canonical(record::to_json(read));
    must(once == record::canonical(record::to_json(record::parse_trajectory(once, "again"))));
  });
}

}  // namespace sweep::fuzz

#pragma once

#include "record/ledger.h"
#include "record/run_dir.h"

#include <cstddef>
#include <string>
#include <vector>

// A run that several tasks work on has a ledger of its own, the root, and one chain a task:
// `ledger.TASK.jsonl`, whose first row names the root's row that it goes on from.
namespace sweep::record {

namespace kind {
inline constexpr std::string_view task_start = "task_start";  // first row of a chain
inline constexpr std::string_view task_end = "task_end";      // its last word; data: outcomes
inline constexpr std::string_view task_head =
    "task_head";  // root: ledger, rows and head of a chain
}  // namespace kind

struct Chain {
  std::string task;
  std::string name;  // of its file
  Verification read;
  // Row of the root that it goes on from, -1: none yet (it has no rows).
  std::int64_t base = -1;
  // Rows that the newest `task_head` row of the root commits to; 0: none does.
  std::size_t committed = 0;
};

struct Chains {
  Verification root;
  std::vector<Chain> tasks;           // by name
  std::vector<std::string> problems;  // of tasks' chains: "FILE: what is wrong"

  // All rows in an order that each item's rows are in: the root's rows, after each of them the
  // tasks' that go on from it, by the epoch under which the item was claimed, by chain, by number.
  // Of rows about the same thing the last counts. Moves the root's rows where there are no tasks.
  [[nodiscard]] std::vector<Row> rows() &&;
  [[nodiscard]] std::vector<Row> rows() const&;

  // Why figures do not rest on all rows; empty: they do.
  [[nodiscard]] std::string problem() const;
};

// Reads the ledger and all chains without changing anything. InfraError E_RUN_READ where the root
// cannot be read. A chain that breaks, follows no row of the root, or differs from what the root
// says of it is a problem, as is one that the root names and that is not there.
[[nodiscard]] Chains read_chains(const RunDir& run);

// Whether tasks ever wrote chains beside the ledger.
[[nodiscard]] bool has_chains(const RunDir& run);

// Whether a name may be a task's: 1 to 80 of [A-Za-z0-9_-].
[[nodiscard]] bool is_task_name(std::string_view name);

}  // namespace sweep::record

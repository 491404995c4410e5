#include "record/chains.h"

#include "record/fields.h"
#include "util/error.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace sweep::record {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kChainBegin = "ledger.";
constexpr std::string_view kChainEnd = ".jsonl";
constexpr std::size_t kMostTaskName = 80;

// The task whose chain a file is; empty: it is none.
std::string task_of(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  std::error_code unknown;
  if (name.size() <= kChainBegin.size() + kChainEnd.size() || !name.starts_with(kChainBegin) ||
      !name.ends_with(kChainEnd) ||
      entry.symlink_status(unknown).type() != fs::file_type::regular) {
    return {};
  }
  std::string task =
      name.substr(kChainBegin.size(), name.size() - kChainBegin.size() - kChainEnd.size());
  return is_task_name(task) ? task : std::string();
}

std::vector<Chain> chains_of(const fs::path& folder) {
  std::vector<Chain> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    Chain chain;
    chain.task = task_of(*it);
    if (!chain.task.empty()) {
      chain.name = it->path().filename().string();
      chain.read = verify_ledger(it->path());
      out.push_back(std::move(chain));
    }
  }
  std::ranges::sort(out, {}, &Chain::name);
  return out;
}

// What is wrong with a chain beside the root, or empty; sets its base.
std::string place(Chain& chain, const std::map<std::string, std::int64_t>& root) {
  if (!chain.read.problem.empty()) {
    return chain.read.problem;
  }
  if (chain.read.read.empty()) {
    return {};
  }
  const Row& first = chain.read.read.front();
  const auto base = root.find(text_in(first.data, "root_sha256"));
  if (first.kind != kind::task_start || base == root.end()) {
    return chain.name + ":1: goes on from no row of ledger.jsonl";
  }
  chain.base = base->second;
  return {};
}

// Compares what the root says of chains with them.
void commit(Chains& chains) {
  for (const Row& row : chains.root.read) {
    if (row.kind != kind::task_head) {
      continue;
    }
    const std::string name = text_in(row.data, "ledger");
    const std::int64_t rows = number_in(row.data, "rows");
    const auto chain = std::ranges::find(chains.tasks, name, &Chain::name);
    const std::string by = ", but row " + std::to_string(row.seq) + " of ledger.jsonl names it";
    if (chain == chains.tasks.end()) {
      chains.problems.push_back(name + ": missing" + by);
      continue;
    }
    const auto& read = chain->read.read;
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(rows, 0));
    if (count == 0 || count > read.size() || read[count - 1].hash != text_in(row.data, "head")) {
      chains.problems.push_back(name + ": does not have its " + std::to_string(rows) + " rows" +
                                by + " with another end");
      continue;
    }
    chain->committed = std::max(chain->committed, count);
  }
}

// Where a row stands among those of all chains.
using Place = std::tuple<std::int64_t, int, std::int64_t, std::size_t, std::int64_t>;

}  // namespace

bool has_chains(const RunDir& run) {
  std::error_code error;
  for (fs::directory_iterator it(run.folder(), error), end; !error && it != end;
       it.increment(error)) {
    if (!task_of(*it).empty()) {
      return true;
    }
  }
  return false;
}

bool is_task_name(std::string_view name) {
  return !name.empty() && name.size() <= kMostTaskName &&
         name.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
             std::string_view::npos;
}

Chains read_chains(const RunDir& run) {
  Chains out;
  out.tasks = chains_of(run.folder());
  // Read after the chains, so that it has every row that they go on from.
  out.root = verify_ledger(run.ledger_file());
  std::map<std::string, std::int64_t> root;
  for (const Row& row : out.root.read) {
    root.emplace(row.hash, row.seq);
  }
  for (Chain& chain : out.tasks) {
    if (std::string problem = place(chain, root); !problem.empty()) {
      out.problems.push_back(std::move(problem));
    }
  }
  commit(out);
  return out;
}

std::vector<Row> Chains::rows() && {
  return tasks.empty() ? std::move(root.read) : std::as_const(*this).rows();
}

std::vector<Row> Chains::rows() const& {
  std::vector<std::pair<Place, const Row*>> places;
  for (const Row& row : root.read) {
    places.emplace_back(Place{row.seq, 0, 0, 0, row.seq}, &row);
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].base < 0) {
      continue;
    }
    std::map<std::string, std::int64_t> epochs;  // by item, as claimed last
    for (const Row& row : tasks[i].read.read) {
      if (row.kind == kind::item_start || row.kind == kind::retry) {
        epochs[row.item] = number_in(row.data, "epoch");
      }
      const std::int64_t epoch = row.item.empty() ? 0 : epochs[row.item];
      places.emplace_back(Place{tasks[i].base, 1, epoch, i, row.seq}, &row);
    }
  }
  std::ranges::sort(places, {}, &std::pair<Place, const Row*>::first);
  std::vector<Row> out;
  out.reserve(places.size());
  for (const auto& [at, row] : places) {
    out.push_back(*row);
  }
  return out;
}

std::string Chains::problem() const {
  return !root.problem.empty() ? root.problem : problems.empty() ? std::string() : problems.front();
}

}  // namespace sweep::record

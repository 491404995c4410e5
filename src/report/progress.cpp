#include "report/progress.h"

#include "record/chains.h"
#include "report/words.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace sweep::report {

std::string name(Phase phase) {
  switch (phase) {
    case Phase::running:
      return "running";
    case Phase::ended:
      return "ended";
    case Phase::interrupted:
      return "interrupted";
    case Phase::unknown:
      break;
  }
  return {};
}

Phase phase_of(const std::vector<record::Row>& rows, bool alive, bool all_ended) {
  namespace kind = record::kind;
  const record::Row* last = nullptr;
  for (const record::Row& row : rows) {
    if (row.kind == kind::run_start || row.kind == kind::run_resume || row.kind == kind::config ||
        row.kind == kind::task_start || row.kind == kind::run_end) {
      last = &row;
    }
  }
  if (last == nullptr) {
    return Phase::unknown;
  }
  if (last->kind == kind::run_end) {
    const auto interrupted = last->data.find("interrupted");
    return interrupted != last->data.end() && *interrupted == true ? Phase::interrupted
                                                                   : Phase::ended;
  }
  return alive ? Phase::running : all_ended ? Phase::ended : Phase::interrupted;
}

bool all_ended(const std::vector<Row>& items) {
  return std::all_of(
      items.begin(), items.end(), [](const Row& item) { return has_ended(item.outcome); });
}

std::string progress_text(const std::vector<Row>& items) {
  std::size_t ended = 0;
  std::map<std::string, std::size_t> open;
  for (const Row& item : items) {
    const std::string& outcome = item.outcome;
    if (has_ended(outcome)) {
      ++ended;
    } else {
      ++open[outcome_words(outcome)];
    }
  }
  std::string text =
      fmt::format("{} of {} item{} finished", ended, items.size(), items.size() == 1 ? "" : "s");
  for (const auto& [words, count] : open) {
    text += fmt::format(", {} {}", count, words);
  }
  return text;
}

}  // namespace sweep::report

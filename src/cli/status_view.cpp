#include "cli/status_view.h"

#include "util/text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace sweep::cli {
namespace {

using queue::RunStatus;

constexpr std::size_t kMostOpen = 40;

// A name of the ledger that cannot begin a line of its own.
std::string one_line(const std::string& name) {
  std::string out = util::printable(name);
  std::ranges::replace_if(
      out, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return out;
}

// Seconds of a time as the ledger writes it; none for what is none.
std::optional<double> seconds_of(const std::string& iso) {
  std::tm time{};
  double seconds = 0;
  if (std::sscanf(iso.c_str(),
                  "%4d-%2d-%2dT%2d:%2d:%lfZ",
                  &time.tm_year,
                  &time.tm_mon,
                  &time.tm_mday,
                  &time.tm_hour,
                  &time.tm_min,
                  &seconds) != 6) {
    return std::nullopt;
  }
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  return static_cast<double>(::timegm(&time)) + seconds;
}

std::string ago(const std::string& iso, double now) {
  const auto then = seconds_of(iso);
  return then ? util::human_seconds(std::max(now - *then, 0.0)) + " ago" : "at an unknown time";
}

std::string counts(const std::map<std::string, std::size_t>& outcomes, bool with_correct) {
  std::string out;
  for (const auto& [outcome, count] : outcomes) {
    if (with_correct || outcome != "correct") {
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, one_line(outcome));
    }
  }
  return out;
}

std::size_t correct_of(const std::map<std::string, std::size_t>& outcomes) {
  const auto found = outcomes.find("correct");
  return found == outcomes.end() ? 0 : found->second;
}

std::string state_line(const RunStatus& status, const Style& style) {
  const std::string word(queue::name(status.state));
  switch (status.state) {
    case RunStatus::State::running:
      if (!status.tasks.empty()) {
        const auto alive = std::ranges::count(status.tasks, true, &RunStatus::Task::alive);
        return style.good(word) + fmt::format(": {} task{}", alive, alive == 1 ? "" : "s");
      }
      return style.good(word) +
             (status.holder.empty() ? " on another host" : ": " + util::printable(status.holder));
    case RunStatus::State::finished:
      return style.good(word) + (status.imported ? ": imported, to be read" : "");
    case RunStatus::State::stopped:
      return style.warn(word) + ": the last sweep ended before its items did";
    case RunStatus::State::interrupted:
      return style.bad(word) + (status.imported ? ": the import ended without a last word"
                                                : ": the last sweep ended without a last word");
  }
  return word;
}

std::string table(const std::vector<RunStatus::Model>& models) {
  std::vector<std::array<std::string, 6>> rows{
      {"model", "items", "ended", "correct", "tokens", "cost"}};
  std::array<std::size_t, 6> widths{};
  for (const RunStatus::Model& model : models) {
    rows.push_back({one_line(model.name),
                    std::to_string(model.items),
                    std::to_string(model.ended),
                    std::to_string(correct_of(model.outcomes)),
                    util::human_count(static_cast<std::uint64_t>(model.tokens)),
                    model.price_known
                        ? fmt::format("${:.4f}", static_cast<double>(model.nano_usd) * 1e-9)
                        : "unknown"});
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths.at(i) = std::max(widths.at(i), row.at(i).size());
    }
  }
  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out += pad_right(rows[r][0], widths[0]);
    for (std::size_t i = 1; i < rows[r].size(); ++i) {
      out += "  " + pad_left(rows[r].at(i), widths.at(i));
    }
    const std::string other = r == 0 ? "other outcomes" : counts(models[r - 1].outcomes, false);
    out += (other.empty() ? "" : "  " + other) + "\n";
  }
  return out;
}

std::string open_lines(const RunStatus& status, double now) {
  const bool running = status.state == RunStatus::State::running;
  std::string out = running ? "in work\n" : "begun and not ended\n";
  for (std::size_t i = 0; i < std::min(status.open.size(), kMostOpen); ++i) {
    const RunStatus::Open& item = status.open[i];
    out +=
        fmt::format("  {}  {}begun {}\n",
                    one_line(item.item),
                    item.last.empty() ? "" : fmt::format("{} {}; ", item.last, ago(item.at, now)),
                    ago(item.since, now));
    if (!item.state.empty()) {
      out += fmt::format("    {}{}\n",
                         one_line(item.state),
                         item.next ? ", next try in " + util::human_seconds(*item.next) : "");
    }
  }
  if (status.open.size() > kMostOpen) {
    out += fmt::format("  and {} more (--json lists all)\n", status.open.size() - kMostOpen);
  }
  return out;
}

std::string task_lines(const RunStatus& status) {
  std::string out = "tasks\n";
  for (std::size_t i = 0; i < std::min(status.tasks.size(), kMostOpen); ++i) {
    const RunStatus::Task& task = status.tasks[i];
    out += fmt::format(
        "  {} on {}, process {}: {} {}\n",
        one_line(task.name),
        one_line(task.host),
        task.pid,
        task.alive ? "sign of life" : "no sign of life for",
        task.alive ? util::human_seconds(task.age_s) + " ago" : util::human_seconds(task.age_s));
  }
  if (status.tasks.size() > kMostOpen) {
    out += fmt::format("  and {} more (--json lists all)\n", status.tasks.size() - kMostOpen);
  }
  return out;
}

std::string next_line(const RunStatus& status, const std::string& folder) {
  switch (status.state) {
    case RunStatus::State::running:
      return status.holder.empty() && status.tasks.empty()
                 ? ""
                 : fmt::format("next    sweep stop {} ends it; the same sweep goes on later",
                               folder);
    case RunStatus::State::finished:
      return fmt::format("next    sweep report {0}; sweep verify {0}", folder);
    case RunStatus::State::stopped:
    case RunStatus::State::interrupted:
      if (status.imported) {
        return "next    delete it and import again";
      }
      return "next    start it with the same configuration to go on: finished work is kept";
  }
  return "";
}

}  // namespace

std::string status_text(const RunStatus& status,
                        const record::RunDir& run,
                        double now,
                        const Style& style,
                        std::size_t width) {
  const std::string folder = util::printable(run.folder().string());
  std::string out = fmt::format("run     {}   {}\n", folder, state_line(status, style));
  if (!status.problem.empty()) {
    out += style.bad("broken") + "  " + util::printable(status.problem) +
           "; figures are of the rows before it\n";
  }
  if (status.rows > 0) {
    out += fmt::format("begun   {}, {} start{}; last row {}\n",
                       one_line(status.begun),
                       status.starts,
                       status.starts == 1 ? "" : "s",
                       ago(status.last, now));
  }
  const std::size_t begun = status.ended + status.open.size();
  const std::string ends = counts(status.outcomes, true);
  std::string items = fmt::format(
      "{} of {} have ended{}", status.ended, status.items, ends.empty() ? "" : ": " + ends);
  if (begun > status.ended) {
    items += fmt::format("; {} begun", status.open.size());
  }
  if (status.items > begun) {
    items += fmt::format("; {} not begun", status.items - begun);
  }
  out += "items   " + wrapped(items, 8, width).substr(8);
  if (!status.models.empty()) {
    out += "\n" + table(status.models);
  }
  if (!status.open.empty()) {
    out += "\n" + open_lines(status, now);
  }
  if (!status.tasks.empty()) {
    out += "\n" + task_lines(status);
  }
  const std::string next = next_line(status, folder);
  return next.empty() ? out : out + "\n" + next + "\n";
}

}  // namespace sweep::cli

#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress_line.h"
#include "cli/runs.h"
#include "cli/style.h"
#include "queue/replay.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

constexpr std::size_t kShownDifferences = 5;  // of one item; --json has all

void show(const queue::ReplayedItem& item, const Style& style) {
  const std::string name = util::printable(item.item);
  if (!item.skipped.empty()) {
    std::cout << style.dim("skipped ") << name << "  " << util::printable(item.skipped) << '\n';
    return;
  }
  const std::string judged = item.judged == 0 ? "" : fmt::format(", {} judged again", item.judged);
  std::cout << (item.differences.empty() ? style.good("same    ") : style.bad("DIFFERS ")) << name
            << fmt::format("  {} request{}{}, {}\n",
                           item.tries,
                           item.tries == 1 ? "" : "s",
                           judged,
                           util::printable(item.outcome));
  for (std::size_t i = 0; i < item.differences.size() && i < kShownDifferences; ++i) {
    std::cout << wrapped(util::printable(item.differences[i]), 8, output_columns());
  }
  if (item.differences.size() > kShownDifferences) {
    std::cout << fmt::format("        and {} more\n", item.differences.size() - kShownDifferences);
  }
}

nlohmann::json to_json(const queue::Replayed& replayed) {
  nlohmann::json items = nlohmann::json::array();
  for (const queue::ReplayedItem& item : replayed.items) {
    items.push_back({{"item", item.item},
                     {"outcome", item.outcome},
                     {"requests", item.tries},
                     {"judged", item.judged},
                     {"skipped", item.skipped},
                     {"differences", item.differences}});
  }
  return {{"schema", 1}, {"same", replayed.same()}, {"items", items}};
}

void show_total(const queue::Replayed& replayed, const Style& style) {
  std::size_t same = 0;
  std::size_t differ = 0;
  std::size_t skipped = 0;
  for (const queue::ReplayedItem& item : replayed.items) {
    std::size_t& count = !item.skipped.empty() ? skipped : item.differences.empty() ? same : differ;
    ++count;
  }
  const std::string text =
      fmt::format("{} the same, {} different, {} skipped", same, differ, skipped);
  std::cout << (replayed.same() ? style.good(text) : style.bad(text)) << '\n';
}

}  // namespace

int run_replay(const std::vector<std::string>& arguments) {
  std::string name;
  std::string out;
  std::string config;
  bool no_judge = false;
  queue::ReplayOptions options;
  GlobalOptions global;
  CLI::App app{
      "Leads every finished conversation of a run again, in front of a loopback server that "
      "answers "
      "from the record, and says what differs. No key is read and no other network is used.",
      "sweep replay"};
  app.add_option("RUN", name, "run folder or name")->required();
  app.add_option("--out", out, "keep the new run in this folder, which must hold nothing");
  app.add_option("--config", config, "the TOML file in place of the one recorded with the run");
  app.add_option("--only", options.only, "only items of this problem or item glob");
  app.add_flag("--no-judge", no_judge, "compare the conversations, judge no kernel again");
  add_global_options(app, global);
  parse(app, arguments);
  options.out = out;
  options.config = config;
  options.judge = !no_judge;
  options.allow_unsandboxed = global.allow_unsandboxed;
  const Style style = Style::for_stdout();
  ProgressLine line(!global.quiet && !global.json);
  options.next = [&](std::size_t number, std::size_t all, const std::string& item) {
    line.say(fmt::format("{}/{} {}", number, all, util::printable(item)));
  };
  const queue::Replayed replayed = queue::replay_run(
      open_run(name), options, sweep_installation(), [&](const queue::ReplayedItem& item) {
        line.clear();
        if (!global.json && (!global.quiet || !item.differences.empty())) {
          show(item, style);
          std::cout.flush();
        }
      });
  if (global.json) {
    std::cout << to_json(replayed).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    show_total(replayed, style);
  }
  return replayed.same() ? kDone : kInfra;
}

}  // namespace sweep::cli

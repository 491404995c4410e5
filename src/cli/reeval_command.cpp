#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress_line.h"
#include "cli/runs.h"
#include "cli/style.h"
#include "queue/reeval.h"
#include "report/build.h"
#include "util/text.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

std::string judgement_text(const queue::Judgement& judgement) {
  std::string out = judgement.verdict.empty() ? judgement.outcome : judgement.verdict;
  if (judgement.speedup) {
    out += " " + util::human_ratio(judgement.speedup->point);
  }
  return util::printable(out);
}

void show_reevaluated(const queue::Reevaluated& item, const Style& style) {
  const std::string name = util::printable(item.item);
  if (!item.skipped.empty()) {
    std::cout << style.dim("skipped ") << name << "  " << util::printable(item.skipped) << '\n';
    return;
  }
  std::cout << (item.changed ? style.bad("CHANGED ") : style.good("same    ")) << name << "  "
            << judgement_text(item.before) << " -> " << judgement_text(item.now) << '\n';
  for (const std::string& why : item.why) {
    std::cout << wrapped(util::printable(why), 8, output_columns());
  }
}

nlohmann::json document(const std::vector<queue::Reevaluated>& items, const std::string& out) {
  nlohmann::json list = nlohmann::json::array();
  for (const queue::Reevaluated& item : items) {
    list.push_back(queue::to_json(item));
  }
  return {{"schema", 1}, {"run", out}, {"items", std::move(list)}};
}

}  // namespace

int run_reeval(const std::vector<std::string>& arguments) {
  std::string name;
  std::string out;
  std::string config;
  queue::ReevalOptions options;
  GlobalOptions global;
  CLI::App app{
      "Judges each submission of a run again with today's judge, problems and device, into a copy "
      "of the run, and says what changed and why. The run itself is only read. Exit code: 0 "
      "whatever changed, 3 if a judgement failed or a kernel's text is lost.",
      "sweep reeval"};
  app.add_option("RUN", name, "run folder or name")->required();
  app.add_option("--out", out, "folder of the copy, which must hold nothing; default: RUN-reeval");
  app.add_option("--config", config, "the TOML file in place of the one recorded with the run");
  app.add_option("--only", options.only, "judge only items of this problem or item glob again");
  app.add_option("--device", options.device, "cpu, cuda or cuda:N in place of the run's");
  app.add_flag("--dry-run", options.dry_run, "judge and say what would change; write nothing");
  add_global_options(app, global);
  parse(app, arguments);
  const record::RunDir run = open_run(name);
  options.config = config;
  options.allow_unsandboxed = global.allow_unsandboxed;
  const auto folder = run.folder().lexically_normal();
  options.out = out.empty() ? folder.parent_path() / (folder.filename().string() + "-reeval")
                            : std::filesystem::path(out);
  const Style style = Style::for_stdout();
  ProgressLine line(!global.quiet && !global.json);
  options.next = [&](std::size_t number, std::size_t all, const std::string& item) {
    line.say(fmt::format("{}/{} {}", number, all, util::printable(item)));
  };
  options.damaged = [&](const std::string& artifact) {
    line.clear();
    std::cerr << "sweep: artifacts/" << artifact
              << ": missing or damaged, so that the copy goes without it; see `sweep verify "
              << util::printable(run.folder().string()) << "`\n";
  };
  const auto items =
      queue::reevaluate(run, options, sweep_installation(), [&](const queue::Reevaluated& item) {
        line.clear();
        if (!global.json && (!global.quiet || item.changed)) {
          show_reevaluated(item, style);
          std::cout.flush();
        }
      });
  const std::string made = options.dry_run ? "" : options.out.string();
  if (!options.dry_run) {
    (void)report::build(record::RunDir(options.out));
  }
  const auto changed = std::ranges::count(items, true, &queue::Reevaluated::changed);
  if (global.json) {
    std::cout << document(items, made).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    std::cout << fmt::format("{} of {} changed{}\n",
                             changed,
                             std::ranges::count(items, std::string(), &queue::Reevaluated::skipped),
                             made.empty() ? "; nothing was written" : "; " + util::printable(made));
    if (!made.empty()) {
      std::cout << fmt::format("compare sweep compare {} {}\n",
                               util::printable(run.folder().string()),
                               util::printable(made));
    }
  }
  const bool failed = std::ranges::any_of(items, [](const queue::Reevaluated& item) {
    return item.lost || item.now.outcome == "infra_error";
  });
  return failed ? kInfra : kDone;
}

}  // namespace sweep::cli

#include "cli/command.h"
#include "cli/options.h"
#include "cli/runs.h"
#include "cli/style.h"
#include "publish/bundle.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

// What was taken out, by rule.
publish::Counts totals_of(const publish::Publication& publication) {
  publish::Counts out;
  for (const publish::PublishedFile& file : publication.files) {
    for (const auto& [rule, count] : file.redacted) {
      out[rule] += count;
    }
  }
  return out;
}

void print(const publish::Published& published, const std::string& folder) {
  std::cout << fmt::format("{}  ({} files, {})\n",
                           folder,
                           published.publication.files.size() + 1,
                           util::human_bytes(published.bytes));
  std::string taken;
  for (const auto& [rule, count] : totals_of(published.publication)) {
    taken += fmt::format("{}{} {}", taken.empty() ? "" : ", ", rule, count);
  }
  std::cout << "redacted  " << (taken.empty() ? "nothing" : taken) << '\n'
            << "salt      "
            << (published.publication.held_out.commitments.empty()
                    ? "the ledger has no commitment to a salt"
                    : "committed: reveal the salt file when its campaign is closed")
            << '\n'
            << "cite      sha256 " << published.cite << '\n'
            << "next      read publication.json and look at report/index.html before you send it; "
               "sweep verify "
            << folder << '\n';
}

}  // namespace

int run_publish(const std::vector<std::string>& arguments) {
  std::string name;
  std::string folder;
  publish::CollectOptions options;
  GlobalOptions global;
  CLI::App app{
      "Writes a copy of a run that may be shown to others: report, exports, ledger, trajectories "
      "and "
      "the artifacts that `sweep verify` needs, without private endpoints, names of hosts and "
      "people, "
      "paths and keys. publication.json lists what was taken out. Nothing is overwritten, and a "
      "run "
      "that is at work is refused.",
      "sweep publish"};
  app.add_option("RUN", name, "run folder or name")->required();
  app.add_option("DIR", folder, "folder to make")->required();
  app.add_option("--redact", options.given, "take this text out as well; may be repeated")
      ->allow_extra_args(false);
  app.add_flag("--reveal-held-out",
               options.reveal_held_out,
               "leave seeds, shapes and failures of held-out draws in: their epoch is then public");
  add_global_options(app, global);
  parse(app, arguments);
  const record::RunDir run = open_run(name);
  const publish::Published published =
      publish::publish(run, folder, publish::surroundings_of_process(run), options, SWEEP_VERSION);
  if (global.json) {
    std::cout << nlohmann::json{{"schema", 1},
                                {"folder", folder},
                                {"files", published.publication.files.size() + 1},
                                {"bytes", published.bytes},
                                {"cite", published.cite},
                                {"redacted", totals_of(published.publication)},
                                {"commitments", published.publication.held_out.commitments}}
                     .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    print(published, folder);
  }
  return kDone;
}

}  // namespace sweep::cli

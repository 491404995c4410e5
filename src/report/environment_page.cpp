#include "report/page_tables.h"
#include "report/pages.h"
#include "report/words.h"
#include "util/text.h"

#include <functional>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

constexpr std::size_t kMostValues = 50;  // of one property

struct Property {
  const char* words;
  std::function<std::string(const Row&)> value;
};

std::vector<Property> properties() {
  const auto member = [](std::string Row::*what) {
    return [what](const Row& row) { return row.*what; };
  };
  return {{"device", member(&Row::device)},
          {"processor", member(&Row::gpu)},
          {"driver", member(&Row::driver)},
          {"architecture", member(&Row::arch)},
          {"compiler of the kernels", member(&Row::compiler)},
          {"sweep", member(&Row::version)},
          {"commit", member(&Row::git_commit)},
          {"judge", member(&Row::judge_version)},
          {"judge's rules",
           [](const Row& row) {
             return row.judge_rules == 0 ? std::string() : std::to_string(row.judge_rules);
           }},
          {"sandbox",
           [](const Row& row) {
             return row.sandboxed ? std::string("yes") : std::string("no: run without a sandbox");
           }},
          {"harness", member(&Row::harness)},
          {"language", member(&Row::backend)},
          {"configuration", member(&Row::config_sha256)},
          {"prompts", member(&Row::prompts_sha256)},
          {"prices", member(&Row::price_sha256)},
          {"seed of draws and schedules", [](const Row& row) { return std::to_string(row.seed); }}};
}

Markup property_table(const RowList& rows) {
  Table table{"environment",
              "Each value with the number of items that it holds for. Hashes are SHA-256",
              {"what", "value", "items"},
              {false, false, true},
              {}};
  for (const Property& property : properties()) {
    std::size_t shown = 0;
    for (const RowGroup& group : grouped(rows, property.value)) {
      if (!group.name.empty() && shown++ < kMostValues) {
        table.rows.push_back({text(property.words),
                              element("code", text(group.name)),
                              text(std::to_string(group.rows.size()))});
      }
    }
  }
  return render(table);
}

Markup endpoint_table(const RowList& rows) {
  Table table{"endpoints",
              "Addresses without user, password and query; keys are in no record",
              {"model", "deployment", "protocol", "endpoint", "items"},
              {false, false, false, false, true},
              {}};
  const auto key = [](const Row& row) {
    return row.model + '\n' + row.deployment + '\n' + row.api_kind + '\n' + row.base_url;
  };
  for (const RowGroup& group : grouped(rows, key)) {
    const Row& row = *group.rows.front();
    table.rows.push_back({text(row.model),
                          text(row.deployment),
                          text(row.api_kind),
                          element("code", text(without_secrets(row.base_url))),
                          text(std::to_string(group.rows.size()))});
  }
  return render(table);
}

Markup problem_hashes(const RowList& rows) {
  Table table{"problem-hashes",
              "More than one row of a problem: it was changed under way",
              {"problem", "problem's SHA-256", "seed kernel's SHA-256", "items"},
              {false, false, false, true},
              {}};
  const auto key = [](const Row& row) {
    return row.problem + '\n' + row.problem_sha256 + '\n' + row.seed_sha256;
  };
  for (const RowGroup& group : grouped(rows, key)) {
    const Row& row = *group.rows.front();
    table.rows.push_back({text(row.problem),
                          element("code", text(row.problem_sha256)),
                          element("code", text(row.seed_sha256)),
                          text(std::to_string(group.rows.size()))});
  }
  return render(table);
}

}  // namespace

Markup environment_body(const Context& context, const std::vector<const Row*>& rows) {
  RowList begun;  // those that say where they ran
  for (const Row* row : rows) {
    if (!row->page.empty()) {
      begun.push_back(row);
    }
  }
  Markup body = element("h1", text("Environment"));
  body += element(
      "p",
      text(context.drifted ? "The configuration was changed under way in a way that decides "
                             "results, and the change was accepted (--accept-drift): items before "
                             "and after it do not compare. The rows below count both."
                           : "Nothing that decides results was changed under way: the ledger has "
                             "no accepted drift."));
  if (!context.ledger_head.empty()) {
    body += element("p",
                    text(fmt::format("Ledger of {} row{}, head ",
                                     context.ledger_rows,
                                     context.ledger_rows == 1 ? "" : "s")) +
                        element("code", text(context.ledger_head)) +
                        text(". sweep verify recomputes the chain and every number from the "
                             "samples in the run's folder."));
  }
  body += element("h2", text("Machine, program and configuration")) + property_table(begun);
  body += element("h2", text("Endpoints")) + endpoint_table(begun);
  body += element("h2", text("Problems and seed kernels")) + problem_hashes(begun);
  return body;
}

}  // namespace sweep::report

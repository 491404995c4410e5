// The page of a comparison of runs.
#include "embedded_report_assets.h"
#include "record/ledger.h"
#include "report/compare.h"
#include "report/page.h"
#include "util/error.h"
#include "util/text.h"

#include <fmt/format.h>

namespace sweep::report {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPage = "index.html";

// Address of a run's own report from `folder`; empty: it has none.
std::string report_of(const record::RunDir& run, const fs::path& folder) {
  std::error_code error;
  const fs::path index = run.report_folder() / "index.html";
  if (!fs::is_regular_file(index, error)) {
    return {};
  }
  const fs::path path = fs::proximate(fs::absolute(index), fs::absolute(folder), error);
  return error ? std::string() : relative(std::string(kPage), path.generic_string());
}

Markup run_name(const std::string& name, const std::string& address) {
  return address.empty() ? text(name) : element("a", {{"href", address}}, text(name));
}

Markup sources(const std::vector<record::RunDir>& runs, const fs::path& folder) {
  Table table{"runs", "", {"run", "ledger rows", "head"}, {false, true, false}, {}};
  for (const record::RunDir& run : runs) {
    const record::Verification ledger = record::verify_ledger(run.ledger_file());
    table.rows.push_back({run_name(run.folder().filename().string(), report_of(run, folder)),
                          text(std::to_string(ledger.rows)),
                          element("code", text(ledger.head))});
  }
  return render(table);
}

Markup section_of(const DataTable& table) {
  return element("h2", text(table.title())) +
         element("p", {{"class", "meta"}}, text(table.description())) +
         html(table, {"", std::string(kPage), false});
}

// How the numbers are to be read.
Markup notes(const Comparison& comparison) {
  std::string words = common_text(comparison) + " ended in every run; the tables are over all " +
                      "attempts of these.";
  if (comparison.dropped > 0) {
    words += fmt::format(" {} items of other problems are left out.", comparison.dropped);
  }
  if (comparison.uneven) {
    words += " The runs have different numbers of attempts.";
  }
  if (comparison.devices.size() > 1) {
    words += " The runs are from different devices: their speedups do not compare.";
  }
  words += comparison.why.empty() ? "" : " " + comparison.why + ".";
  return element("p", {{"class", "meta"}}, text(words));
}

void refuse_other_folders(const fs::path& folder) {
  std::error_code error;
  const bool link = fs::is_symlink(fs::symlink_status(folder, error));
  const bool empty = !fs::exists(folder, error) || fs::is_empty(folder, error);
  if (link || (!empty && !fs::is_regular_file(folder / "comparison.json", error))) {
    throw util::UsageError({folder.string(),
                            link ? "is a symbolic link" : "holds something else than a comparison",
                            "give --page a new folder"},
                           "E_COMPARE_OUT");
  }
}

}  // namespace

fs::path write_comparison(const std::vector<record::RunDir>& runs,
                          const Comparison& comparison,
                          const fs::path& folder) {
  refuse_other_folders(folder);
  record::make_run_folder(folder);
  Context context;
  context.run_name = "comparison";
  context.several_runs = true;
  context.on_cpu = comparison.on_cpu;
  context.device = comparison.devices.size() == 1 ? comparison.devices.front() : "";
  const std::string page(kPage);
  const std::vector<DataTable> tables = {comparison_table(comparison),
                                         pairs_table(comparison),
                                         compared_problems_table(comparison),
                                         uses_table(comparison)};
  Markup body = element("h1", text("Runs compared")) + notes(comparison);
  for (const DataTable& table : tables) {
    body += section_of(table);
  }
  body += element("h2", text("Ledgers")) + sources(runs, folder);
  for (const embedded::File& asset : embedded::report_assets()) {
    record::write_whole(folder / asset.name, asset.text);
  }
  record::write_whole(
      folder / "comparison.json",
      to_json(comparison).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  for (const DataTable& table : tables) {
    record::write_whole(folder / (table.name() + ".csv"), csv(table));
    record::write_whole(folder / (table.name() + ".tex"), latex(table));
  }
  record::write_whole(folder / "methods.html", methods_page(context));
  record::write_whole(folder / page, document(context, page, "Runs compared", {}, body));
  return folder / page;
}

}  // namespace sweep::report

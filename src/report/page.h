#pragma once

#include "record/item_services.h"
#include "report/markup.h"
#include "report/summary.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::report {

// What every page head says: run, device, version, ledger head, and whether the page follows a live
// run.
struct Context {
  std::string run_name;
  std::string
      device;  // "NVIDIA H200, driver 580.159.04" of the first finished item; empty: none yet
  std::string scope;    // "34 problems, 3 models, 1 attempt each"; empty: the page is of one item
  std::string version;  // of the program that judged
  std::string ledger_head;  // hash, 64 hex digits; empty: the page is of several runs
  std::size_t ledger_rows = 0;
  std::string as_of;                     // time of the last row, UTC; empty: no row
  std::string phase;                     // "running", "ended", "interrupted"; empty: unknown
  std::string progress;                  // "3 of 8 items finished, 5 queued"
  int refresh_seconds = 0;               // 0: the page is final
  std::optional<record::Stream> stream;  // of an item's page: what its model is saying
  bool several_runs = false;             // a comparison: there are no pages of items beside it
  bool drifted = false;                  // the configuration was changed under way (--accept-drift)
  bool on_cpu = false;                   // some item ran on the cpu device
  bool scripted = false;                 // some model is a script of this program
  std::size_t foreign = 0;               // imported items, judged by others
  std::size_t unsealed = 0;  // results of kernels that ran unsealed or without a sandbox
};

struct Crumb {
  std::string title;
  std::string page;  // relative to the report folder
};

// A whole HTML document. `page` is its own path relative to the report folder, so that links work
// from disk.
[[nodiscard]] std::string document(const Context& context,
                                   const std::string& page,
                                   const std::string& title,
                                   const std::vector<Crumb>& crumbs,
                                   const Markup& body);

// What stands before a document's body. Text never has it: it is escaped.
inline constexpr std::string_view kMainBegin = "<main id=\"main\">";

// A document without a body, with this one.
[[nodiscard]] std::string framed(const std::string& frame, std::string_view body);

// Address of `target` from `page` (both relative to the report folder).
[[nodiscard]] std::string relative(const std::string& page, const std::string& target);

[[nodiscard]] Markup card(const std::string& value, const std::string& label);
[[nodiscard]] Markup card(const Markup& value, const std::string& label);

// In the colour of the verdict; a speedup that the verdict leaves open is muted.
[[nodiscard]] Markup speedup_card(const Row& row);
[[nodiscard]] Markup verdict_card(const Row& row);

// A verdict that may be broken after its underscores and nowhere else.
[[nodiscard]] Markup verdict_text(const std::string& verdict);
[[nodiscard]] Markup cards(const Totals& totals);
[[nodiscard]] Markup code_block(const std::string& id, std::string_view code);

// "2.17x" muted unless some of the speedups in it are PASS_FASTER; an em dash without speedups.
[[nodiscard]] Markup mean_text(const Totals& totals);

// "1.52x [1.51, 1.53]", or an em dash.
[[nodiscard]] std::string speedup_text(const std::optional<record::Interval>& speedup);
[[nodiscard]] std::string cost_label(double wasted_usd);  // "cost", and what was wasted besides
[[nodiscard]] std::string dollars(const std::optional<double>& cost);  // "$0.0312", "unknown"

// The pages; each returns a whole document.
[[nodiscard]] std::string run_page(const Context& context, const std::vector<Row>& rows);
[[nodiscard]] std::string model_page(const Context& context,
                                     const std::string& model,
                                     const std::vector<Row>& rows);
[[nodiscard]] std::string trajectory_page(const Context& context,
                                          const Row& row,
                                          const record::Trajectory& trajectory);
[[nodiscard]] std::string methods_page(const Context& context);

[[nodiscard]] std::string model_page_name(const std::string& model);

}  // namespace sweep::report

#include "report/metrics.h"

#include "util/text.h"

#include <fmt/format.h>

namespace sweep::report {
namespace {

// A label's value: backslash, quote and newline are escaped, bytes that are no UTF-8 replaced.
std::string label_value(std::string_view text) {
  std::string out;
  for (const char c : util::to_valid_utf8(text)) {
    if (c == '\\' || c == '"') {
      out += '\\';
    }
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

void head(std::string& out, const char* name, const char* type, const char* help) {
  out += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

}  // namespace

std::string metrics_text(const Context& context, const std::vector<Row>& rows) {
  const std::string run = label_value(context.run_name);
  std::string out;
  head(out, "sweep_run_info", "gauge", "The run and the program that made it.");
  out += fmt::format("sweep_run_info{{run=\"{}\",version=\"{}\",phase=\"{}\"}} 1\n",
                     run,
                     label_value(context.version),
                     label_value(context.phase));
  head(out, "sweep_ledger_rows", "gauge", "Rows of the run's ledger.");
  out += fmt::format("sweep_ledger_rows{{run=\"{}\"}} {}\n", run, context.ledger_rows);
  std::string counts, tokens, dollars, wasted;
  for (const std::string& model : models_of(rows)) {
    std::vector<const Row*> mine;
    for (const Row& row : rows) {
      if (row.model == model) {
        mine.push_back(&row);
      }
    }
    const Totals sum = total(mine);
    const std::string who = fmt::format("run=\"{}\",model=\"{}\"", run, label_value(model));
    for (const auto& [outcome, count] : sum.outcomes) {
      counts +=
          fmt::format("sweep_items{{{},outcome=\"{}\"}} {}\n", who, label_value(outcome), count);
    }
    tokens += fmt::format(
        "sweep_tokens{{{0},direction=\"input\"}} {1}\n"
        "sweep_tokens{{{0},direction=\"output\"}} {2}\n",
        who,
        sum.input_tokens,
        sum.output_tokens);
    if (sum.cost_usd) {
      dollars += fmt::format("sweep_cost_usd{{{}}} {:.9g}\n", who, *sum.cost_usd);
    }
    wasted += fmt::format("sweep_wasted_usd{{{}}} {:.9g}\n", who, sum.wasted_usd);
  }
  head(out, "sweep_items", "gauge", "Items of the run by model and outcome.");
  out += counts;
  head(out, "sweep_tokens", "gauge", "Tokens of the answers that count.");
  out += tokens;
  head(out, "sweep_cost_usd", "gauge", "Dollars for them; absent where a price is unknown.");
  out += dollars;
  head(out, "sweep_wasted_usd", "gauge", "Dollars for answers that were lost, as far as known.");
  return out + wasted;
}

}  // namespace sweep::report

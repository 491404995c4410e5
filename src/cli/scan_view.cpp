#include "cli/scan_view.h"

#include "cli/command.h"
#include "cli/eval_view.h"
#include "cli/timing_text.h"
#include "evaluate/confirmation.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace sweep::cli {

using evaluate::Evaluation;
using evaluate::Outcome;
using evaluate::Verdict;

namespace {

constexpr std::string_view kSelection =
    "the fastest of several measured variants tends to look faster than it is, because it was "
    "chosen for that (selection effect); the winner was judged again with fresh processes, draws "
    "and order, and that result is the one to report";

std::size_t eligible_count(const ScanReport& report) {
  return static_cast<std::size_t>(std::ranges::count_if(report.variants, eligible));
}

std::string painted_name(const Evaluation& e, const Style& style) {
  const std::string word(evaluate::name(e.verdict));
  return e.outcome() == Outcome::infra_error ? style.warn(word)
         : e.outcome() != Outcome::correct   ? style.bad(word)
         : e.verdict == Verdict::pass_faster ? style.good(word)
                                             : word;
}

// Why a variant has no time or a doubtful one, in one line.
std::string row_remark(const ScanReport& report, const ScanVariant& variant) {
  const Evaluation& e = variant.evaluation;
  std::string out = report.in_file == variant.values ? "as in the file" : "";
  if (e.outcome() != Outcome::correct) {
    const std::string line = util::printable(e.headline.substr(0, e.headline.find('\n')));
    out += (out.empty() ? "" : "; ") + line;
  } else if (e.time && e.time->uneven) {
    out += out.empty() ? "uneven" : "; uneven";
  }
  return out;
}

std::vector<std::size_t> column_widths(const std::vector<ScanParameter>& parameters) {
  std::vector<std::size_t> widths;
  for (const ScanParameter& parameter : parameters) {
    std::size_t width = parameter.name.size();
    for (const std::int64_t value : parameter.values) {
      width = std::max(width, std::to_string(value).size());
    }
    widths.push_back(width);
  }
  return widths;
}

std::string variant_table(const ScanReport& report, const Style& style, std::size_t columns) {
  const std::vector<std::size_t> widths = column_widths(report.parameters);
  std::size_t verdicts = 7;
  for (const ScanVariant& variant : report.variants) {
    verdicts = std::max(verdicts, evaluate::name(variant.evaluation.verdict).size());
  }
  std::string head;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    head += pad_left(report.parameters.at(i).name, widths.at(i) + 1);
  }
  const std::size_t before = head.size() + 30 + verdicts + 2;  // of a remark
  std::string out = style.dim(head + "   speedup  95% interval      verdict") + "\n";
  for (const ScanVariant& variant : report.variants) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      out += pad_left(std::to_string(variant.values.at(i)), widths.at(i) + 1);
    }
    const evaluate::TimeResult* time =
        eligible(variant) ? evaluate::deciding_time(variant.evaluation) : nullptr;
    out += pad_left(time != nullptr ? util::human_ratio(time->ratio.point) : "-", 10) + "  ";
    out += pad_right(time != nullptr ? bounds_text(time->ratio) : "-", 18);
    std::string said = row_remark(report, variant);
    if (columns > before + 10 && said.size() > columns - before) {
      said = util::to_valid_utf8(said.substr(0, columns - before - 2)) + "..";
    }
    out += said.empty()
               ? painted_name(variant.evaluation, style)
               : pad_right(painted_name(variant.evaluation, style), verdicts + 2) + style.dim(said);
    out += "\n";
  }
  return out;
}

// "//@ const ROWS = 8, COLS = 4"
std::string const_line(const ScanReport& report) {
  std::string out;
  const std::vector<std::int64_t>& values = report.variants.front().values;
  for (std::size_t i = 0; i < report.parameters.size(); ++i) {
    out += fmt::format(
        "{}{} = {}", out.empty() ? "//@ const " : ", ", report.parameters.at(i).name, values.at(i));
  }
  return out;
}

// What stands below the winner's second session.
std::string winner_text(const ScanReport& report, const Style& style, std::size_t width) {
  const ScanVariant& winner = report.variants.front();
  std::string out;
  const auto item = [&](std::string_view word, const std::string& text) {
    out += style.dim(pad_right(" " + std::string(word), 9)) + wrapped(text, 9, width).substr(9);
  };
  const evaluate::TimeResult* again = evaluate::deciding_time(*report.confirmation);
  item("scan",
       fmt::format("{} in the scan, {} again",
                   interval_text(evaluate::deciding_time(winner.evaluation)->ratio),
                   again != nullptr ? interval_text(again->ratio)
                                    : std::string(evaluate::name(report.confirmation->verdict))));
  if (evaluate::deciding_time(winner.evaluation)->replicates == 1) {
    item(
        "close",
        "one replicate (--fast): the intervals leave out how processes differ, so the order of the "
        "table is a guess");
  } else if (const std::size_t close = not_told_apart(report.variants); close > 0) {
    item("close",
         fmt::format(
             "{} of the others {} not told apart from it: the intervals in the table overlap",
             close,
             close == 1 ? "is" : "are"));
  }
  if (report.in_file == winner.values) {
    item("keep", "the file as it is");
  } else if (report.confirmation->outcome() == Outcome::correct) {
    item("keep", const_line(report));
  }
  return out;
}

nlohmann::json values_json(const ScanReport& report, const std::vector<std::int64_t>& values) {
  nlohmann::json out = nlohmann::json::object();
  for (std::size_t i = 0; i < report.parameters.size(); ++i) {
    out[report.parameters.at(i).name] = values.at(i);
  }
  return out;
}

}  // namespace

std::string variant_line(const ScanReport& report, const ScanVariant& variant) {
  const evaluate::TimeResult* time =
      eligible(variant) ? evaluate::deciding_time(variant.evaluation) : nullptr;
  return fmt::format("{}: {}{}",
                     values_text(report.parameters, variant.values),
                     evaluate::name(variant.evaluation.verdict),
                     time != nullptr ? " " + interval_text(time->ratio) : "");
}

std::string scan_text(const ScanReport& report, const Style& style, std::size_t width) {
  const ScanVariant& first = report.variants.front();
  const std::string versus = first.evaluation.versus;
  std::string out = wrapped(fmt::format("{}   {} of {} variants judged, each timed against {}",
                                        util::printable(report.file),
                                        report.variants.size(),
                                        report.planned,
                                        versus.empty() ? "the seed" : util::printable(versus)),
                            1,
                            width);
  out += "\n" + variant_table(report, style, width) + "\n";
  if (!report.confirmation) {
    return out + wrapped("no variant is correct and timed; the first of the table:", 1, width) +
           "\n" + eval_text(first.evaluation, style, width);
  }
  if (eligible_count(report) > 1) {
    out += wrapped(kSelection, 1, width) + "\n";
  }
  out += style.strong(values_text(report.parameters, first.values)) + " again\n" +
         eval_text(*report.confirmation, style, width) + winner_text(report, style, width);
  return out;
}

std::string scan_line(const ScanReport& report, const Style& style) {
  const ScanVariant& first = report.variants.front();
  return values_text(report.parameters, first.values) + "   " +
         verdict_line(report.confirmation ? *report.confirmation : first.evaluation, style);
}

nlohmann::json to_json(const ScanReport& report) {
  nlohmann::json parameters = nlohmann::json::array();
  for (const ScanParameter& parameter : report.parameters) {
    parameters.push_back({{"name", parameter.name}, {"values", parameter.values}});
  }
  nlohmann::json variants = nlohmann::json::array();
  for (const ScanVariant& variant : report.variants) {
    variants.push_back(
        {{"values", values_json(report, variant.values)},
         {"eligible", eligible(variant)},
         {"evaluation", evaluate::to_json(variant.evaluation, evaluate::View::archive)}});
  }
  const bool won = report.confirmation.has_value();
  const nlohmann::json none;
  return {{"schema", 1},
          {"scan",
           {{"file", util::to_valid_utf8(report.file)},
            {"parameters", std::move(parameters)},
            {"in_file", report.in_file ? values_json(report, *report.in_file) : none},
            {"planned", report.planned},
            {"variants", std::move(variants)},
            {"winner", won ? values_json(report, report.variants.front().values) : none},
            {"not_told_apart", not_told_apart(report.variants)},
            {"note", kSelection},
            {"confirmation",
             won ? evaluate::to_json(*report.confirmation, evaluate::View::archive) : none}}},
          {"requirements", to_json(report.requirements)}};
}

int scan_exit_code(const ScanReport& report) {
  const bool infra = std::ranges::any_of(report.variants, [](const ScanVariant& variant) {
    return variant.evaluation.outcome() == Outcome::infra_error;
  });
  return infra                  ? kInfra
         : !report.confirmation ? kNotCorrect
                                : eval_exit_code(*report.confirmation, report.requirements);
}

}  // namespace sweep::cli

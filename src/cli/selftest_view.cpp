#include "cli/selftest_view.h"

#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace sweep::cli {

using nlohmann::json;

namespace {

// Shown in the matrix: the first, and that there are more.
std::string short_names(const std::vector<evaluate::Verdict>& verdicts) {
  return verdicts.empty() ? ""
         : verdicts.size() == 1
             ? std::string(evaluate::name(verdicts.front()))
             : fmt::format("{} +{}", evaluate::name(verdicts.front()), verdicts.size() - 1);
}

std::string names_of(const std::vector<evaluate::Defence>& defences) {
  std::string text;
  for (const evaluate::Defence defence : defences) {
    text += (text.empty() ? "" : ", ") + std::string(evaluate::name(defence));
  }
  return text;
}

std::string painted(const Style& style, Fate fate, std::string_view text) {
  switch (fate) {
    case Fate::caught:
    case Fate::harmless:
    case Fate::right:
      return style.good(text);
    case Fate::otherwise:
    case Fate::gap:
    case Fate::closed_gap:
      return style.warn(text);
    case Fate::not_run:
      return style.dim(text);
    case Fate::passed:
    case Fate::refused:
    case Fate::broken:
      return style.bad(text);
  }
  return std::string(text);
}

std::string verdict_of(const Finding& finding) {
  return finding.verdict ? std::string(evaluate::name(*finding.verdict)) : "-";
}

// What stands in the last column.
std::string remark(const Finding& finding) {
  switch (finding.fate) {
    case Fate::caught:
      return names_of(finding.caught_by);
    case Fate::harmless:
      return "nothing left to gain: " + names_of(finding.specimen->defences);
    case Fate::otherwise:
      return fmt::format(
          "{}; expected {}", names_of(finding.caught_by), names_of(finding.specimen->defences));
    case Fate::gap:
      return "known gap: " + names_of(finding.specimen->defences);
    case Fate::closed_gap:
      return "caught now: take it out of KNOWN_GAPS";
    case Fate::right:
      return fmt::format("{:.1f} s", finding.seconds);
    case Fate::passed:
    case Fate::refused:
    case Fate::not_run:
    case Fate::broken:
      return finding.text;
  }
  return "";
}

std::string share_line(const char* what, const Rate& rate) {
  if (rate.of == 0) {
    return fmt::format(" {}  none was judged\n", pad_right(what, 34));
  }
  return fmt::format(" {}  {:>3} of {:<3}  {:5.1f}%   95% interval [{:.1f}%, {:.1f}%]\n",
                     pad_right(what, 34),
                     rate.count,
                     rate.of,
                     100 * rate.share,
                     100 * rate.low,
                     100 * rate.high);
}

json rate_to_json(const Rate& rate) {
  return {{"count", rate.count},
          {"of", rate.of},
          {"share", rate.share},
          {"low", rate.low},
          {"high", rate.high}};
}

json to_json(const Finding& finding) {
  json expected = json::array();
  for (const evaluate::Verdict verdict : finding.specimen->expected) {
    expected.push_back(evaluate::name(verdict));
  }
  json named = json::array();
  for (const evaluate::Defence defence : finding.specimen->defences) {
    named.push_back(evaluate::name(defence));
  }
  json caught = json::array();
  for (const evaluate::Defence defence : finding.caught_by) {
    caught.push_back(evaluate::name(defence));
  }
  return {{"name", finding.specimen->name},
          {"exploit", finding.specimen->exploit},
          {"what", util::to_valid_utf8(finding.specimen->what)},
          {"source", util::to_valid_utf8(finding.specimen->origin)},
          {"stage", evaluate::name(finding.specimen->last)},
          {"expected", std::move(expected)},
          {"defences", std::move(named)},
          {"fate", name(finding.fate)},
          {"verdict", finding.verdict ? json(evaluate::name(*finding.verdict)) : json()},
          {"caught_by", std::move(caught)},
          {"text", util::to_valid_utf8(finding.text)},
          {"seconds", finding.seconds}};
}

}  // namespace

SelftestView::SelftestView(const std::vector<const Specimen*>& specimens,
                           Style style,
                           std::size_t width)
    : style_(style), width_(width) {
  for (const Specimen* specimen : specimens) {
    name_ = std::max(name_, specimen->name.size());
    expected_ = std::max(expected_, short_names(specimen->expected).size());
    for (const evaluate::Verdict verdict : specimen->expected) {
      verdict_ = std::max(verdict_, evaluate::name(verdict).size());
    }
  }
}

std::string SelftestView::head(const std::string& device, const std::string& name) const {
  return style_.strong("Cheats and honest kernels, judged") + "\n " +
         style_.dim(fmt::format("{}   {}", device, util::printable(name))) + "\n";
}

std::string SelftestView::columns(bool exploits) const {
  return "\n" +
         style_.dim(fmt::format(" {}  {}  {}  {}  {}",
                                pad_right(exploits ? "exploit" : "honest", name_),
                                pad_right("expected", expected_),
                                pad_right("verdict", verdict_),
                                pad_right("", 10),
                                exploits ? "by" : "")) +
         "\n";
}

std::string SelftestView::row(const Finding& finding) const {
  const Specimen& specimen = *finding.specimen;
  const std::string expected = short_names(specimen.expected);
  const std::string before = fmt::format(
      " {}  {}  {}  ",
      pad_right(specimen.name, name_),
      style_.dim(pad_right(specimen.exploit || !specimen.runs ? expected : "a PASS", expected_)),
      pad_right(verdict_of(finding), verdict_));
  std::string last = util::printable(remark(finding));
  const std::size_t used = name_ + expected_ + verdict_ + 20;
  if (width_ > used + 8 && last.size() > width_ - used) {
    last = last.substr(0, width_ - used - 2) + "..";
  }
  return before + painted(style_, finding.fate, pad_right(std::string(name(finding.fate)), 10)) +
         "  " +
         (finding.fate == Fate::right || finding.fate == Fate::not_run ? style_.dim(last) : last) +
         "\n";
}

std::string SelftestView::totals(const SelftestResult& result) const {
  std::string text = "\n";
  text += share_line("exploits that did not pass", hit_rate(result));
  text += share_line("honest kernels refused", false_positives(result));
  const auto skipped = std::ranges::count(result.findings, Fate::not_run, &Finding::fate);
  if (skipped > 0) {
    text += style_.dim(fmt::format(" {} not judged: n/a on this device\n", skipped));
  }
  for (const Finding& finding : result.findings) {
    if (finding.bad() || finding.fate == Fate::broken || finding.fate == Fate::closed_gap) {
      text += " " + painted(style_, finding.fate, name(finding.fate)) + "  " +
              finding.specimen->source.file + "\n";
      text += wrapped(util::printable(finding.specimen->what + ": " + finding.text), 4, width_);
    }
  }
  return text;
}

std::string SelftestView::without(const WithoutIt& part) const {
  std::string alone;
  std::size_t others = 0;
  for (const Finding& finding : part.findings) {
    const bool passes = finding.bad();
    others += passes ? 0U : 1U;
    if (passes) {
      alone += (alone.empty() ? "" : ", ") + finding.specimen->name;
    }
  }
  std::string text =
      " " + pad_right(std::string(evaluate::name(part.defence)), 18) + "  " +
      fmt::format("{:>2} of {:<2} pass  ", part.findings.size() - others, part.findings.size());
  const std::string first = alone.empty() ? style_.dim("all caught by something else") : alone;
  text += first + "\n";
  for (const Finding& finding : part.findings) {
    if (!finding.bad()) {
      text += style_.dim(fmt::format("   {}  {}  {}",
                                     pad_right(finding.specimen->name, name_),
                                     pad_right(verdict_of(finding), verdict_),
                                     finding.caught_by.empty() ? std::string(name(finding.fate))
                                                               : names_of(finding.caught_by))) +
              "\n";
    }
  }
  return text;
}

json to_json(const SelftestResult& result) {
  json findings = json::array();
  for (const Finding& finding : result.findings) {
    findings.push_back(to_json(finding));
  }
  json turns = json::array();
  for (const WithoutIt& part : result.off_in_turn) {
    json list = json::array();
    for (const Finding& finding : part.findings) {
      list.push_back(to_json(finding));
    }
    turns.push_back({{"defence", evaluate::name(part.defence)}, {"kernels", std::move(list)}});
  }
  return {{"schema", 1},
          {"device", result.device},
          {"device_name", util::to_valid_utf8(result.device_name)},
          {"version", result.version},
          {"kernels", std::move(findings)},
          {"hit_rate", rate_to_json(hit_rate(result))},
          {"false_positives", rate_to_json(false_positives(result))},
          {"off_in_turn", std::move(turns)},
          {"seconds", result.seconds}};
}

}  // namespace sweep::cli

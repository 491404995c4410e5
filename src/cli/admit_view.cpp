#include "cli/admit.h"
#include "util/text.h"

#include <fmt/format.h>

namespace sweep::cli {

namespace {

using evaluate::admission::RuleResult;
using evaluate::admission::State;

constexpr std::size_t kIndent = 29;

std::string state_text(const RuleResult& rule, const Style& style) {
  const std::string text = pad_right(std::string(evaluate::admission::name(rule.state)), 13);
  return rule.state == State::holds   ? style.good(text)
         : rule.state == State::fails ? style.bad(text)
                                      : style.dim(text);
}

// `text` behind `head`, which has kIndent columns; later lines below its start.
std::string hanging(const std::string& head, const std::string& text, std::size_t columns) {
  return head + wrapped(util::printable(text), kIndent, columns).substr(kIndent);
}

std::string rule_text(const RuleResult& rule, const Style& style, std::size_t columns) {
  const auto number = static_cast<int>(rule.rule) + 1;
  const std::string name(evaluate::admission::info(rule.rule).name);
  std::string out =
      hanging(fmt::format("  {} {}  {} ", number, pad_right(name, 9), state_text(rule, style)),
              rule.worst,
              columns);
  const std::string margin(kIndent - 2, ' ');
  for (const std::string& failure : rule.failures) {
    out += hanging(margin + style.bad("- "), failure, columns);
  }
  return rule.next.empty() ? out : out + hanging(margin + style.strong("> "), rule.next, columns);
}

}  // namespace

std::string admission_text(const admit::Admission& admission,
                           const std::string& title,
                           const Style& style,
                           std::size_t columns) {
  const bool whole = admission.rules.size() == evaluate::admission::rules().size();
  std::string verdict;
  if (!admission.failure.empty() || whole) {
    verdict = admission.admitted() ? style.good("admitted") : style.bad("NOT ADMITTED");
  }
  std::string out =
      fmt::format("{}  {}  {}\n", style.strong(admission.problem), util::printable(title), verdict);
  if (!admission.failure.empty()) {
    out += "  " + util::printable(admission.failure) + '\n';
  }
  for (const RuleResult& rule : admission.rules) {
    out += rule_text(rule, style, columns);
  }
  return out;
}

}  // namespace sweep::cli

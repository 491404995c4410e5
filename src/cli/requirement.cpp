#include "cli/requirement.h"

#include "cli/command.h"
#include "cli/timing_text.h"
#include "evaluate/confirmation.h"
#include "util/error.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace sweep::cli {

using evaluate::Evaluation;
using evaluate::Outcome;
using evaluate::Stage;
using evaluate::Verdict;

namespace {

constexpr std::string_view kSpeedup = "speedup";
constexpr std::string_view kBlanks = " \t";
constexpr std::array kWords = {
    std::pair<std::string_view, Requirement::Kind>{"correct", Requirement::Kind::correct},
    std::pair<std::string_view, Requirement::Kind>{"not-slower", Requirement::Kind::not_slower},
    std::pair<std::string_view, Requirement::Kind>{"faster", Requirement::Kind::faster}};

[[noreturn]] void malformed(const std::string& text, std::size_t at, const std::string& what) {
  throw util::UsageError({fmt::format("--require '{}'", util::printable(text)),
                          fmt::format("column {}: {}", at + 1, what),
                          "write correct, not-slower, faster or e.g. speedup>=1.2"},
                         "E_EVAL_REQUIRE");
}

[[noreturn]] void unknown_word(const std::string& text, std::size_t at, const std::string& word) {
  std::vector<std::string> known{std::string(kSpeedup)};
  for (const auto& [name, kind] : kWords) {
    known.emplace_back(name);
  }
  const auto near = util::closest(word, known);
  malformed(text,
            at,
            "unknown word '" + util::printable(word) + "'" +
                (near ? "; did you mean '" + *near + "'?" : ""));
}

// The number from `at` to the end of the text.
double least_of(const std::string& text, std::size_t at) {
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks, at), text.size());
  const std::size_t end = text.find_last_not_of(kBlanks) + 1;
  double value = 0;
  const char* first = text.data() + begin;
  const auto parsed = begin < end ? std::from_chars(first, text.data() + end, value)
                                  : std::from_chars_result{first, std::errc::invalid_argument};
  if (parsed.ec != std::errc{} || !std::isfinite(value)) {
    malformed(text, begin, "a number must stand here");
  }
  if (value <= 0) {
    malformed(text, begin, "a speedup is above 0");
  }
  const auto rest = static_cast<std::size_t>(parsed.ptr - text.data());
  if (rest != end) {
    malformed(
        text, rest, "'" + util::printable(text.substr(rest, end - rest)) + "' behind the number");
  }
  return value;
}

bool conclusive(Verdict verdict) {
  return verdict == Verdict::pass_faster || verdict == Verdict::pass_equivalent ||
         verdict == Verdict::pass_slower;
}

constexpr std::string_view kCpu =
    "a timing of the cpu device decides nothing about speed, require 'correct' there";

// Why a verdict that says nothing about speed does not.
std::string open_reason(const Evaluation& e) {
  if (e.verdict == Verdict::unstable) {
    return "the machine drifted too much for a timing";
  }
  return e.depth == evaluate::Depth::fast ? "--fast never says FASTER" : "the speed was left open";
}

// Empty where a correct kernel's timing meets the requirement, else why it does not.
std::string shortfall(const Requirement& requirement,
                      const Evaluation& e,
                      const evaluate::TimeResult* time) {
  if (time == nullptr) {
    return "it was not timed";
  }
  if (!conclusive(e.verdict)) {
    return open_reason(e);
  }
  switch (requirement.kind) {
    case Requirement::Kind::correct:
      return "";
    case Requirement::Kind::faster:
      return e.verdict == Verdict::pass_faster ? "" : "not faster beyond doubt and margin";
    case Requirement::Kind::not_slower:
      return e.verdict == Verdict::pass_slower ? "slower beyond doubt and margin" : "";
    case Requirement::Kind::speedup:
      return time->ratio.low >= requirement.least
                 ? ""
                 : fmt::format("the interval begins at {:.4f}", time->ratio.low);
  }
  return "";
}

}  // namespace

Requirement parse_requirement(const std::string& text) {
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  const std::size_t end = std::min(text.find_first_of(" \t<>=!", begin), text.size());
  const std::string word = text.substr(begin, end - begin);
  std::size_t next = std::min(text.find_first_not_of(kBlanks, end), text.size());
  if (word.empty()) {
    malformed(text, begin, "a word must stand here");
  }
  if (word == kSpeedup) {
    if (text.compare(next, 2, ">=") != 0) {
      malformed(text, next, "'speedup' is followed by >= and a number");
    }
    return {Requirement::Kind::speedup, least_of(text, next + 2), text};
  }
  const auto* found =
      std::ranges::find(kWords, word, &std::pair<std::string_view, Requirement::Kind>::first);
  if (found == kWords.end()) {
    unknown_word(text, begin, word);
  }
  if (next != text.size()) {
    malformed(text, next, "'" + word + "' stands alone");
  }
  return {found->second, 0, text};
}

void require_decidable(const Requirement& requirement, std::optional<Stage> only) {
  const bool correct = requirement.kind == Requirement::Kind::correct;
  const bool decides =
      correct ? only != Stage::screen && only != Stage::compile : !only || only == Stage::time;
  if (!decides) {
    throw util::UsageError(
        {fmt::format("--require '{}'", requirement.text),
         fmt::format(
             "--only {} does not {} the kernel", evaluate::name(*only), correct ? "run" : "time"),
         "leave one of the two out"},
        "E_EVAL_REQUIRE");
  }
}

RequirementResult examine(const Requirement& requirement, const Evaluation& e) {
  RequirementResult result{requirement.text, std::nullopt, std::string(evaluate::name(e.verdict))};
  if (e.outcome() == Outcome::infra_error) {
    return result;
  }
  if (e.outcome() != Outcome::correct) {
    result.met = false;
    return result;
  }
  if (!e.judged()) {
    result.met = false;
    result.found = "a kernel that was not run";
    return result;
  }
  const evaluate::TimeResult* time = evaluate::deciding_time(e);
  if (time != nullptr) {
    result.found += " " + interval_text(time->ratio);
  }
  std::string reason =
      requirement.kind == Requirement::Kind::correct ? "" : shortfall(requirement, e, time);
  if (!reason.empty() && e.device == "cpu") {
    reason = time != nullptr && conclusive(e.verdict) ? fmt::format("{}; {}", reason, kCpu) : kCpu;
  }
  result.met = reason.empty();
  result.found += reason.empty() ? "" : ": " + reason;
  return result;
}

std::vector<RequirementResult> examine_all(const std::vector<Requirement>& requirements,
                                           const Evaluation& evaluation) {
  std::vector<RequirementResult> results;
  for (const Requirement& requirement : requirements) {
    results.push_back(examine(requirement, evaluation));
  }
  return results;
}

std::string requirements_text(const std::vector<RequirementResult>& results,
                              const Style& style,
                              std::size_t width) {
  std::string out;
  for (const RequirementResult& result : results) {
    const std::string state = !result.met   ? style.warn("not known")
                              : *result.met ? style.good("met")
                                            : style.bad("not met");
    out += wrapped(fmt::format("required {}: {}; found {}",
                               util::printable(result.text),
                               state,
                               util::printable(result.found)),
                   1,
                   width);
  }
  return out;
}

nlohmann::json to_json(const std::vector<RequirementResult>& results) {
  nlohmann::json out = nlohmann::json::array();
  for (const RequirementResult& result : results) {
    out.push_back({{"requirement", util::to_valid_utf8(result.text)},
                   {"met", result.met ? nlohmann::json(*result.met) : nlohmann::json(nullptr)},
                   {"found", result.found}});
  }
  return out;
}

int eval_exit_code(const Evaluation& evaluation, const std::vector<RequirementResult>& results) {
  if (evaluation.outcome() == Outcome::infra_error) {
    return kInfra;
  }
  if (evaluation.outcome() != Outcome::correct) {
    return kNotCorrect;
  }
  const bool met = std::ranges::all_of(
      results, [](const RequirementResult& result) { return result.met == true; });
  return met ? kDone : kNotMet;
}

}  // namespace sweep::cli

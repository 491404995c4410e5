#include "report/words.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace sweep::report {

namespace {

using Words = std::pair<std::string_view, std::string_view>;

constexpr std::array kOutcomes{Words("correct", "correct"),
                               Words("incorrect", "incorrect"),
                               Words("compile_fail", "does not compile"),
                               Words("error", "fault while running"),
                               Words("timeout", "timed out"),
                               Words("rejected", "rejected"),
                               Words("skipped", "skipped"),
                               Words("infra_error", "lost to infrastructure"),
                               Words("in_progress", "in progress"),
                               Words("unfinished", "unfinished"),
                               Words("queued", "queued"),
                               Words("not_started", "not started"),
                               Words("unreadable", "unreadable")};

constexpr std::array kStandings{Words("PASS_FASTER", "faster"),
                                Words("PASS_EQUIVALENT", "equivalent"),
                                Words("PASS_SLOWER", "slower"),
                                Words("UNSTABLE", "unstable")};

template <class List>
std::string_view find(const List& list, std::string_view name) {
  for (const auto& [key, words] : list) {
    if (key == name) {
      return words;
    }
  }
  return {};
}

// Nothing was handed in, so nothing ran: words only, or an endpoint that failed.
bool no_kernel(const Row& row) {
  return row.outcome == "error" && !row.has_result;
}

}  // namespace

std::string outcome_words(const std::string& outcome) {
  const std::string_view words = find(kOutcomes, outcome);
  return words.empty() ? outcome : std::string(words);
}

std::string stop_words(const std::string& reason) {
  struct Word {
    std::string_view reason;
    std::string_view meaning;
  };

  constexpr std::array<Word, 9> words = {
      Word{"submitted", "the model handed in"},
      Word{"first_correct", "a version that was tried is correct"},
      Word{"turns", "its turns were used up"},
      Word{"policy_stop",
           "the same text to the same tool again, or answers that were cut again and again"},
      Word{"endpoint", "the endpoint failed for good, or its answer could not be used"},
      Word{"timeout", "its time was over"},
      Word{"infra", "the judge or the machine failed"},
      Word{"interrupted", "the sweep was stopped"},
      Word{"budget", "the run's budget was spent"}};
  for (const Word& word : words) {
    if (word.reason == reason) {
      return std::string(word.meaning) + " (" + reason + ")";
    }
  }
  return reason;
}

std::string standing(const Row& row) {
  if (no_kernel(row)) {
    return "no kernel";
  }
  if (row.outcome != "correct") {
    return outcome_words(row.outcome);
  }
  const std::string_view words = row.has_result ? find(kStandings, row.verdict) : "";
  return words.empty() ? "inconclusive" : std::string(words);
}

std::string tone(const Row& row) {
  if (row.outcome == "correct") {
    const std::string words = standing(row);
    return words == "unstable" ? "inconclusive" : words;
  }
  if (no_kernel(row)) {
    return "";
  }
  return find(kOutcomes, row.outcome).empty() ? "" : row.outcome;
}

std::string command_of(const Row& row) {
  constexpr std::string_view from = "sweep eval kernel.cu";
  constexpr std::string_view page_end = ".html";
  const std::string& command = row.reproduce;
  const std::string& page = row.page;
  if (!command.starts_with(from) || !page.starts_with("t/") || !page.ends_with(page_end)) {
    return command;
  }
  return "sweep eval " + page.substr(2, page.size() - 2 - page_end.size()) + "_kernel.cu" +
         command.substr(from.size());
}

std::string without_secrets(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
  const std::size_t path = std::min(url.find_first_of("/?#", host), url.size());
  const std::size_t user = url.rfind('@', path);
  const std::size_t from =
      user != std::string::npos && user >= host && user < path ? user + 1 : host;
  return url.substr(0, host) +
         url.substr(from, std::min(url.find_first_of("?#", from), url.size()) - from);
}

Markup badge(const Row& row, const std::string& words) {
  return element("span", {{"class", "badge " + tone(row)}}, text(words));
}

}  // namespace sweep::report

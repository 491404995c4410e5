// What is asked of a model that answers: tools, a long prompt, many requests.
#include "cli/probe.h"
#include "endpoint/json.h"
#include "util/clock.h"
#include "util/text.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

using endpoint::Json;
using endpoint::Speaker;

constexpr int kFillerLines = 400;  // about 15 tokens each
constexpr std::size_t kMaxThreads = 256;

const endpoint::ToolDefinition kTool = {
    "report_word",
    "Reports one word.",
    R"({"type":"object","properties":{"word":{"type":"string","description":"The word."}},"required":["word"]})"};

// A word that no server has ready: "amber-4821".
std::string fresh_word(std::string_view word) {
  std::random_device random;
  return fmt::format("{}-{}", word, std::uniform_int_distribution(1000, 9999)(random));
}

std::string small_letters(std::string_view text) {
  std::string out(util::trim(text));
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

// The word of a call that is as the schema says.
std::optional<std::string> reported_word(const endpoint::Completion& answer) {
  for (const endpoint::ToolCall& call : answer.message.calls) {
    const auto arguments = endpoint::parse_json(call.arguments);
    if (call.name == kTool.name && call.problem.empty() && arguments && arguments->is_object() &&
        arguments->contains("word") && arguments->at("word").is_string()) {
      return small_letters(arguments->at("word").get<std::string>());
    }
  }
  return std::nullopt;
}

// Two turns in which `word` was to be reported and `receipt` stood in the tool's result.
ProbeCheck judge_tools(const ProbeSubject& subject,
                       const endpoint::Completion& first,
                       const endpoint::Completion& second,
                       const std::string& word,
                       const std::string& receipt) {
  const auto warned = [](std::string text, const char* next) {
    return ProbeCheck{"tools", CheckState::warn, std::move(text), next};
  };
  if (first.message.calls.front().from_text) {
    return warned("the call came in the text, not in tool_calls",
                  "start the server with the tool-call parser of this model");
  }
  const auto reported = reported_word(first);
  if (!reported) {
    return warned("called, but not as the schema says: " +
                      util::printable(first.message.calls.front().arguments.substr(0, 60)),
                  "expect calls that are answered with an error");
  }
  if (*reported != word && !subject.scripted) {
    return warned(
        fmt::format("called with \"{}\" where \"{}\" was asked for",
                    util::printable(reported->substr(0, 40)),
                    word),
        "the model or the server's tool-call parser changes arguments: expect wrong calls");
  }
  if (small_letters(second.message.text).find(receipt) == std::string::npos && !subject.scripted) {
    return warned(
        fmt::format("called, but turn 2 does not repeat \"{}\" of the tool's result: \"{}\"",
                    receipt,
                    util::printable(second.message.text.substr(0, 40))),
        "the model may not see results: check the server's chat template");
  }
  return {"tools", CheckState::ok, "called, and the result was read in turn 2", ""};
}

// Reasoning that came in the first answer must be in the second request if the endpoint wants it
// back.
void check_thinking(const endpoint::Completion& first,
                    const endpoint::Exchange* second,
                    ProbedModel& out) {
  const endpoint::Message& message = first.message;
  const bool encrypted = message.raw.find("encrypted_content") != std::string::npos;
  if (message.reasoning.empty() && !encrypted && first.usage.reasoning <= 0) {
    out.checks.push_back({"think", CheckState::none, "no reasoning was seen", ""});
    return;
  }
  std::string text = message.reasoning.empty()
                         ? "not shown"
                         : fmt::format("{} characters seen", message.reasoning.size());
  if (first.usage.reasoning > 0) {
    text += fmt::format(", {} tokens", first.usage.reasoning);
  }
  if (second != nullptr) {
    const std::string quoted = endpoint::dump(Json(message.reasoning.substr(0, 40)));
    const bool back =
        (!message.reasoning.empty() &&
         second->request.find(quoted.substr(1, quoted.size() - 2)) != std::string::npos) ||
        (encrypted && second->request.find("encrypted_content") != std::string::npos);
    text += back ? ", sent back in turn 2" : ", not sent back";
  }
  out.checks.push_back({"think", CheckState::ok, text, ""});
}

struct Load {
  std::mutex mutex;
  std::vector<double> seconds;
  std::map<std::string, std::size_t> failures;  // by kind
  std::int64_t tokens = 0;

  void add(const std::variant<endpoint::Completion, endpoint::EndpointFailure>& result) {
    const std::lock_guard lock(mutex);
    if (const auto* failure = std::get_if<endpoint::EndpointFailure>(&result)) {
      ++failures[std::string(endpoint::name(failure->kind))];
      return;
    }
    const auto& answer = std::get<endpoint::Completion>(result);
    seconds.push_back(answer.seconds);
    tokens += std::max<std::int64_t>(answer.usage.output, 0);
  }

  // Of all so far: "38 of 40 answered, median 1.2 s, slowest 3.4 s, 210 tokens/s; 2 rate_limited".
  [[nodiscard]] std::string text(double took) const {
    std::size_t bad = 0;
    std::string kinds;
    for (const auto& [kind, count] : failures) {
      bad += count;
      kinds += fmt::format("; {} {}", count, kind);
    }
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    std::string out = fmt::format("{} of {} answered", sorted.size(), sorted.size() + bad);
    if (!sorted.empty()) {
      out += fmt::format(", median {}, slowest {}, {:.0f} tokens/s",
                         util::human_seconds(sorted[sorted.size() / 2]),
                         util::human_seconds(sorted.back()),
                         static_cast<double>(tokens) / std::max(took, 0.001));
    }
    return out + kinds;
  }
};

endpoint::Conversation short_question(std::size_t number) {
  return {
      {Speaker::user, fmt::format("sweep probe {}: reply with the single word ready.", number)}};
}

std::string mend_load(const Load& load, std::size_t concurrency) {
  if (load.failures.contains("rate_limited")) {
    return fmt::format("set rpm, tpm or max_concurrency below {} in [[models]]", concurrency);
  }
  return "lower max_concurrency in [[models]], or ask whoever runs the server";
}

}  // namespace

void check_tools(const ProbeSubject& subject, ProbedModel& out) {
  const std::string word = fresh_word("amber");
  const std::string receipt = fresh_word("cedar");
  endpoint::Conversation conversation = {
      {Speaker::user,
       "sweep probe: call the tool report_word once with the word " + word +
           ". Do not answer in text."}};
  auto result = subject.ask(conversation, {kTool}, subject.target.stream);
  const auto called = [&] {
    const auto* answer = std::get_if<endpoint::Completion>(&result);
    return answer != nullptr && !answer->message.calls.empty();
  };
  if (std::holds_alternative<endpoint::Completion>(result) && !called() && !subject.scripted) {
    result = subject.ask(conversation, {kTool}, subject.target.stream, nullptr, true);
  }
  if (const auto* failure = std::get_if<endpoint::EndpointFailure>(&result)) {
    out.checks.push_back(failed_check("tools", *failure));
    return;
  }
  const auto& first = std::get<endpoint::Completion>(result);
  if (!called()) {
    const bool script = subject.scripted;
    out.checks.push_back({"tools",
                          script ? CheckState::none : CheckState::fail,
                          script ? "a script says what it says" : "no tool call came",
                          script ? ""
                                 : "start the server with its tool-call parser (vLLM: "
                                   "--enable-auto-tool-choice --tool-call-parser), or take a model "
                                   "that has tools"});
    check_thinking(first, nullptr, out);
    return;
  }
  conversation.push_back(first.message);
  for (const endpoint::ToolCall& call : first.message.calls) {
    conversation.push_back(
        {Speaker::tool,
         "Reported. The receipt is " + receipt + ". Reply with the receipt alone.",
         "",
         {},
         call.id,
         call.name,
         ""});
  }
  endpoint::Exchange second;
  const auto again = subject.ask(conversation, {kTool}, subject.target.stream, &second);
  if (const auto* failure = std::get_if<endpoint::EndpointFailure>(&again)) {
    out.checks.push_back(failed_check("tools", *failure));
    out.checks.back().text = "turn 2, which sends the call back: " + out.checks.back().text;
    return;
  }
  out.checks.push_back(
      judge_tools(subject, first, std::get<endpoint::Completion>(again), word, receipt));
  check_thinking(first, &second, out);
}

void check_context(const ProbeSubject& subject, ProbedModel& out) {
  std::string text = "The code word is marigold-417. It stands only here.\n";
  for (int line = 1; line <= kFillerLines; ++line) {
    text += fmt::format("Line {}: the quick brown fox jumps over the lazy dog again.\n", line);
  }
  text += "Reply with the code word from the first line and nothing else.";
  const auto result = subject.ask({{Speaker::user, text}}, {}, subject.target.stream);
  if (const auto* failure = std::get_if<endpoint::EndpointFailure>(&result)) {
    out.checks.push_back(failed_check("context", *failure));
    return;
  }
  const auto& answer = std::get<endpoint::Completion>(result);
  // Tokenizers of today make 3 to 6 bytes a token of such a text.
  const auto least = static_cast<std::int64_t>(text.size() / 7);
  ProbeCheck check{"context", CheckState::ok, "", ""};
  if (answer.usage.estimated) {
    check.state = CheckState::none;
    check.text = "the endpoint counts no tokens, so nothing can be said";
  } else if (answer.usage.input < least) {
    check.state = CheckState::fail;
    check.text =
        fmt::format("{} bytes were sent, {} tokens counted: the front was cut off silently",
                    text.size(),
                    answer.usage.input);
    check.next = "raise the server's context (Ollama: OLLAMA_CONTEXT_LENGTH; llama.cpp: -c)";
  } else if (answer.message.text.find("marigold") == std::string::npos && !subject.scripted) {
    check.state = CheckState::warn;
    check.text =
        fmt::format("{} tokens counted, but the first line was not read back", answer.usage.input);
    check.next = "check the server's context size and the model's chat template";
  } else {
    check.text = fmt::format("{} tokens sent and counted", answer.usage.input);
  }
  out.checks.push_back(std::move(check));
}

void check_stress(const ProbeSubject& subject, std::size_t concurrency, ProbedModel& out) {
  concurrency = std::clamp<std::size_t>(concurrency, 1, kMaxThreads);
  const std::size_t wanted = 2 * concurrency;
  Load load;
  std::atomic<std::size_t> next{0};
  util::RealClock clock;
  const double start = clock.monotonic();
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < concurrency; ++i) {
    threads.emplace_back([&] {
      for (std::size_t number = next++; number < wanted; number = next++) {
        load.add(subject.ask(short_question(number), {}, subject.target.stream, nullptr, false, 1));
      }
    });
  }
  threads.clear();
  const bool good = load.failures.empty();
  out.checks.push_back(
      {"stress",
       good                   ? CheckState::ok
       : load.seconds.empty() ? CheckState::fail
                              : CheckState::warn,
       fmt::format("{} at once: ", concurrency) + load.text(clock.monotonic() - start),
       good ? "" : mend_load(load, concurrency)});
}

void check_soak(const ProbeSubject& subject, double minutes, ProbedModel& out) {
  Load load;
  util::RealClock clock;
  const double start = clock.monotonic();
  for (std::size_t number = 0; clock.monotonic() - start < minutes * 60; ++number) {
    load.add(subject.ask(short_question(number), {}, subject.target.stream, nullptr, false, 1));
  }
  const bool good = load.failures.empty();
  out.checks.push_back({"soak",
                        good                   ? CheckState::ok
                        : load.seconds.empty() ? CheckState::fail
                                               : CheckState::warn,
                        fmt::format("{:.3g} min: ", minutes) + load.text(clock.monotonic() - start),
                        good ? "" : mend_load(load, 1)});
}

}  // namespace sweep::cli

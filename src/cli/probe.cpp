#include "cli/probe.h"

#include "cli/style.h"
#include "endpoint/base_url.h"
#include "endpoint/builtin.h"
#include "endpoint/failure.h"
#include "endpoint/profile.h"
#include "endpoint/target.h"
#include "http/client.h"
#include "util/clock.h"
#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

constexpr double kPatience = 60;           // seconds of a question and its second try
constexpr std::int64_t kMaxOutput = 2048;  // enough for a model that thinks before a short answer
const endpoint::Conversation kQuestion = {
    {endpoint::Speaker::user, "sweep probe: reply with the single word ready."}};

void note_timing(const endpoint::Completion& answer, ProbedModel& out) {
  out.first_byte_s = answer.first_byte_seconds;
  const double rest = answer.seconds - answer.first_byte_seconds;
  if (answer.usage.output > 1 && rest > 0.001) {
    out.tokens_per_s = static_cast<double>(answer.usage.output) / rest;
  }
}

// Whether a body is one document where a stream was asked for.
bool came_whole(const endpoint::Exchange& exchange) {
  if (exchange.tries.empty()) {
    return false;
  }
  const endpoint::Try& last = exchange.tries.back();
  // The record of a stream that held the key is a document.
  const bool stream = std::ranges::any_of(last.headers, [](const http::Header& header) {
    return header.value.find("event-stream") != std::string::npos;
  });
  return !stream && util::trim(last.response).starts_with('{');
}

std::string stream_text(const endpoint::Completion& answer, ProbedModel& out) {
  note_timing(answer, out);
  return "first byte after " + milliseconds(answer.first_byte_seconds) +
         (out.tokens_per_s           ? fmt::format(", {:.0f} tokens/s", *out.tokens_per_s)
          : answer.usage.output <= 1 ? ", no tokens/s: fewer than two tokens came"
                                     : ", no tokens/s: all came at once");
}

std::string answer_text(const endpoint::Completion& answer) {
  std::string text = fmt::format("\"{}\", {} tokens in {}",
                                 util::printable(answer.message.text.substr(0, 24)),
                                 answer.usage.output,
                                 util::human_seconds(answer.seconds));
  if (answer.usage.estimated) {
    text += ", tokens estimated: the endpoint counts none";
  }
  return text;
}

// One of the two forms of an answer.
std::optional<endpoint::Completion> check_form(const ProbeSubject& subject,
                                               bool stream,
                                               ProbedModel& out) {
  const char* name = stream ? "stream" : "answer";
  endpoint::Exchange exchange;
  const auto result = subject.ask(kQuestion, {}, stream, &exchange);
  if (const auto* failure = std::get_if<endpoint::EndpointFailure>(&result)) {
    // Only the form that the configuration asks for decides.
    if (stream == subject.target.stream) {
      explain_failure(subject, name, *failure, out);
      return std::nullopt;
    }
    out.checks.push_back(failed_check(name, *failure));
    out.checks.back().state = CheckState::warn;
    out.checks.back().next =
        stream ? "leave stream = false in [[models]]" : "leave stream = true in [[models]]";
    return std::nullopt;
  }
  const auto& answer = std::get<endpoint::Completion>(result);
  ProbeCheck check{name, CheckState::ok, answer_text(answer), ""};
  if (answer.message.text.empty()) {
    check.state = CheckState::warn;
    check.text = fmt::format(
        "no text (finish {}), {} tokens", endpoint::name(answer.finish), answer.usage.output);
    check.next = "raise max_tokens if the model thinks longer, or check its chat template";
  }
  if (stream && came_whole(exchange)) {
    check.state = CheckState::warn;
    check.text = "answered whole although a stream was asked";
    check.next = "write stream = false in [[models]], or look for a proxy that gathers answers";
  } else if (stream && check.state == CheckState::ok) {
    check.text = stream_text(answer, out);
  }
  for (const std::string& flag : answer.flags) {
    if (flag.starts_with("param_")) {
      check.state = CheckState::warn;
      check.text += ", " + flag;
      check.next = "the endpoint refuses this parameter: leave it out of [models.sampling]";
    }
  }
  out.checks.push_back(std::move(check));
  return answer;
}

// The key was taken, whatever /models said of it.
void note_key(const ProbeSubject& subject, ProbedModel& out) {
  if (const ProbeCheck* refused = out.find("key")) {
    out.set({"key", CheckState::warn, refused->text + ", but the model took it", ""});
  } else if (subject.target.key.empty()) {
    out.set({"key", CheckState::none, "none is sent", ""});
  } else {
    out.set({"key", CheckState::ok, "accepted", ""});
  }
}

}  // namespace

const ProbeCheck* ProbedModel::find(std::string_view check) const {
  const auto found = std::ranges::find(checks, check, &ProbeCheck::name);
  return found == checks.end() ? nullptr : &*found;
}

void ProbedModel::set(ProbeCheck check) {
  const auto found = std::ranges::find(checks, check.name, &ProbeCheck::name);
  if (found == checks.end()) {
    checks.push_back(std::move(check));
  } else {
    *found = std::move(check);
  }
}

bool ProbedModel::ready() const {
  return std::ranges::none_of(
      checks, [](const ProbeCheck& check) { return check.state == CheckState::fail; });
}

std::variant<endpoint::Completion, endpoint::EndpointFailure> ProbeSubject::ask(
    const endpoint::Conversation& conversation,
    const std::vector<endpoint::ToolDefinition>& tools,
    bool stream,
    endpoint::Exchange* exchange,
    bool tool_required,
    int tries) const {
  util::RealClock clock;
  endpoint::Retry retry;
  retry.max_attempts = tries;
  retry.max_retry_after = 30;
  // A rate limit would be waited out for the whole deadline.
  retry.deadline = tries == 1 ? 0 : std::min(model.request_timeout_s, kPatience);
  endpoint::Settings settings;
  settings.temperature = model.sampling.temperature;
  settings.top_p = model.sampling.top_p;
  settings.seed = model.sampling.seed;
  settings.max_output_tokens = std::min(model.sampling.max_tokens.value_or(kMaxOutput), kMaxOutput);
  settings.reasoning_effort = model.reasoning_effort.value_or("");
  settings.tool_required = tool_required;
  endpoint::Target to = target;
  to.stream = stream;
  return endpoint::connect(std::move(to), retry, {&clock, nullptr, {}, {}})
      ->complete(conversation, tools, settings, {}, exchange);
}

ProbeCheck failed_check(std::string name, const endpoint::EndpointFailure& failure) {
  // The failure's text is "where: what; next".
  const std::string& text = failure.text;
  const auto where = text.find(": ");
  const auto next = text.rfind("; ");
  ProbeCheck out{std::move(name), CheckState::fail, text, ""};
  if (where != std::string::npos && next != std::string::npos && next > where) {
    out.text = text.substr(where + 2, next - where - 2);
    out.next = text.substr(next + 2);
    // Said of a sweep; this is the probe.
    if (const auto see = out.next.find(endpoint::kSeeProbe); see != std::string::npos) {
      out.next.resize(see);
    }
  }
  return out;
}

bool check_answers(const ProbeSubject& subject, ProbedModel& out) {
  const auto first = check_form(subject, subject.target.stream, out);
  if (!first) {
    return false;
  }
  note_key(subject, out);
  if (!first->model.empty() && first->model != subject.target.model) {
    const bool dated = first->model.starts_with(subject.target.model);
    out.checks.push_back(
        {"name",
         dated ? CheckState::ok : CheckState::warn,
         "answers as " + util::printable(first->model.substr(0, 80)),
         dated ? "" : "another model than asked for may have answered: check deployment_name"});
  }
  (void)check_form(subject, !subject.target.stream, out);
  return true;
}

ProbedModel probe_model(const config::Model& model,
                        const std::string& base_url,
                        endpoint::Secret key,
                        const ProbeStages& stages) {
  ProbeSubject subject{model,
                       endpoint::target_of(model, base_url, std::move(key)),
                       !endpoint::builtin_name(model.base_url).empty()};
  const bool chat = subject.target.api == endpoint::Api::chat;
  const std::string url =
      endpoint::request_url(subject.target, chat ? "/chat/completions" : "/responses");
  ProbedModel out;
  out.model = model.name;
  out.url = http::public_url(url);
  out.api = chat ? "Chat Completions" : "Responses";
  out.profile = endpoint::summary(model.endpoint, base_url);
  if (const std::string proxy = http::environment_route(url).proxy; !proxy.empty()) {
    out.proxy = http::public_url(proxy);
  }
  if (!check_reach(subject, out) || !check_answers(subject, out)) {
    return out;
  }
  check_tools(subject, out);
  if (stages.context) {
    check_context(subject, out);
  }
  if (stages.stress) {
    check_stress(subject,
                 stages.concurrency > 0
                     ? stages.concurrency
                     : static_cast<std::size_t>(std::max<std::int64_t>(1, model.max_concurrency)),
                 out);
  }
  if (stages.soak) {
    check_soak(subject, stages.minutes, out);
  }
  return out;
}

}  // namespace sweep::cli

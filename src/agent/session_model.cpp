#include "agent/exchange_record.h"
#include "agent/kept.h"
#include "agent/session.h"
#include "endpoint/json.h"
#include "endpoint/price.h"
#include "record/json.h"
#include "util/clock.h"
#include "util/sha256.h"

#include <algorithm>
#include <cctype>

namespace sweep::agent {
namespace {

using nlohmann::json;

constexpr double kShowSeconds = 1;  // between two looks at an answer that comes

// What identifies a request on replay: everything that decides it, before any adaptation to the
// endpoint.
std::string request_key(const std::string& model,
                        const endpoint::Conversation& conversation,
                        const std::vector<endpoint::ToolDefinition>& tools,
                        const endpoint::Settings& settings) {
  endpoint::Json key = {{"model", model},
                        {"effort", settings.reasoning_effort},
                        {"required", settings.tool_required}};
  for (const endpoint::Message& message : conversation)
    key["messages"].push_back(endpoint::to_json(message));
  for (const endpoint::ToolDefinition& tool : tools)
    key["tools"].push_back({tool.name, tool.description, tool.parameters_json});
  key["sampling"] = {settings.temperature.value_or(-1),
                     settings.top_p.value_or(-1),
                     settings.seed.value_or(-1),
                     settings.max_output_tokens.value_or(-1)};
  return util::sha256_hex(endpoint::dump(key));
}

json attempts_json(const std::vector<endpoint::Attempt>& attempts) {
  json out = json::array();
  for (const endpoint::Attempt& attempt : attempts) {
    out.push_back({{"status", attempt.status},
                   {"outcome", attempt.outcome},
                   {"detail", attempt.detail},
                   {"seconds", attempt.seconds},
                   {"waited", attempt.waited}});
    if (!attempt.partial.empty())
      out.back()["partial"] = attempt.partial;
    if (attempt.lost_input >= 0) {
      out.back()["lost_input"] = attempt.lost_input;
      out.back()["lost_output"] = attempt.lost_output;
    }
  }
  return out;
}

std::vector<endpoint::Attempt> attempts_from(const json& list) {
  std::vector<endpoint::Attempt> out;
  if (list.is_array())
    for (const json& one : list)
      if (one.is_object())
        out.push_back({one.value("status", 0),
                       one.value("outcome", ""),
                       one.value("detail", ""),
                       one.value("seconds", 0.0),
                       one.value("waited", 0.0),
                       one.value("lost_input", std::int64_t{-1}),
                       one.value("lost_output", std::int64_t{-1}),
                       one.value("partial", "")});
  return out;
}

// What the tries cost whose answers were lost.
std::int64_t wasted_nano(const std::vector<endpoint::Attempt>& attempts,
                         const config::Price& price) {
  std::int64_t sum = 0;
  for (const endpoint::Attempt& attempt : attempts) {
    if (attempt.lost_input < 0)
      continue;
    endpoint::Usage lost;
    lost.input = attempt.lost_input;
    lost.output = attempt.lost_output;
    sum = endpoint::add_saturated(sum, endpoint::cost_nano_usd(lost, price));
  }
  return sum;
}

// One entry for each try on the wire; the artifacts belong to the last.
void note_attempts(const std::vector<endpoint::Attempt>& attempts,
                   const record::Finished& finished,
                   const std::string& hash,
                   std::optional<double> first_token,
                   record::Turn& turn) {
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const endpoint::Attempt& attempt = attempts[i];
    const bool last = i + 1 == attempts.size();
    record::Request request;
    request.index = finished.index;
    request.http_status = attempt.status;
    request.error = attempt.outcome == "ok" ? "" : attempt.outcome;
    request.latency_s = attempt.seconds;
    request.wait_s = attempt.waited;
    if (last) {
      request.ledger_hash = hash;
      request.prompt_sha256 = finished.input_sha256;
      request.response_sha256 = finished.output_sha256;
      request.first_token_s = first_token;
    }
    turn.requests.push_back(std::move(request));
  }
}

// Failures that the same request would meet again, by the name in its row.
std::optional<endpoint::FailureKind> lasting_kind(std::string_view error) {
  for (const auto kind :
       {endpoint::FailureKind::context_overflow, endpoint::FailureKind::answer_too_large})
    if (error == endpoint::name(kind))
      return kind;
  return std::nullopt;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  return out;
}

}  // namespace

std::optional<Session::Asked> Session::replay(const std::string& key, record::Turn& turn) {
  if (!replaying_ || services_.again != nullptr)
    return std::nullopt;
  const auto finished = services_.record->finished_request(requests_);
  const std::string error = finished ? finished->facts.value("error", "") : "";
  // Any other request that failed for the endpoint's sake is asked anew.
  const auto final_kind = lasting_kind(error);
  const bool known = finished && finished->key_sha256 == key &&
                     (final_kind || (error.empty() && !finished->output_sha256.empty()));
  if (!known) {
    replaying_ = false;
    return std::nullopt;
  }
  auto attempts = attempts_from(finished->facts.value("attempts", json::array()));
  if (final_kind) {
    endpoint::EndpointFailure failure;
    failure.kind = *final_kind;
    failure.text = finished->facts.value("text", "");
    failure.attempts = std::move(attempts);
    note_attempts(failure.attempts, *finished, "", std::nullopt, turn);
    add_waste(failure.attempts);
    turn.replayed = true;
    ++requests_;
    return failure;
  }
  endpoint::Exchange exchange;
  exchange.request = services_.record->get_artifact(finished->input_sha256);
  exchange.response = services_.record->get_artifact(finished->output_sha256);
  auto answer = services_.endpoint->parse(exchange);
  if (!std::holds_alternative<endpoint::Completion>(answer)) {
    replaying_ = false;
    return std::nullopt;
  }
  auto completion = std::get<endpoint::Completion>(std::move(answer));
  completion.seconds = finished->facts.value("latency_s", 0.0);
  completion.attempts = std::move(attempts);
  note_attempts(completion.attempts, *finished, "", std::nullopt, turn);
  turn.replayed = true;
  ++requests_;
  return completion;
}

record::Spend Session::spend_of(const endpoint::Conversation& conversation) const {
  // Fewer bytes a token than any usual tokenizer has for source text, so that it is no
  // underestimate.
  constexpr std::size_t kBytes = 3;
  constexpr std::int64_t kOutput = 4096;  // tokens of an answer before any is known
  std::size_t bytes = 0;
  for (const endpoint::Message& message : conversation) {
    endpoint::Json one = endpoint::to_json(message);
    one.erase("raw");  // the same again
    bytes += endpoint::dump(one).size();
  }
  for (const endpoint::ToolDefinition& tool : tools_)
    bytes += tool.name.size() + tool.description.size() + tool.parameters_json.size();
  endpoint::Usage most;
  most.input = static_cast<std::int64_t>(bytes / kBytes);
  most.output = settings_.max_output_tokens.value_or(std::max(kOutput, largest_output_));
  return {most.input + most.output, price_ ? endpoint::cost_nano_usd(most, *price_) : 0};
}

std::optional<Session::Asked> Session::ask_once(record::Turn& turn) {
  const endpoint::Conversation conversation = window();
  turn.messages_in = kept_.sent(conversation, turn_number_);
  const std::string key = request_key(model_.deployment_name, conversation, tools_, settings_);
  if (auto known = replay(key, turn))
    return known;
  if (!services_.record->within_budget(spend_of(conversation)))
    return std::nullopt;
  report("model");
  endpoint::Exchange exchange;
  const double waited = services_.record->waited();
  const auto show = [this, next = 0.0](const endpoint::Progress& so_far) mutable {
    const double now = services_.clock->monotonic();
    if (now < next)
      return;
    next = now + kShowSeconds;
    services_.record->streaming({turn_number_,
                                 so_far.reasoning_end,
                                 so_far.text_end,
                                 static_cast<std::int64_t>(so_far.reasoning),
                                 static_cast<std::int64_t>(so_far.text)});
  };
  Asked answer = services_.endpoint->complete(conversation, tools_, settings_, show, &exchange);
  double slept = waited - services_.record->waited();
  for (const endpoint::Attempt& attempt :
       std::visit([](const auto& end) { return end.attempts; }, answer))
    slept += attempt.waited;
  backed_off_ += std::max(0.0, slept);
  if (const auto* failure = std::get_if<endpoint::EndpointFailure>(&answer))
    note_failure(*failure, key, exchange, turn);
  else
    note_request(std::get<endpoint::Completion>(answer), key, exchange, turn);
  return answer;
}

std::optional<endpoint::Completion> Session::ask(record::Turn& turn) {
  for (bool trimmed = false;; trimmed = true) {
    auto answer = ask_once(turn);
    if (!answer) {
      stop_ = StopReason::budget;
      return std::nullopt;
    }
    auto* failure = std::get_if<endpoint::EndpointFailure>(&*answer);
    if (failure == nullptr)
      return std::get<endpoint::Completion>(*std::move(answer));
    const bool overflow = failure->kind == endpoint::FailureKind::context_overflow;
    if (overflow && !trimmed && !services_.record->stopping() && trim(turn))
      continue;
    if (overflow)
      failure->text += trimmed ? "; it is too long even without the earlier turns"
                               : "; there are no earlier turns to leave out";
    stop_for(*failure, turn);
    return std::nullopt;
  }
}

void Session::note_request(const endpoint::Completion& answer,
                           const std::string& key,
                           const endpoint::Exchange& exchange,
                           record::Turn& turn) {
  record::Finished finished;
  finished.index = requests_++;
  finished.key_sha256 = key;
  finished.input_sha256 = services_.record->put_artifact(exchange.request);
  finished.output_sha256 = services_.record->put_artifact(exchange.response);
  finished.facts = {{"status", answer.attempts.empty() ? 200 : answer.attempts.back().status},
                    {"latency_s", answer.seconds},
                    {"usage", plain(endpoint::to_json(answer.usage))},
                    {"model", answer.model},
                    {"request_id", answer.request_id},
                    {"finish", answer.finish_raw},
                    {"flags", answer.flags},
                    {"exchange", put_exchange(*services_.record, exchange)},
                    {"attempts", attempts_json(answer.attempts)}};
  note_cost(&answer.usage, answer.attempts, finished);
  const std::string hash = services_.record->record_request(finished);
  note_attempts(answer.attempts, finished, hash, answer.first_byte_seconds, turn);
}

void Session::note_cost(const endpoint::Usage* usage,
                        const std::vector<endpoint::Attempt>& attempts,
                        record::Finished& finished) const {
  if (!price_)
    return;  // unknown is not 0: the row says nothing
  finished.facts["cost_nano_usd"] = usage == nullptr ? 0 : endpoint::cost_nano_usd(*usage, *price_);
  finished.facts["wasted_nano_usd"] = wasted_nano(attempts, *price_);
  finished.facts["price_sha256"] = trajectory_.price_sha256;
}

void Session::add_waste(const std::vector<endpoint::Attempt>& attempts) {
  if (!price_)
    return;
  wasted_nano_ = endpoint::add_saturated(wasted_nano_, wasted_nano(attempts, *price_));
  trajectory_.cost_wasted_usd = static_cast<double>(wasted_nano_) * 1e-9;
}

void Session::note_failure(const endpoint::EndpointFailure& failure,
                           const std::string& key,
                           const endpoint::Exchange& exchange,
                           record::Turn& turn) {
  if (failure.kind == endpoint::FailureKind::cancelled && failure.attempts.empty())
    return;
  record::Finished finished;
  finished.index = requests_++;
  finished.key_sha256 = key;
  finished.input_sha256 = services_.record->put_artifact(exchange.request);
  finished.facts = {{"status", failure.status},
                    {"error", std::string(endpoint::name(failure.kind))},
                    {"text", failure.text},
                    {"exchange", put_exchange(*services_.record, exchange)},
                    {"attempts", attempts_json(failure.attempts)}};
  note_cost(nullptr, failure.attempts, finished);
  add_waste(failure.attempts);
  const std::string hash = services_.record->record_request(finished);
  note_attempts(failure.attempts, finished, hash, std::nullopt, turn);
}

void Session::stop_for(const endpoint::EndpointFailure& failure, record::Turn& turn) {
  if (failure.kind == endpoint::FailureKind::cancelled) {
    stop_ = StopReason::interrupted;  // its tries stay on record; the request is asked anew
    return;
  }
  turn.feedback_to_model = "LLM call failed: " + failure.text;
  trajectory_.error = failure.text;
  trajectory_.error_code = "E_ENDPOINT_" + upper(endpoint::name(failure.kind));
  endpoint_is_infra_ =
      failure.retry || failure.configuration || failure.kind == endpoint::FailureKind::bad_request;
  stop_ = StopReason::endpoint;
  report("endpoint failed");
}

}  // namespace sweep::agent

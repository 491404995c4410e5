#pragma once

#include "config/config.h"
#include "endpoint/client.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::cli {

enum class CheckState {
  ok,
  warn,  // a sweep would run, but not as one expects
  fail,  // a sweep would lose its time
  none,  // could not be asked, or does not apply
};

// One question to an endpoint. `text` and `next` hold no key.
struct ProbeCheck {
  std::string name;  // "reach", "key", "model", "answer", "stream", "tools", "think", ...
  CheckState state = CheckState::none;
  std::string text;  // what was seen, one line
  std::string next;  // how to mend it; empty: nothing to do
};

struct ProbedModel {
  std::string model;    // the configuration's name
  std::string url;      // that requests go to, without query
  std::string api;      // "Chat Completions", "Responses"
  std::string profile;  // endpoint::summary
  std::string proxy;    // public URL; empty: none
  std::string key;      // "OPENAI_API_KEY from .env"; never the value; empty: none is sent
  std::vector<ProbeCheck> checks;
  std::optional<double> first_byte_s;  // of the stream; empty: no stream came
  std::optional<double> tokens_per_s;  // of the stream after its first byte; empty: too little came

  // No check failed.
  [[nodiscard]] bool ready() const;

  // Null when it was not made.
  [[nodiscard]] const ProbeCheck* find(std::string_view check) const;

  // In place of the one of the same name, else at the end.
  void set(ProbeCheck check);
};

// What is asked besides the first stage, which always comes first.
struct ProbeStages {
  bool context = false;         // about 6000 tokens: does the endpoint count and read them all?
  bool stress = false;          // `concurrency` requests at once, twice as many in all
  bool soak = false;            // one request after another for `minutes`
  std::size_t concurrency = 0;  // 0: the model's max_concurrency
  double minutes = 5;
};

// Asks one model. `base_url` is where it is: the configuration's, or the built-in server's.
// Whatever the endpoint does is in the result.
[[nodiscard]] ProbedModel probe_model(const config::Model& model,
                                      const std::string& base_url,
                                      endpoint::Secret key,
                                      const ProbeStages& stages);

// The same for a model of a configuration, with its key; starts the built-in server where that
// plays the model. What cannot be asked, for want of a key too, is a failed check.
[[nodiscard]] ProbedModel probe_configured(const config::SweepConfig& config,
                                           const config::Model& model,
                                           const ProbeStages& stages);

// UsageError E_KEY_MISSING when the model's key variable is set nowhere, E_KEY_VALUE when it cannot
// be sent.
void require_key(const config::SweepConfig& config, const config::Model& model);

// The parts of probe_model, each appending its checks.
struct ProbeSubject {
  const config::Model& model;
  endpoint::Target target;
  bool scripted = false;

  // One exchange with at most `tries` tries and a real clock.
  [[nodiscard]] std::variant<endpoint::Completion, endpoint::EndpointFailure> ask(
      const endpoint::Conversation& conversation,
      const std::vector<endpoint::ToolDefinition>& tools,
      bool stream,
      endpoint::Exchange* exchange = nullptr,
      bool tool_required = false,
      int tries = 2) const;
};

// Whether it is worth asking on: false when the host cannot be reached.
[[nodiscard]] bool check_reach(const ProbeSubject& subject, ProbedModel& out);
// Whether it answers at all, and how fast.
[[nodiscard]] bool check_answers(const ProbeSubject& subject, ProbedModel& out);
void check_tools(const ProbeSubject& subject, ProbedModel& out);
void check_context(const ProbeSubject& subject, ProbedModel& out);
void check_stress(const ProbeSubject& subject, std::size_t concurrency, ProbedModel& out);
void check_soak(const ProbeSubject& subject, double minutes, ProbedModel& out);

// A failure of the form that the configuration asks for, under the check that it belongs to: a
// refused key, an unknown model, a path that is not there (then other paths are tried), else
// `form`.
void explain_failure(const ProbeSubject& subject,
                     const char* form,
                     const endpoint::EndpointFailure& failure,
                     ProbedModel& out);

// "12 ms", "12.3 s".
[[nodiscard]] std::string milliseconds(double seconds);

// A failure as a check.
[[nodiscard]] ProbeCheck failed_check(std::string name, const endpoint::EndpointFailure& failure);

}  // namespace sweep::cli

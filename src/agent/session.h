#pragma once

#include "agent/agent.h"
#include "agent/harness.h"
#include "agent/kept.h"
#include "agent/tools.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sweep::agent {

// How tool calls are named in the record: a version that is tried is no submission.
inline const std::string kSubmitKernel = "submit_kernel";
inline const std::string kTryKernel = "try_kernel";

// The model of that name. Throws util::UsageError where the configuration has none.
[[nodiscard]] const config::Model& find_model(const config::SweepConfig& config,
                                              const std::string& name);

// One conversation being led. Made for one item, used once.
class Session {
 public:
  Session(const config::SweepConfig& config,
          const config::WorkItem& item,
          const Task& task,
          device::Id device,
          const record::Provenance& provenance,
          const Services& services);

  [[nodiscard]] record::Trajectory run();

 private:
  // A text that may be handed in.
  struct Candidate {
    enum class State { tried, compiled, correct };
    std::string kernel;
    State state = State::tried;
    double device_seconds = 0;              // on the visible shapes, once correct
    std::optional<double> visible_speedup;  // of a version that was timed
    std::int64_t version = 0;               // its number; 0: not a version
  };

  void begin();
  void one_turn(std::int64_t number);
  void add_notes(std::int64_t turn);
  void append_user(const std::string& text);

  // The conversation as sent: all of it, or its head and tail.
  [[nodiscard]] endpoint::Conversation window();
  // Takes the oldest turns out for good, and shortens results of tools, until half of what is sent
  // is left; a call and its result go together. False: there is nothing to take out.
  [[nodiscard]] bool trim(record::Turn& turn);

  // Asks the model, or takes the recorded answer; trims once when the conversation is too long for
  // it. Empty: stop_ says why.
  std::optional<endpoint::Completion> ask(record::Turn& turn);
  using Asked = std::variant<endpoint::Completion, endpoint::EndpointFailure>;
  // One request, or its record; none: the budget is spent.
  std::optional<Asked> ask_once(record::Turn& turn);
  std::optional<Asked> replay(const std::string& key, record::Turn& turn);
  void note_request(const endpoint::Completion& answer,
                    const std::string& key,
                    const endpoint::Exchange& exchange,
                    record::Turn& turn);
  void note_failure(const endpoint::EndpointFailure& failure,
                    const std::string& key,
                    const endpoint::Exchange& exchange,
                    record::Turn& turn);
  void stop_for(const endpoint::EndpointFailure& failure, record::Turn& turn);
  // What the next request may use at most, as far as it can be told.
  [[nodiscard]] record::Spend spend_of(const endpoint::Conversation& conversation) const;
  // Seconds of the item, without those that it waited for permits, money or an endpoint's sake.
  [[nodiscard]] double working_seconds() const;
  // The request's money into its facts; without `usage` only that of lost answers.
  void note_cost(const endpoint::Usage* usage,
                 const std::vector<endpoint::Attempt>& attempts,
                 record::Finished& finished) const;
  void add_waste(const std::vector<endpoint::Attempt>& attempts);
  void note_answer(const endpoint::Completion& answer, record::Turn& turn);

  void run_calls(const std::vector<endpoint::ToolCall>& calls, record::Turn& turn);
  record::ToolCall run_call(const endpoint::ToolCall& call, record::Turn& turn);
  // What is wrong with a call before any tool runs; empty: nothing.
  [[nodiscard]] std::string refusal(const endpoint::ToolCall& call) const;
  [[nodiscard]] std::string tool_names() const;  // "compile_kernel, submit_kernel"
  ToolOutcome run_recorded(const std::string& tool, const std::string& kernel, record::Turn& turn);
  ToolOutcome record_outcome(const std::string& tool,
                             const std::string& kernel,
                             std::vector<std::string> keys,
                             ToolOutcome outcome);
  // The run's own judgement on this submission, where it has one.
  std::optional<ToolOutcome> judged_before(const std::string& kernel, const ToolSettings& settings);
  [[nodiscard]] std::vector<std::string> keys_of(const std::string& kernel,
                                                 const ToolSettings& settings) const;
  void note_code(const std::string& kernel, const ToolOutcome& outcome);
  void remember(const std::string& tool, const std::string& kernel, const ToolOutcome& outcome);
  // Harnesses that try: one version of the model's, by call or in the answer's text.
  record::ToolCall try_version(const std::string& kernel, std::string origin, record::Turn& turn);
  void try_text(const endpoint::Completion& answer, record::Turn& turn);
  // What the model is told of the version that was just tried.
  [[nodiscard]] std::string told(const ToolOutcome& outcome) const;
  [[nodiscard]] std::string told_sanitised(std::string_view file) const;
  [[nodiscard]] std::string told_no_version() const;
  // "3 answers left."; empty in the last.
  [[nodiscard]] std::string answers_left() const;
  void without_calls(const endpoint::Completion& answer, std::int64_t number, record::Turn& turn);
  // Counts answers that the output limit cut; too many in a row with nothing to run end it.
  void note_cut(const endpoint::Completion& answer, record::Turn& turn);
  [[nodiscard]] std::string told_cut() const;

  void add_call(record::ToolCall done, record::Turn& turn);
  // The kernel of a call as the trajectory holds it; a long one becomes an artifact.
  void note_kernel(const std::string& kernel, record::ToolCall& done);

  // Hands in `kernel` for the model; the call is noted in the last turn.
  void submit(const std::string& kernel, const std::string& origin, record::Turn& turn);
  void set_result(const std::string& kernel, const ToolOutcome& outcome, record::Turn& turn);
  void hand_in_best();
  [[nodiscard]] const Candidate* best() const;
  void finish();

  [[nodiscard]] bool out_of_time() const;
  void report(const std::string& state, const std::string& event = {});
  void save();

  const config::SweepConfig& config_;
  const config::WorkItem& item_;
  const Task& task_;
  const config::Model& model_;
  Services services_;
  Harness harness_;
  ToolSettings tool_settings_;
  std::vector<endpoint::ToolDefinition> tools_;
  endpoint::Settings settings_;
  std::optional<config::Price> price_;

  record::Trajectory trajectory_;
  endpoint::Conversation conversation_;
  KeptMessages kept_;
  std::vector<Candidate> candidates_;
  std::set<std::pair<std::string, std::string>> seen_;  // (tool, SHA-256 of the text)
  std::map<std::string, std::string> codes_;            // SHA-256 of a text -> of its machine code
  std::optional<StopReason> stop_;
  bool endpoint_is_infra_ = false;
  bool replaying_ = true;
  std::int64_t requests_ = 0;
  std::int64_t tool_runs_ = 0;
  std::int64_t cost_nano_ = 0;
  std::int64_t wasted_nano_ = 0;
  std::int64_t charged_nano_ = 0;  // by the endpoint's own word
  double backed_off_ = 0;          // seconds slept between tries
  std::int64_t largest_output_ = 0;
  std::int64_t turn_number_ = 0;
  bool tried_in_turn_ = false;  // the answer at hand had its version
  int cut_in_row_ = 0;          // answers that the output limit cut, with nothing to run in them
  std::size_t left_out_ = 0;    // messages before this one are sent no more, but for the first two
  std::optional<double> best_speedup_;  // on the visible shapes, of any version so far
  double started_ = 0;
};

// The trajectory's result out of an evaluation.
[[nodiscard]] record::FinalResult final_result(const evaluate::Evaluation& evaluation);

}  // namespace sweep::agent

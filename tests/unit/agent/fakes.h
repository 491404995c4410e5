#pragma once

#include "agent/agent.h"
#include "endpoint/json.h"
#include "util/fake_clock.h"
#include "util/sha256.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sweep::agent::test {

// A run's record in memory; what one session wrote, the next may replay.
class MemoryRecord final : public record::ItemServices {
 public:
  std::string put_artifact(std::string_view bytes) override {
    const std::string hash = util::sha256_hex(bytes);
    artifacts[hash] = std::string(bytes);
    return hash;
  }

  std::string get_artifact(const std::string& sha256) override { return artifacts.at(sha256); }

  std::optional<record::Finished> finished_request(std::int64_t index) override {
    return at(old_requests, index);
  }

  std::optional<record::Finished> finished_tool(std::int64_t index) override {
    return at(old_tools, index);
  }

  std::string record_request(const record::Finished& request) override {
    requests.push_back(request);
    return "row" + std::to_string(requests.size());
  }

  std::string record_tool(const record::Finished& tool) override {
    tools.push_back(tool);
    return "tool" + std::to_string(tools.size());
  }

  std::optional<record::Judged> judged(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys)
      if (const auto found = known.find(key); found != known.end())
        return found->second;
    return std::nullopt;
  }

  void save(const record::Trajectory& trajectory) override { saved.push_back(trajectory); }

  std::unique_ptr<Permit> permit(const record::Need&) override {
    return std::make_unique<Permit>();
  }

  double waited() override { return waited_seconds; }

  void progress(const record::Progress& progress) override { states.push_back(progress.state); }

  bool within_budget(const record::Spend& most) override {
    spends.push_back(most);
    return !budget || requests.size() < *budget;
  }

  bool stopping() override { return stop && stop(); }

  std::map<std::string, std::string> artifacts;
  std::vector<record::Finished> requests, tools, old_requests, old_tools;
  std::map<std::string, record::Judged> known;  // by key
  std::vector<record::Trajectory> saved;
  std::vector<std::string> states;
  std::vector<record::Spend> spends;
  double waited_seconds = 0;
  std::function<bool()> stop;
  std::optional<std::size_t> budget;  // requests

 private:
  static std::optional<record::Finished> at(const std::vector<record::Finished>& list,
                                            std::int64_t index) {
    return index < static_cast<std::int64_t>(list.size())
               ? std::optional(list[static_cast<std::size_t>(index)])
               : std::nullopt;
  }
};

// Answers in turn; keeps what it was asked.
class FakeEndpoint final : public endpoint::Endpoint {
 public:
  using Answer = std::variant<endpoint::Completion, endpoint::EndpointFailure>;

  Answer complete(const endpoint::Conversation& conversation,
                  const std::vector<endpoint::ToolDefinition>& tools,
                  const endpoint::Settings& settings,
                  const endpoint::OnProgress&,
                  endpoint::Exchange* exchange) override {
    asked.push_back(conversation);
    offered = tools;
    last_settings = settings;
    *exchange = {"request " + std::to_string(asked.size()), std::to_string(next), "/v1/x", tries};
    return answers.at(next++);
  }

  [[nodiscard]] Answer parse(const endpoint::Exchange& exchange) const override {
    return answers.at(std::stoul(exchange.response));
  }

  std::vector<Answer> answers;
  std::vector<endpoint::Try> tries;  // of every answer, for the record
  std::size_t next = 0;
  std::vector<endpoint::Conversation> asked;
  std::vector<endpoint::ToolDefinition> offered;
  endpoint::Settings last_settings;
};

// A judge that reads its verdict from the kernel's text: "broken" does not compile, "wrong" is
// incorrect, "infra" fails itself; "fast" takes 1 s, others 2 s.
class FakeJudge final : public Evaluator {
 public:
  evaluate::Evaluation evaluate(const evaluate::EvaluationRequest& request) override {
    requests.push_back(request);
    const std::string& text = request.submission.text;
    const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
    evaluate::Evaluation out;
    out.problem = request.problem;
    out.source_sha256 = util::sha256_hex(text);
    out.device = "cpu";
    if (has("infra")) {
      out.verdict = evaluate::Verdict::infra_judge;
      out.infra = "judge: died; try again";
      return out;
    }
    out.screen.emplace();
    out.verdict = evaluate::Verdict::pass_inconclusive;
    if (request.only == evaluate::Stage::screen)
      return out;
    out.compile.emplace();
    out.compile->status = has("broken") ? "compile_error" : "ok";
    out.compile->log = has("broken") ? "error: vals undefined" : "";
    if (has("broken")) {
      out.verdict = evaluate::Verdict::compile_error;
      return out;
    }
    if (request.only == evaluate::Stage::compile)
      return out;
    out.check.emplace();
    evaluate::Call call;
    call.shape = "tiny";
    call.device_seconds = has("fast") ? 1 : 2;
    if (has("wrong")) {
      call.failure.emplace();
      call.failure->verdict = evaluate::Verdict::incorrect_value;
      call.failure->text = "y[3] is 1, expected 2";
      out.check->failure = call.failure;
      out.verdict = evaluate::Verdict::incorrect_value;
    }
    out.check->calls.push_back(call);
    if (has("wrong") || request.only == evaluate::Stage::check)
      return out;
    if (request.depth != evaluate::Depth::standard || has("timed")) {
      out.time.emplace();
      const double speedup = has("fast") ? 2 : has("slow") ? 0.5 : 1;
      out.time->ratio = {speedup, speedup, speedup};
    }
    if (request.depth == evaluate::Depth::fast)
      return out;
    out.stress.emplace();
    out.stress->passed = !has("hardcoded");
    out.verdict = has("hardcoded") ? evaluate::Verdict::incorrect_generalisation
                                   : evaluate::Verdict::pass_faster;
    if (has("hardcoded")) {
      evaluate::Failure secret;
      secret.verdict = evaluate::Verdict::incorrect_value;
      secret.text = "SECRET shape k=1031";
      out.stress->inner = evaluate::Hidden<std::optional<evaluate::Failure>>(secret);
    }
    return out;
  }

  std::vector<evaluate::EvaluationRequest> requests;
};

inline endpoint::Completion says(const std::string& text,
                                 std::vector<endpoint::ToolCall> calls = {}) {
  endpoint::Completion out;
  out.message.speaker = endpoint::Speaker::assistant;
  out.message.text = text;
  out.message.reasoning = "because";
  out.message.calls = std::move(calls);
  out.finish = out.message.calls.empty() ? endpoint::Finish::stop : endpoint::Finish::tool_calls;
  out.usage = {100, 40, 10, 5, false};
  out.attempts = {{429, "rate_limited", "", 0.1, 0}, {200, "ok", "", 0.2, 1.5}};
  return out;
}

inline endpoint::ToolCall call(const std::string& tool, const std::string& kernel) {
  static int number = 0;
  return {"c" + std::to_string(++number), tool, endpoint::dump({{"kernel_code", kernel}})};
}

struct World {
  World() {
    config.run.name = "r";
    config.agent.harness.tools = {
        "compile_kernel", "run_correctness", "get_gpu_specs", "static_check", "submit_kernel"};
    config.agent.harness.max_turns = 6;
    config.agent.harness.max_tool_calls = 10;
    config::Model one;
    one.name = "m";
    one.deployment_name = "wire-m";
    one.price = config::Price{};
    one.price->rates = {2'000'000, 1'000'000, 2'000'000, 8'000'000};
    config.models.push_back(one);
    item.model = "m";
    item.variant = "custom";
    item.level = "level1";
    item.problem = "3";
    task.id = "level1/3";
    task.title = "T";
    task.statement = "S";
    task.contract = "C";
    task.reference = "R";
    task.device = "D";
  }

  record::Trajectory run() {
    const Services services{&memory, &model, &judge, &clock, false};
    return agent::run(config, item, task, device::Id{}, {}, services);
  }

  config::SweepConfig config;
  config::WorkItem item;
  Task task;
  MemoryRecord memory;
  FakeEndpoint model;
  FakeJudge judge;
  util::FakeClock clock;
};

}  // namespace sweep::agent::test

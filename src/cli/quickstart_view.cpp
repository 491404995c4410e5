// A quickstart's result as text and as JSON.
#include "cli/quickstart.h"
#include "config/config.h"
#include "endpoint/builtin.h"
#include "evaluate/evaluation.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

using Runner = QuickstartResult::Runner;

constexpr std::size_t kLabel = 12;       // columns
constexpr std::size_t kFeedback = 1200;  // bytes of the last tool's answer in JSON
constexpr std::size_t kShownDamage = 5;

const char* name(Runner runner) {
  switch (runner) {
    case Runner::finished:
      return "finished";
    case Runner::failed:
      return "failed";
    case Runner::unfinished:
      break;
  }
  return "unfinished";
}

const char* target_word(const QuickstartResult& r) {
  return !r.met ? "not judged" : *r.met ? "met" : "NOT MET";
}

const char* kernel_word(const QuickstartResult& r) {
  return r.correct ? "correct" : r.submitted ? "NOT CORRECT" : "none";
}

// The last answer that a tool gave the model.
std::string feedback_of(const record::Trajectory& t) {
  for (auto turn = t.turns.rbegin(); turn != t.turns.rend(); ++turn) {
    if (!turn->tool_calls.empty()) {
      return turn->tool_calls.back().result_text;
    }
  }
  return {};
}

// "compile_kernel failed, run_correctness ok, submit_kernel ok"
std::string tools_text(const record::Trajectory& t) {
  std::string out;
  for (const record::Turn& turn : t.turns) {
    std::string calls;
    for (const record::ToolCall& call : turn.tool_calls) {
      calls += (calls.empty() ? "" : " and ") + call.tool_name + (call.success ? " ok" : " failed");
    }
    out += (out.empty() ? "" : ", ") + (calls.empty() ? "no tool" : calls);
  }
  return out;
}

std::vector<evaluate::ShownBaseline> libraries_of(const QuickstartResult& r) {
  if (!r.correct) {
    return {};
  }
  try {
    return evaluate::evaluation_from_json(r.trajectory.final_result->evaluation).baselines;
  } catch (const std::exception&) {
    return {};  // said under damage
  }
}

class Lines {
 public:
  Lines(const Style& style, std::size_t width) : style_(style), width_(width) {}

  // `word` is painted and comes first, for the three answers. None: neither good nor bad.
  void add(const std::string& label,
           const std::string& word,
           const std::string& text,
           std::optional<bool> good) {
    const std::string painted = !good   ? style_.warn(word)
                                : *good ? style_.good(word)
                                        : style_.bad(word);
    add(label, painted + std::string(word.size() < 13 ? 13 - word.size() : 1, ' ') + text);
  }

  void add(const std::string& label, const std::string& text) {
    const std::string body = wrapped(text, kLabel, width_);
    out_ += pad_right(label, kLabel) + body.substr(std::min(kLabel, body.size()));
  }

  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  const Style& style_;
  std::size_t width_;
  std::string out_;
};

void add_record(const QuickstartResult& r, Lines& lines) {
  if (r.damage.empty()) {
    lines.add("record", fmt::format("intact, {} rows", r.rows));
    return;
  }
  lines.add("record", "DAMAGED", util::printable(r.damage.front()), false);
  for (std::size_t i = 1; i < std::min(r.damage.size(), kShownDamage); ++i) {
    lines.add("", util::printable(r.damage[i]));
  }
  if (r.damage.size() > kShownDamage) {
    lines.add("", fmt::format("and {} more: sweep verify", r.damage.size() - kShownDamage));
  }
}

nlohmann::json or_null(const std::string& text) {
  return text.empty() ? nlohmann::json(nullptr) : nlohmann::json(util::to_valid_utf8(text));
}

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json speedup_json(const QuickstartResult& r) {
  const auto& result = r.trajectory.final_result;
  if (!r.correct || !result->speedup) {
    return nullptr;
  }
  return {{"point", result->speedup->point},
          {"low", result->speedup->low},
          {"high", result->speedup->high}};
}

nlohmann::json runner_json(const QuickstartResult& r) {
  const record::Trajectory& t = r.trajectory;
  return {{"state", name(r.runner)},
          {"finished", r.runner == Runner::finished},
          {"detail", util::to_valid_utf8(r.runner_text)},
          {"outcome", t.outcome},
          {"stop_reason", or_null(t.stop_reason)},
          {"error", or_null(t.error)},
          {"error_code", or_null(t.error_code)},
          {"turns", t.turns.size()},
          {"max_turns", t.max_turns},
          {"tool_calls", t.total_tool_calls},
          {"tokens", t.llm_total_tokens},
          {"cost_usd", or_null(t.cost_usd)}};
}

nlohmann::json libraries_json(const QuickstartResult& r) {
  nlohmann::json out = nlohmann::json::array();
  for (const evaluate::ShownBaseline& b : libraries_of(r)) {
    if (b.reason.empty()) {
      out.push_back({{"name", b.name}, {"seed", b.ratio}, {"kernel", b.candidate}});
    }
  }
  return out;
}

}  // namespace

nlohmann::json to_json(const QuickstartResult& r, const std::string& created_at) {
  const record::Trajectory& t = r.trajectory;
  const auto& result = t.final_result;
  return {{"schema", 1},
          {"created_at", created_at},
          {"output", r.folder.string()},
          {"problem", kQuickstartProblem},
          {"model", or_null(t.model_name)},
          {"device", or_null(t.provenance.device)},
          {"device_name", or_null(t.provenance.gpu_name)},
          {"scripted", !endpoint::builtin_name(t.provenance.base_url).empty()},
          {"runner", runner_json(r)},
          {"kernel",
           {{"submitted", r.submitted},
            {"compiled", result ? nlohmann::json(result->compiled) : nlohmann::json(nullptr)},
            {"correct", r.submitted ? nlohmann::json(r.correct) : nlohmann::json(nullptr)},
            {"verdict", or_null(result ? result->verdict : "")},
            {"detail", util::to_valid_utf8(r.kernel_text)},
            {"sha256", or_null(result ? result->kernel_sha256 : "")}}},
          {"target",
           {{"least", r.target},
            {"against", "seed"},
            {"met", or_null(r.met)},
            {"speedup", speedup_json(r)},
            {"detail", util::to_valid_utf8(r.target_text)}}},
          {"libraries", libraries_json(r)},
          {"feedback", or_null(util::head_and_tail(feedback_of(t), kFeedback))},
          {"record", {{"intact", r.damage.empty()}, {"rows", r.rows}, {"damage", r.damage}}},
          {"files",
           {{"ledger", "ledger.jsonl"},
            {"trajectory", or_null(r.trajectory_file)},
            {"kernel", or_null(r.kernel_file)},
            {"pages", or_null(r.page)}}}};
}

std::string quickstart_text(const QuickstartResult& r, const Style& style, std::size_t width) {
  const record::Trajectory& t = r.trajectory;
  Lines lines(style, width);
  const std::string on = t.provenance.device +
                         (t.provenance.gpu_name.empty() ? "" : " (" + t.provenance.gpu_name + ")");
  lines.add("quickstart",
            util::printable(fmt::format("{}{}{}",
                                        kQuickstartProblem,
                                        t.model_name.empty() ? "" : " by " + t.model_name,
                                        t.provenance.device.empty() ? "" : " on " + on)));
  lines.add("runner", name(r.runner), util::printable(r.runner_text), r.runner == Runner::finished);
  lines.add("kernel", kernel_word(r), util::printable(r.kernel_text), r.correct);
  lines.add(
      "target",
      target_word(r),
      fmt::format(
          "{} over the seed: {}", util::human_ratio(r.target), util::printable(r.target_text)),
      r.met);
  if (const std::string tools = tools_text(t); !tools.empty()) {
    lines.add("turns", util::printable(tools));
  }
  for (const evaluate::ShownBaseline& b : libraries_of(r)) {
    if (b.reason.empty()) {
      lines.add("library",
                util::printable(fmt::format("{}: the kernel has {} of its speed, the seed {}",
                                            b.name,
                                            util::human_ratio(b.candidate),
                                            util::human_ratio(b.ratio > 0 ? 1 / b.ratio : 0))));
    }
  }
  add_record(r, lines);
  if (r.runner != Runner::finished) {
    const bool again = t.outcome == "error" || t.outcome == "timeout";
    lines.add("next",
              util::printable(fmt::format("sweep {}{}",
                                          quickstart_file(r.folder).string(),
                                          again ? " --retry " + t.outcome + "s" : "")));
  }
  lines.add("folder", util::printable(r.folder.string()));
  for (const auto& [label, file] : {std::pair("  kernel", r.kernel_file),
                                    std::pair("  turns", r.trajectory_file),
                                    std::pair("  pages", r.page),
                                    std::pair("  result", std::string(kQuickstartResult))}) {
    if (!file.empty()) {
      lines.add(label, util::printable(file));
    }
  }
  return lines.text();
}

}  // namespace sweep::cli

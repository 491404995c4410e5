#include "report/baseline_table.h"
#include "report/page.h"
#include "report/stream.h"
#include "report/words.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

using record::ToolCall;
using record::Trajectory;
using record::Turn;

// Columns of a stored sample: replicate, shape, block, position, candidate, device seconds, ...
constexpr std::size_t kCandidateColumn = 4;
constexpr std::size_t kSecondsColumn = 5;
constexpr std::size_t kSampleColumns = 6;

// Source text in a tool call's arguments; empty: none.
std::string kernel_in(const ToolCall& call) {
  const auto& args = call.args;
  return args.is_object() && args.contains("kernel_code") && args["kernel_code"].is_string()
             ? args["kernel_code"].get<std::string>()
             : std::string{};
}

// As people count.
std::int64_t number_of(const Turn& turn) {
  return turn.turn_id + 1;
}

Markup state_badge(bool good) {
  return element(
      "span", {{"class", good ? "badge ok" : "badge incorrect"}}, text(good ? "ok" : "failed"));
}

bool failed(const Turn& turn) {
  return std::any_of(turn.tool_calls.begin(), turn.tool_calls.end(), [](const ToolCall& call) {
    return !call.success;
  });
}

std::string pretty(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

Markup fold(const std::string& id,
            const std::string& title,
            const Markup& inner,
            bool open = false) {
  const Markup body = element("summary", text(title)) + inner;
  return open ? element("details", {{"id", id}, {"open", ""}}, body)
              : element("details", {{"id", id}}, body);
}

Markup pre(std::string_view words) {
  return element("pre", {{"class", "wrap"}}, text(words));
}

Markup head_cards(const Row& row, const Trajectory& t) {
  Markup out = verdict_card(row) + speedup_card(row);
  out += card(fmt::format("{} / {}", t.total_turns, t.max_turns), "turns");
  out += card(fmt::format("{} / {}", t.total_tool_calls, t.max_tool_calls), "tool calls");
  out += card(util::human_count(static_cast<std::uint64_t>(t.llm_total_tokens)), "tokens");
  out += card(dollars(t.cost_usd), cost_label(t.cost_wasted_usd.value_or(0)));
  out += card(util::human_seconds(t.agent_wall_clock_s), "wall time");
  return element("div", {{"class", "cards"}}, out);
}

Markup strip(const Trajectory& t) {
  Markup list;
  for (const Turn& turn : t.turns) {
    const std::string state = turn.tool_calls.empty() ? "" : failed(turn) ? "fail" : "ok";
    list += element("li",
                    element("a",
                            {{"class", state}, {"href", fmt::format("#turn-{}", number_of(turn))}},
                            text(std::to_string(number_of(turn)))));
  }
  return element("ol", {{"class", "strip"}, {"aria-label", "Turns"}}, list);
}

Markup stages(const record::FinalResult& result) {
  Table table{"stages",
              "",
              {"stage", "result", "passed", "seconds", "what"},
              {false, false, true, true, false},
              {}};
  for (const record::Stage& stage : result.stages) {
    table.rows.push_back(
        {text(stage.name),
         stage.ran ? state_badge(stage.passed) : text("not run"),
         text(stage.total_count > 0 ? fmt::format("{}/{}", stage.passed_count, stage.total_count)
                                    : "\u2014"),
         text(fmt::format("{:.2f}", stage.seconds)),
         text(stage.summary)});
  }
  return table.rows.empty() ? Markup{} : element("h2", text("Evidence")) + render(table);
}

// One ratio a block, as the statistic takes it: exp((log s1 + log s2 - log c1 - log c2) / 2) over
// the block's four calls. Empty when the record holds no samples.
nlohmann::json timing_dots(const record::FinalResult& result) {
  nlohmann::json dots = nlohmann::json::array();
  const nlohmann::json::json_pointer where("/stages/time/samples/rows");
  if (!result.evaluation.is_object() || !result.evaluation.contains(where)) {
    return dots;
  }
  // Sum of the logs of the seed's calls less the candidate's, and how many calls there were.
  std::map<std::array<int, 3>, std::pair<double, int>> blocks;
  for (const nlohmann::json& row : result.evaluation.at(where)) {
    const bool numbers =
        row.is_array() && row.size() >= kSampleColumns &&
        std::all_of(row.begin(), row.end(), [](const auto& v) { return v.is_number(); });
    const double seconds = numbers ? row[kSecondsColumn].get<double>() : 0;
    if (seconds > 0) {
      auto& [logs, calls] = blocks[{row[0].get<int>(), row[1].get<int>(), row[2].get<int>()}];
      logs += row[kCandidateColumn].get<int>() != 0 ? -std::log(seconds) : std::log(seconds);
      ++calls;
    }
  }
  for (const auto& [key, block] : blocks) {
    const bool known = key[1] >= 0 && static_cast<std::size_t>(key[1]) < result.timings.size();
    if (known && block.second == 4) {
      dots.push_back({{"shape", result.timings[static_cast<std::size_t>(key[1])].shape},
                      {"ratio", std::exp(block.first / 2)}});
    }
  }
  return dots;
}

Markup timings(const record::FinalResult& result) {
  if (result.timings.empty()) {
    return {};
  }
  Table table{"timings",
              "",
              {"shape", "seed", "kernel", "speedup", "replicates", "blocks", "of roofline"},
              {false, true, true, true, true, true, true},
              {}};
  for (const record::ShapeTiming& s : result.timings) {
    table.rows.push_back({text(s.shape),
                          text(util::human_seconds(s.seed_us * 1e-6)),
                          text(util::human_seconds(s.candidate_us * 1e-6)),
                          text(speedup_text(s.speedup)),
                          text(std::to_string(s.replicates)),
                          text(std::to_string(s.blocks)),
                          text(s.share_of_floor && *s.share_of_floor >= 0.005
                                   ? fmt::format("{:.0f}%", 100 * *s.share_of_floor)
                                   : "\u2014")});
  }
  Markup out = element("h2", text("Timing")) + render(table) + baseline_table(result);
  const nlohmann::json dots = timing_dots(result);
  if (!dots.empty()) {
    out += element("figure",
                   {{"data-figure", "timing"}, {"data-source", "dots"}},
                   element("figcaption",
                           text(fmt::format("Every block of the timing, n = {}.", dots.size()))));
    out += json_block("dots", dots.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  }
  return out;
}

// Where the text is that stands here cut; nothing without a name.
Markup whole_at(const std::string& sha256) {
  return sha256.empty() ? Markup{}
                        : element("p",
                                  {{"class", "meta"}},
                                  text("Cut here; the whole text is artifacts/") +
                                      element("code", text(sha256)));
}

Markup tool_call(const ToolCall& call, const std::string& id, const std::string& previous) {
  const std::string kernel = kernel_in(call);
  Markup inner =
      element("p",
              element("strong", text(call.tool_name)) + text(" ") + state_badge(call.success) +
                  element("span",
                          {{"class", "meta"}},
                          text(fmt::format(" {}", util::human_seconds(call.wall_clock_s)))));
  if (!kernel.empty()) {
    inner += fold(id + "-code",
                  fmt::format("kernel ({} bytes)", kernel.size()),
                  whole_at(call.kernel_sha256) + code_block(id + "-kernel", kernel),
                  previous.empty());
    if (!previous.empty()) {
      inner +=
          fold(id + "-diff",
               "what changed since the version before",
               element("div",
                       {{"data-diff-from", previous + "-kernel"}, {"data-diff-to", id + "-kernel"}},
                       text("needs the page's script")),
               true);
    }
  } else if (!call.args.empty()) {
    inner += fold(id + "-args", "arguments", pre(pretty(call.args)));
  }
  inner += fold(id + "-result",
                "result",
                pre(call.result_text),
                !call.success || call.result_text.size() < 600);
  return element("div", {{"class", "panel"}}, inner);
}

Markup turn_section(const Turn& turn, std::string& previous) {
  Markup head = element("h3", text(fmt::format("Turn {}", number_of(turn))));
  std::string meta = fmt::format("model {}, tools {}",
                                 util::human_seconds(turn.llm_latency_s),
                                 util::human_seconds(turn.tools_wall_clock_s));
  if (turn.llm_usage) {
    meta += fmt::format(
        ", {} tokens in, {} out", turn.llm_usage->input_tokens, turn.llm_usage->output_tokens);
  }
  for (const record::Request& request : turn.requests) {
    if (!request.error.empty()) {
      meta += fmt::format("; request {} failed: {}", request.index + 1, request.error);
    }
  }
  Markup inner = element("header",
                         head + element("span",
                                        {{"class", "meta"}},
                                        text(meta + (turn.replayed ? "; from the ledger" : ""))));
  const std::string id = fmt::format("turn-{}", number_of(turn));
  if (!turn.reasoning.empty()) {
    inner += fold(id + "-reasoning",
                  fmt::format("reasoning ({} bytes)", turn.reasoning.size()),
                  pre(turn.reasoning));
  }
  if (!turn.text.empty()) {
    inner += fold(id + "-text",
                  fmt::format("answer ({} bytes)", turn.text.size()),
                  pre(turn.text),
                  turn.text.size() < 4000);
  }
  for (std::size_t i = 0; i < turn.tool_calls.size(); ++i) {
    const std::string call_id = fmt::format("{}-call-{}", id, i);
    inner += tool_call(turn.tool_calls[i], call_id, previous);
    if (!kernel_in(turn.tool_calls[i]).empty()) {
      previous = call_id;
    }
  }
  if (!turn.feedback_to_model.empty() && turn.tool_calls.empty()) {
    inner += fold(id + "-feedback", "answer of the harness", pre(turn.feedback_to_model), true);
  }
  const std::string state = turn.tool_calls.empty() ? "" : failed(turn) ? " fail" : " ok";
  return element("section", {{"class", "turn" + state}, {"id", id}}, inner);
}

Markup provenance(const Trajectory& t) {
  const record::Provenance& p = t.provenance;
  Table table{"provenance", "", {"what", "value"}, {false, false}, {}};
  const auto row = [&](const char* what, const std::string& value) {
    if (!value.empty()) {
      table.rows.push_back({text(what), element("code", text(value))});
    }
  };
  row("device", p.device);
  row("processor", p.gpu_name);
  row("uuid", p.gpu_uuid);
  row("driver", p.driver);
  row("architecture", p.arch);
  row("compiler", p.compiler);
  row("sweep", p.sweep_version);
  row("config", p.config_sha256);
  row("problem", p.problem_sha256);
  row("seed kernel", p.seed_sha256);
  row("prompts", p.prompts_sha256);
  row("endpoint", p.base_url);
  row("started", t.started_at);
  row("finished", t.finished_at.value_or(""));
  row("stop", stop_words(t.stop_reason));
  row("policy", p.data_policy);
  return render(table);
}

// The evaluation knew the submission as kernel.cu; in the run's folder it stands beside the
// trajectory, whose page is t/<path>.html.
std::string with_kernel_file(const std::string& command, const std::string& page) {
  constexpr std::string_view from = "sweep eval kernel.cu";
  constexpr std::string_view page_end = ".html";
  if (!command.starts_with(from) || !page.starts_with("t/") || !page.ends_with(page_end)) {
    return command;
  }
  return "sweep eval " + page.substr(2, page.size() - 2 - page_end.size()) + "_kernel.cu" +
         command.substr(from.size());
}

}  // namespace

std::string trajectory_page(const Context& context, const Row& row, const Trajectory& t) {
  Markup body =
      element("h1", text(row.problem + " " + row.title) + text(" ") + badge(row, standing(row)));
  body += element("p",
                  {{"class", "meta"}},
                  text(fmt::format("{}, problem {}, harness {}, attempt {}",
                                   t.model_name,
                                   t.problem_name,
                                   t.harness,
                                   t.attempt)));
  body += element("p", text(reason_of(row)));
  if (t.final_result && !t.final_result->flags.empty()) {
    Markup flags;
    for (const std::string& flag : t.final_result->flags) {
      flags += element("span", {{"class", "badge"}}, text(flag)) + text(" ");
    }
    body += element("p", flags);
  }
  body += head_cards(row, t) + strip(t);
  if (t.final_result) {
    body += timings(*t.final_result) + stages(*t.final_result);
    if (!t.final_result->reproduce.empty()) {
      body +=
          element("p",
                  text("Again, in the run's folder: ") +
                      element("code", text(with_kernel_file(t.final_result->reproduce, row.page))));
    }
  }
  std::optional<std::string> submitted;
  for (const Turn& turn : t.turns) {
    submitted = turn.submitted_kernel ? turn.submitted_kernel : submitted;
  }
  if (submitted) {
    body += element("h2", text("Submitted kernel")) + code_block("submitted", *submitted);
  }
  body += element("h2", text("Turns")) +
          element("p", {{"class", "meta"}}, text("j and k go from turn to turn."));
  std::string previous;
  for (const Turn& turn : t.turns) {
    body += turn_section(turn, previous);
  }
  if (context.stream) {
    body += stream_section(*context.stream);
  }
  body +=
      element("h2", text("Prompt")) + fold("system-prompt", "system prompt", pre(t.system_prompt));
  if (!t.turns.empty()) {
    body += fold("first-input", "first input as sent", pre(pretty(t.turns.front().messages_in)));
  }
  body += element("h2", text("Provenance")) + provenance(t);
  return document(context,
                  row.page,
                  row.problem + " " + row.title + ", " + row.model,
                  {{row.model, model_page_name(row.model)}, {row.problem, row.page}},
                  body);
}

}  // namespace sweep::report

#include "report/turn_view.h"

#include "report/json_look.h"
#include "report/page.h"
#include "util/text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

using record::ToolCall;
using record::Trajectory;
using record::Turn;

// Texts of this size stand open, larger ones folded.
constexpr std::size_t kOpenResult = 600;
constexpr std::size_t kOpenAnswer = 4000;

// As people count.
std::int64_t turn_number(const Turn& turn) {
  return turn.turn_id + 1;
}

bool any_failed(const Turn& turn) {
  return std::any_of(turn.tool_calls.begin(), turn.tool_calls.end(), [](const ToolCall& call) {
    return !call.success;
  });
}

std::string turn_state(const Turn& turn) {
  return turn.tool_calls.empty() ? "" : any_failed(turn) ? "fail" : "ok";
}

std::string pretty_json(const nlohmann::json& document) {
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string bytes_title(const char* what, const std::string& words) {
  return fmt::format("{} ({})", what, util::human_bytes(words.size()));
}

// What the disassembler and the like found, as it was recorded beside the result.
Markup facts_of(const ToolCall& call, const std::string& id, ShownText& shown) {
  Markup out;
  for (const char* key : {"sass", "roofline"}) {
    const nlohmann::json* facts = look(call.metadata, {key});
    if (facts != nullptr && facts->is_object()) {
      out += fold(
          id + "-" + key, fmt::format("{} as recorded", key), shown.block(pretty_json(*facts), ""));
    }
  }
  return out;
}

Markup kernel_part(const ToolCall& call,
                   const std::string& kernel,
                   const std::string& id,
                   const std::string& previous,
                   ShownText& shown) {
  Markup out = fold(id + "-code",
                    bytes_title("kernel", kernel),
                    shown.code(id + "-kernel", kernel, artifact_name(call.kernel_sha256)),
                    previous.empty());
  if (!previous.empty()) {
    out +=
        fold(id + "-diff",
             "what changed since the version before",
             element("div",
                     {{"data-diff-from", previous + "-kernel"}, {"data-diff-to", id + "-kernel"}},
                     text("The page's script shows it.")),
             true);
  }
  return out;
}

Markup tool_panel(const ToolCall& call,
                  const std::string& id,
                  const std::string& previous,
                  ShownText& shown) {
  std::string meta = " " + util::human_seconds(call.wall_clock_s);
  if (call.lock_wait_s >= 0.01) {
    meta += ", of it waiting for the device " + util::human_seconds(call.lock_wait_s);
  }
  meta += call.origin == "native" ? "" : ", called as " + call.origin;
  meta += call.output_truncated ? ", its result was cut for the model" : "";
  const Markup state = element("span",
                               {{"class", call.success ? "badge ok" : "badge incorrect"}},
                               text(call.success ? "ok" : "failed"));
  Markup inner = element("p",
                         element("strong", text(call.tool_name)) + text(" ") + state +
                             element("span", {{"class", "meta"}}, text(meta)));
  const std::string kernel = look_text(call.args, {"kernel_code"});
  if (!kernel.empty()) {
    inner += kernel_part(call, kernel, id, previous, shown);
  } else if (!call.args.empty()) {
    inner += fold(id + "-args", "arguments", shown.block(pretty_json(call.args), ""));
  }
  inner += fold(id + "-result",
                "result",
                shown.block(call.result_text, ""),
                !call.success || call.result_text.size() < kOpenResult);
  inner += facts_of(call, id, shown);
  return element("div", {{"class", "panel"}}, inner);
}

std::string turn_meta(const Turn& turn) {
  std::string meta = fmt::format("model {}, tools {}",
                                 util::human_seconds(turn.llm_latency_s),
                                 util::human_seconds(turn.tools_wall_clock_s));
  if (turn.llm_usage) {
    const record::Usage& usage = *turn.llm_usage;
    meta += fmt::format(", {} tokens in, {} out", usage.input_tokens, usage.output_tokens);
    meta += usage.reasoning_tokens > 0 ? fmt::format(" ({} reasoning)", usage.reasoning_tokens)
                                       : std::string();
    meta += usage.estimated ? " (estimated)" : "";
  }
  meta += turn.cost_usd ? ", " + dollars(turn.cost_usd) : std::string();
  for (const record::Request& request : turn.requests) {
    if (!request.error.empty()) {
      meta += fmt::format("; request {} failed: {}", request.index + 1, request.error);
    }
  }
  meta += turn.provider_truncated ? "; the answer was cut by the output limit" : "";
  meta += turn.trimmed.is_object() ? "; earlier messages were taken out of the context" : "";
  meta += turn.replayed ? "; from the ledger" : "";
  return meta;
}

std::string answer_artifact(const Turn& turn) {
  return turn.requests.empty() ? std::string()
                               : artifact_name(turn.requests.back().response_sha256);
}

Markup turn_section(const Turn& turn, std::string& previous, ShownText& shown) {
  const std::string id = fmt::format("turn-{}", turn_number(turn));
  const Markup title = element(
      "h3", element("a", {{"href", "#" + id}}, text(fmt::format("Turn {}", turn_number(turn)))));
  Markup inner =
      element("header", title + element("span", {{"class", "meta"}}, text(turn_meta(turn))));
  if (!turn.reasoning.empty()) {
    inner += fold(id + "-reasoning",
                  bytes_title("reasoning", turn.reasoning),
                  shown.block(turn.reasoning, answer_artifact(turn)));
  }
  if (!turn.text.empty()) {
    inner += fold(id + "-text",
                  bytes_title("answer", turn.text),
                  shown.block(turn.text, answer_artifact(turn)),
                  turn.text.size() < kOpenAnswer);
  }
  for (std::size_t i = 0; i < turn.tool_calls.size(); ++i) {
    const std::string call_id = fmt::format("{}-call-{}", id, i + 1);
    inner += tool_panel(turn.tool_calls[i], call_id, previous, shown);
    if (!look_text(turn.tool_calls[i].args, {"kernel_code"}).empty()) {
      previous = call_id;
    }
  }
  if (!turn.feedback_to_model.empty() && turn.tool_calls.empty()) {
    inner += fold(
        id + "-feedback", "answer of the harness", shown.block(turn.feedback_to_model, ""), true);
  }
  const std::string state = turn_state(turn);
  return element(
      "section",
      {{"class", state.empty() ? "turn" : "turn " + state}, {"id", id}, {"aria-label", id}},
      inner);
}

double waited(const Turn& turn) {
  double seconds = 0;
  for (const record::Request& request : turn.requests) {
    seconds += request.wait_s;
  }
  return seconds;
}

// What was at work when. Records without starting times have one after the other.
nlohmann::json spans_of(const Turn& turn, double& ended) {
  const double start = turn.started_s > 0 ? turn.started_s : ended;
  double at = start + waited(turn) + turn.llm_latency_s;
  nlohmann::json tools = nlohmann::json::array();
  for (const ToolCall& call : turn.tool_calls) {
    at = call.started_s > 0 ? call.started_s : at;
    tools.push_back({{"tool", visible(call.tool_name)},
                     {"start", at},
                     {"seconds", call.wall_clock_s},
                     {"ok", call.success}});
    at += call.wall_clock_s;
  }
  ended = std::max(start + turn.turn_wall_clock_s, at);
  return {{"turn", turn_number(turn)},
          {"start", start},
          {"wait", waited(turn)},
          {"model", turn.llm_latency_s},
          {"tools", std::move(tools)}};
}

nlohmann::json turn_tokens(const Turn& turn, double& /*ended*/) {
  const record::Usage usage = turn.llm_usage.value_or(record::Usage{});
  return {{"turn", turn_number(turn)},
          {"in", usage.input_tokens},
          {"out", usage.output_tokens - usage.reasoning_tokens},
          {"reasoning", usage.reasoning_tokens}};
}

std::string turn_csv(const Trajectory& t) {
  std::string out =
      "turn,started_s,waited_s,model_s,tools_s,input_tokens,output_tokens,reasoning_tokens\r\n";
  for (const Turn& turn : t.turns) {
    const record::Usage usage = turn.llm_usage.value_or(record::Usage{});
    out += fmt::format("{},{},{},{},{},{},{},{}\r\n",
                       turn_number(turn),
                       turn.started_s,
                       waited(turn),
                       turn.llm_latency_s,
                       turn.tools_wall_clock_s,
                       usage.input_tokens,
                       usage.output_tokens,
                       usage.reasoning_tokens);
  }
  return out;
}

Markup turn_table(const Trajectory& t) {
  Table table{"turn-table",
              "",
              {"turn",
               "starts at",
               "model",
               "waited",
               "tools",
               "tokens in",
               "out",
               "reasoning",
               "calls",
               "failed",
               "best so far",
               "cost"},
              std::vector<bool>(12, true),
              {}};
  for (const Turn& turn : t.turns) {
    const record::Usage usage = turn.llm_usage.value_or(record::Usage{});
    const auto fails = std::count_if(turn.tool_calls.begin(),
                                     turn.tool_calls.end(),
                                     [](const ToolCall& call) { return !call.success; });
    const auto number = [](auto value) { return text(std::to_string(value)); };
    table.rows.push_back(
        {element("a",
                 {{"href", fmt::format("#turn-{}", turn_number(turn))}},
                 number(turn_number(turn))),
         text(util::human_seconds(turn.started_s)),
         text(util::human_seconds(turn.llm_latency_s)),
         text(util::human_seconds(waited(turn))),
         text(util::human_seconds(turn.tools_wall_clock_s)),
         number(usage.input_tokens),
         number(usage.output_tokens),
         number(usage.reasoning_tokens),
         number(turn.tool_calls.size()),
         number(fails),
         text(turn.best_visible_speedup ? util::human_ratio(*turn.best_visible_speedup) : "\u2014"),
         text(turn.cost_usd ? dollars(turn.cost_usd) : "\u2014")});
  }
  return render(table);
}

// What one tool call came to.
std::string step_words(const ToolCall& call) {
  std::string verdict = look_text(call.metadata, {"verdict"});
  if (call.tool_name == "submit_kernel") {
    return verdict.empty() ? "submitted" : "submitted: " + verdict;
  }
  // Before timing every correct kernel has this verdict; the tool's name says more.
  if (verdict == "PASS_INCONCLUSIVE" || (verdict.empty() && call.success)) {
    return call.tool_name + " ok";
  }
  return call.tool_name + (verdict.empty() ? " failed" : ": " + verdict);
}

}  // namespace

Markup turn_sections(const Trajectory& trajectory, ShownText& shown) {
  Markup out;
  std::string previous;
  for (const Turn& turn : trajectory.turns) {
    out += turn_section(turn, previous, shown);
  }
  return out;
}

Markup turn_strip(const Trajectory& trajectory) {
  Markup list;
  for (const Turn& turn : trajectory.turns) {
    const std::string state = turn_state(turn);
    const std::string name = fmt::format("turn {}{}",
                                         turn_number(turn),
                                         state == "fail" ? ", a tool call failed"
                                         : state == "ok" ? ", ok"
                                                         : "");
    list += element("li",
                    element("a",
                            {{"class", state},
                             {"href", fmt::format("#turn-{}", turn_number(turn))},
                             {"aria-label", name}},
                            text(std::to_string(turn_number(turn)))));
  }
  return element("ol", {{"class", "strip"}, {"aria-label", "Turns"}}, list);
}

Markup turn_figures(const Trajectory& trajectory) {
  if (trajectory.turns.empty()) {
    return {};
  }
  const std::string n = fmt::format("n = {} turns", trajectory.turns.size());
  const std::string csv_text = turn_csv(trajectory);
  const auto figure = [&](const char* name, const std::string& caption, const auto& row) {
    nlohmann::json rows = nlohmann::json::array();
    double ended = 0;  // of the turn before, seconds since the session began
    for (const Turn& turn : trajectory.turns) {
      rows.push_back(row(turn, ended));
    }
    nlohmann::json data = {{"schema", 1}, {"title", caption}, {"csv", csv_text}};
    data["turns"] = std::move(rows);
    const std::string id = std::string("fig-") + name;
    return element(
        "figure",
        {{"class", "chart"}, {"id", id}, {"data-figure", name}},
        element("figcaption", text(caption)) +
            json_block(id + "-data",
                       data.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)));
  };
  return element("h2", {{"id", "timeline"}}, text("Timeline")) +
         figure(
             "timeline",
             "Seconds since the session began: waiting for the endpoint, the model, the tools; " +
                 n + ". Times of turns from the ledger are those of the replay.",
             spans_of) +
         figure("turn-tokens",
                "Tokens of each turn, prompts counted anew each time; " + n + ".",
                turn_tokens) +
         fold("turns-fold", "The same as a table", turn_table(trajectory));
}

std::string story_of(const Trajectory& trajectory) {
  constexpr std::size_t kMostSteps = 40;
  std::vector<std::pair<std::string, std::size_t>> steps;
  for (const Turn& turn : trajectory.turns) {
    for (const ToolCall& call : turn.tool_calls) {
      std::string words = step_words(call);
      if (!steps.empty() && steps.back().first == words) {
        ++steps.back().second;
      } else if (steps.size() < kMostSteps) {
        steps.emplace_back(std::move(words), 1);
      }
    }
  }
  std::string out;
  for (const auto& [words, count] : steps) {
    out += (out.empty() ? "" : ", ") + words;
    out += count > 1 ? fmt::format(" \u00d7{}", count) : "";
  }
  return out;
}

}  // namespace sweep::report

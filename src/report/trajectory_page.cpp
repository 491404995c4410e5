#include "report/evidence_view.h"
#include "report/json_look.h"
#include "report/pages.h"
#include "report/profile_view.h"
#include "report/shown_text.h"
#include "report/stream.h"
#include "report/timing_view.h"
#include "report/turn_view.h"
#include "report/words.h"
#include "util/text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

using record::Trajectory;
using record::Turn;

// The trajectory's time by what took it.
Markup time_card(const Trajectory& t) {
  double model = 0, waited = 0, tools = 0;
  for (const Turn& turn : t.turns) {
    model += turn.llm_latency_s;
    tools += turn.tools_wall_clock_s;
    for (const record::Request& request : turn.requests) {
      waited += request.wait_s;
    }
  }
  return card(util::human_seconds(t.agent_wall_clock_s),
              fmt::format("wall time: {} model, {} waiting for its endpoint, {} tools",
                          util::human_seconds(model),
                          util::human_seconds(waited),
                          util::human_seconds(tools)));
}

Markup token_card(const Trajectory& t) {
  const auto count = [](std::int64_t tokens) {
    return util::human_count(static_cast<std::uint64_t>(std::max<std::int64_t>(tokens, 0)));
  };
  std::int64_t reasoning = 0;
  for (const Turn& turn : t.turns) {
    reasoning += turn.llm_usage ? turn.llm_usage->reasoning_tokens : 0;
  }
  return card(count(t.llm_total_tokens),
              fmt::format("tokens: {} in, {} out, of these {} reasoning",
                          count(t.llm_input_tokens),
                          count(t.llm_output_tokens),
                          count(reasoning)));
}

Markup head_cards(const Row& row, const Trajectory& t) {
  Markup out = verdict_card(row) + speedup_card(row);
  if (t.final_result && t.final_result->runtime_us && t.final_result->ref_runtime_us) {
    out += card(util::human_seconds(*t.final_result->runtime_us * 1e-6),
                "a call, geometric mean over the shapes; the seed takes " +
                    util::human_seconds(*t.final_result->ref_runtime_us * 1e-6));
  }
  out += card(fmt::format("{} / {}", t.total_turns, t.max_turns),
              fmt::format("turns; {} of {} tool calls", t.total_tool_calls, t.max_tool_calls));
  out += token_card(t);
  out += card(dollars(t.cost_usd), cost_label(t.cost_wasted_usd.value_or(0)));
  return element("div", {{"class", "cards"}}, out + time_card(t));
}

// Circumstances that a reader should know of, one badge each.
Markup notes_of(const Row& row, const Trajectory& t) {
  Markup out;
  const auto note = [&](const std::string& words) {
    out += element("span", {{"class", "badge"}}, text(words)) + text(" ");
  };
  if (!row.scored()) {
    note("problem not admitted (" + row.admission + "): in no rate or mean");
  }
  if (t.final_result) {
    for (const std::string& flag : t.final_result->flags) {
      note(flag);
    }
  }
  if (t.answers_cut > 0) {
    note(fmt::format("{} answer{} cut by the output limit",
                     t.answers_cut,
                     t.answers_cut == 1 ? " was" : "s were"));
  }
  if (t.chat_history_window_truncated) {
    note("the context overflowed");
  }
  if (t.times_retried > 0) {
    note(fmt::format("begun anew {}\u00d7", t.times_retried));
  }
  if (t.interruptions > 0) {
    note(fmt::format("continued {}\u00d7", t.interruptions));
  }
  return out.empty() ? out : element("p", out);
}

Markup definition_row(const char* term, const Markup& words) {
  return element("dt", text(term)) + element("dd", words);
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
  row("commit", p.git_commit);
  row("config", p.config_sha256);
  row("problem", p.problem_sha256);
  row("seed kernel", p.seed_sha256);
  row("prompts", p.prompts_sha256);
  row("kernel", t.final_result ? t.final_result->kernel_sha256 : "");
  row("plan", t.final_result ? t.final_result->plan_sha256 : "");
  row("sandbox", p.sandboxed ? "yes" : "no: run without a sandbox");
  row("endpoint", without_secrets(p.base_url));
  row("started", t.started_at);
  row("finished", t.finished_at.value_or(""));
  row("stop", stop_words(t.stop_reason));
  row("policy", p.data_policy);
  return render(table);
}

// What a reader asks first: why it ended so, what happened, and how to see it again.
Markup summary_of(const Row& row, const Trajectory& t) {
  const std::string& page = row.page;
  Markup list = definition_row("why", text(reason_of(row)));
  if (const std::string story = story_of(t); !story.empty()) {
    list += definition_row("course", text(story));
  }
  if (!t.stop_reason.empty()) {
    list += definition_row("ended", text(stop_words(t.stop_reason)));
  }
  if (t.final_result && !t.final_result->inner_verdict.empty()) {
    list += definition_row("inner verdict", text(t.final_result->inner_verdict));
  }
  if (t.final_result && !t.final_result->reproduce.empty()) {
    list += definition_row("reproduce",
                           text("in the run's folder: ") +
                               element("code", {{"class", "copy"}}, text(command_of(row))));
  }
  if (page.starts_with("t/") && page.ends_with(".html")) {
    list +=
        definition_row("record",
                       element("code", text(page.substr(2, page.size() - 7) + "_trajectory.json")) +
                           text(" in the run's folder"));
  }
  return element("dl", {{"class", "summary"}}, list);
}

Markup submitted_kernel(const Trajectory& t, ShownText& shown) {
  std::optional<std::string> submitted;
  for (const Turn& turn : t.turns) {
    submitted = turn.submitted_kernel ? turn.submitted_kernel : submitted;
  }
  if (!submitted) {
    return {};
  }
  const std::string where =
      t.final_result ? artifact_name(t.final_result->kernel_sha256) : std::string();
  return element("h2", {{"id", "kernel"}}, text("Submitted kernel")) +
         shown.code("submitted", *submitted, where);
}

Markup prompt_part(const Trajectory& t, ShownText& shown) {
  Markup out = element("h2", {{"id", "prompt"}}, text("Prompt"));
  out += fold("system-prompt", "system prompt", shown.block(t.system_prompt, ""));
  if (!t.turns.empty()) {
    const std::string input =
        t.turns.front().messages_in.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    out += fold("first-input", "first input as sent", shown.block(input, ""));
  }
  return out;
}

// Links to the parts of the page that it has.
Markup contents(const Trajectory& t) {
  Markup list;
  const auto entry = [&](const char* id, const char* words) {
    list += element("li", element("a", {{"href", std::string("#") + id}}, text(words)));
  };
  if (t.final_result) {
    entry("kernel", "kernel");
    if (!t.final_result->timings.empty()) {
      entry("timing", "timing");
    }
    entry("evidence", "evidence");
  }
  entry("timeline", "timeline");
  entry("turns", "turns");
  entry("prompt", "prompt");
  entry("provenance", "provenance");
  return element("nav", {{"class", "contents"}, {"aria-label", "Parts"}}, element("ul", list));
}

}  // namespace

std::string trajectory_page(const Context& context, const Row& row, const Trajectory& t) {
  ShownText shown;
  Markup body =
      element("h1", text(row.problem + " " + row.title) + text(" ") + badge(row, standing(row)));
  body += element("p",
                  {{"class", "meta"}},
                  text(fmt::format("{}, problem {}, variant {}, harness {}, attempt {}",
                                   t.model_name,
                                   t.problem_name,
                                   t.variant,
                                   t.harness,
                                   t.attempt)));
  body += notes_of(row, t) + head_cards(row, t) + summary_of(row, t) + contents(t);
  body += submitted_kernel(t, shown);
  if (t.final_result) {
    body += timing_view(*t.final_result, row) + evidence_view(*t.final_result, shown);
  }
  body += profile_view(t) + turn_figures(t);
  body += element("h2", {{"id", "turns"}}, text("Turns")) +
          element("p", {{"class", "meta"}}, text("j and k go from turn to turn.")) + turn_strip(t);
  body += turn_sections(t, shown);
  if (context.stream) {
    body += stream_section(*context.stream);
  }
  body += prompt_part(t, shown);
  body += element("h2", {{"id", "provenance"}}, text("Provenance")) + provenance(t);
  return document(
      context,
      row.page,
      row.problem + " " + row.title + ", " + row.model,
      {{row.model, model_page_name(row.model)}, {row.problem, problem_page_name(row.problem)}},
      body);
}

}  // namespace sweep::report

// The tables of items.
#include "report/summary.h"
#include "report/table_fields.h"
#include "report/tables.h"
#include "report/words.h"

#include <algorithm>

namespace sweep::report {

namespace {

using ItemRow = const Row*;

std::string words_in(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) {
    out += (out.empty() ? "" : " ") + part;
  }
  return out;
}

void append_fields(Fields<ItemRow>& to, Fields<ItemRow> more, bool on_page) {
  for (Field<ItemRow>& field : more) {
    to.push_back(on_page ? std::move(field) : data_only(std::move(field)));
  }
}

Fields<ItemRow> item_identity_fields() {
  Field<ItemRow> problem = text_field<ItemRow>(
      "problem", "problem", "Level and problem.", [](const ItemRow& r) { return r->problem; });
  problem.value = [](const ItemRow& r) {
    Cell out = cell(r->problem);
    out.page = r->page;
    return out;
  };
  return {problem,
          text_field<ItemRow>("model",
                              "model",
                              "Name in the configuration.",
                              [](const ItemRow& r) { return r->model; }),
          text_field<ItemRow>("variant",
                              "variant",
                              "Problem set that the run names.",
                              [](const ItemRow& r) { return r->variant; }),
          count_field<ItemRow>(
              "attempt", "attempt", "From 1.", [](const ItemRow& r) { return r->attempt; }),
          text_field<ItemRow>("harness", "harness", "How the model was led.", [](const ItemRow& r) {
            return r->harness;
          })};
}

Fields<ItemRow> item_more_identity_fields() {
  return {text_field<ItemRow>("item",
                              "item",
                              "VARIANT/MODEL/LEVEL/PROBLEM, and #ATTEMPT from 2 on.",
                              [](const ItemRow& r) { return r->item; }),
          text_field<ItemRow>(
              "run", "run", "Name of the run.", [](const ItemRow& r) { return r->run; }),
          text_field<ItemRow>("level",
                              "level",
                              "First part of the problem's name.",
                              [](const ItemRow& r) { return r->level; }),
          text_field<ItemRow>(
              "title", "title", "The problem's own.", [](const ItemRow& r) { return r->title; }),
          text_field<ItemRow>("domain",
                              "domain",
                              "Field that the problem is from.",
                              [](const ItemRow& r) { return r->domain; }),
          text_field<ItemRow>("slates",
                              "slates",
                              "Curated lists that name the problem.",
                              [](const ItemRow& r) { return words_in(r->slates); }),
          truth_field<ItemRow>("scored",
                               "scored",
                               "The problem was admitted, so the item is in rates and means.",
                               [](const ItemRow& r) { return std::optional(r->scored()); }),
          text_field<ItemRow>("backend",
                              "backend",
                              "Language of the kernels.",
                              [](const ItemRow& r) { return r->backend; }),
          text_field<ItemRow>("precision", "precision", "As configured.", [](const ItemRow& r) {
            return r->precision;
          })};
}

Fields<ItemRow> item_outcome_fields() {
  Field<ItemRow> outcome =
      text_field<ItemRow>("outcome",
                          "outcome",
                          "How the item ended; docs/run_format.md lists the words.",
                          [](const ItemRow& r) { return r->outcome; });
  outcome.value = [](const ItemRow& r) {
    Cell out = cell(r->outcome);
    out.words = outcome_words(r->outcome);
    return out;
  };
  return {outcome,
          text_field<ItemRow>(
              "verdict",
              "verdict",
              "Of the judge; docs/verdicts.md lists the words.",
              [](const ItemRow& r) { return r->verdict; },
              "no kernel was judged"),
          {{"speedup",
            "speedup",
            "seed time / kernel time",
            Type::interval,
            Show::ratio,
            "Geometric mean over the timed shapes, with its 95% interval; of correct kernels."},
           [](const ItemRow& r) { return cell(r->speedup, no_speedup(*r)); }},
          number_field<ItemRow>(
              "runtime_us",
              "kernel",
              "us",
              Show::micros,
              "Geometric mean over the timed shapes.",
              [](const ItemRow& r) { return r->runtime_us; },
              "not timed"),
          number_field<ItemRow>(
              "seed_us",
              "seed",
              "us",
              Show::micros,
              "The seed kernel's in the same session.",
              [](const ItemRow& r) { return r->seed_us; },
              "not timed")};
}

Fields<ItemRow> item_result_fields() {
  const auto stage = [](const char* name) {
    return [name](const ItemRow& r) { return passed(*r, name); };
  };
  const auto metric = [](const char* name) {
    return [name](const ItemRow& r) { return metric_of(*r, name); };
  };
  return {
      text_field<ItemRow>(
          "inner_verdict",
          "inner verdict",
          "Of the stress or held-out failure.",
          [](const ItemRow& r) { return r->inner_verdict; },
          "no such failure"),
      text_field<ItemRow>(
          "flags",
          "flags",
          "Of the judge, separated by blanks.",
          [](const ItemRow& r) { return words_in(r->flags); },
          "none"),
      text_field<ItemRow>(
          "stop_reason",
          "stop",
          "Why the conversation ended.",
          [](const ItemRow& r) { return r->stop_reason; },
          "not ended"),
      truth_field<ItemRow>(
          "compiled",
          "compiled",
          "The kernel that was handed in compiled.",
          [](const ItemRow& r) {
            return r->has_result ? std::optional(r->compiled) : std::nullopt;
          },
          "no kernel was judged"),
      truth_field<ItemRow>(
          "correct",
          "correct",
          "It passed every check that decides.",
          [](const ItemRow& r) { return r->finished() ? std::optional(r->correct) : std::nullopt; },
          "not ended"),
      truth_field<ItemRow>("check_passed", "check", "Published shapes.", stage("check")),
      truth_field<ItemRow>("stress_passed", "stress", "Random and edge shapes.", stage("stress")),
      truth_field<ItemRow>("held_out_passed", "held-out", "Held-out shapes.", stage("held_out")),
      number_field<ItemRow>("worst_share",
                            "worst error",
                            "1",
                            Show::percent,
                            "Largest error as a share of what is allowed.",
                            [](const ItemRow& r) { return r->worst_share; }),
      number_field<ItemRow>("share_of_floor",
                            "of floor",
                            "1",
                            Show::percent,
                            "Lower bound of the time over the time; geometric mean over shapes.",
                            [](const ItemRow& r) { return r->share_of_floor; }),
      {{"launches",
        "launches",
        "",
        Type::integer,
        Show::plain,
        "Kernel launches of the plan on the first timed shape."},
       [](const ItemRow& r) { return r->launches > 0 ? cell(r->launches) : missing("not known"); }},
      number_field<ItemRow>("memory_ratio",
                            "memory",
                            "seed / kernel",
                            Show::ratio,
                            "The seed's memory over the kernel's; geometric mean over shapes.",
                            metric("memory_ratio")),
      number_field<ItemRow>(
          "energy_ratio",
          "energy",
          "seed / kernel",
          Show::ratio,
          "The seed's energy a call over the kernel's; geometric mean over shapes.",
          metric("energy_ratio")),
      number_field<ItemRow>("speed_of_light",
                            "of peak",
                            "1",
                            Show::percent,
                            "Share of the roofline; geometric mean over shapes.",
                            metric("speed_of_light"))};
}

Fields<ItemRow> item_effort_fields() {
  return {count_field<ItemRow>(
              "turns", "turns", "Answers of the model.", [](const ItemRow& r) { return r->turns; }),
          count_field<ItemRow>("tool_calls",
                               "tool calls",
                               "Of all tools.",
                               [](const ItemRow& r) { return r->tool_calls; }),
          count_field<ItemRow>(
              "tokens",
              "tokens",
              "In and out, of the answers that count.",
              [](const ItemRow& r) { return r->input_tokens + r->output_tokens; },
              Show::count),
          number_field<ItemRow>(
              "cost_usd",
              "cost",
              "usd",
              Show::dollars,
              "Of the answers that count.",
              [](const ItemRow& r) { return r->cost_usd; },
              "its price is not known"),
          number_field<ItemRow>("wall_seconds",
                                "wall",
                                "s",
                                Show::seconds,
                                "From begin to end of the conversation.",
                                [](const ItemRow& r) { return std::optional(r->wall_seconds); })};
}

Fields<ItemRow> item_more_effort_fields() {
  return {count_field<ItemRow>(
              "input_tokens", "in", "Prompts.", [](const ItemRow& r) { return r->input_tokens; }),
          count_field<ItemRow>("output_tokens",
                               "out",
                               "Answers, reasoning included.",
                               [](const ItemRow& r) { return r->output_tokens; }),
          count_field<ItemRow>("reasoning_tokens",
                               "reasoning",
                               "Part of the output tokens.",
                               [](const ItemRow& r) { return r->reasoning_tokens; }),
          count_field<ItemRow>("cached_tokens",
                               "cached",
                               "Part of the input tokens.",
                               [](const ItemRow& r) { return r->cached_tokens; }),
          number_field<ItemRow>(
              "wasted_usd",
              "wasted",
              "usd",
              Show::dollars,
              "Of answers that were lost, estimated.",
              [](const ItemRow& r) { return r->wasted_usd; },
              "its price is not known"),
          count_field<ItemRow>("answers_cut",
                               "answers cut",
                               "By the model's output limit.",
                               [](const ItemRow& r) { return r->answers_cut; }),
          count_field<ItemRow>("retried",
                               "retried",
                               "How often the item was begun anew.",
                               [](const ItemRow& r) { return r->retried; }),
          count_field<ItemRow>("interruptions",
                               "interruptions",
                               "How often it was continued.",
                               [](const ItemRow& r) { return r->interruptions; }),
          text_field<ItemRow>(
              "error_code",
              "error",
              "Of an item that ended in an error.",
              [](const ItemRow& r) { return r->error_code; },
              "no error")};
}

Fields<ItemRow> item_origin_fields() {
  const auto text = [](const char* key, const char* description, std::string Row::*member) {
    return text_field<ItemRow>(
        key, key, description, [member](const ItemRow& r) { return r->*member; });
  };
  const auto instant = [](const char* key, const char* description, std::string Row::*member) {
    Field<ItemRow> field = text_field<ItemRow>(
        key, key, description, [member](const ItemRow& r) { return r->*member; }, "not yet");
    field.column.type = Type::instant;
    return field;
  };
  return {instant("started_at", "UTC.", &Row::started_at),
          instant("finished_at", "UTC.", &Row::finished_at),
          text("device", "Device of the judge: cuda:0, cpu.", &Row::device),
          text("gpu", "Processor that the kernels ran on.", &Row::gpu),
          text("driver", "Of the GPU.", &Row::driver),
          text("arch", "Architecture compiled for.", &Row::arch),
          text("compiler", "Of the kernel.", &Row::compiler),
          text("version", "Of sweep.", &Row::version),
          text("git_commit", "Of the checkout that sweep was built in.", &Row::git_commit),
          text("judge_version", "Of the judge.", &Row::judge_version),
          count_field<ItemRow>("judge_rules",
                               "judge_rules",
                               "Number of the judge's rules; 0: nothing was judged.",
                               [](const ItemRow& r) { return r->judge_rules; }),
          truth_field<ItemRow>("sandboxed",
                               "sandboxed",
                               "The kernel ran in a sandbox.",
                               [](const ItemRow& r) { return std::optional(r->sandboxed); }),
          count_field<ItemRow>(
              "seed", "seed", "Of the draws.", [](const ItemRow& r) { return r->seed; }),
          text("kernel_sha256", "Of the text that was judged.", &Row::kernel_sha256),
          text("problem_sha256", "Of the problem.", &Row::problem_sha256),
          text("seed_sha256", "Of the seed kernel.", &Row::seed_sha256),
          text("prompts_sha256", "Of the prompt texts.", &Row::prompts_sha256),
          text("config_sha256", "Of the configuration and its conditions.", &Row::config_sha256),
          text("price_sha256", "Of the price.", &Row::price_sha256),
          text("reproduce", "Command that judges the kernel again.", &Row::reproduce)};
}

Field<ItemRow> item_why_field() {
  return text_field<ItemRow>(
      "why", "why", "Why it ended as it did, made from the verdict.", [](const ItemRow& r) {
        return reason_of(*r);
      });
}

}  // namespace

DataTable items_table(const RowPointers& rows) {
  Fields<ItemRow> fields;
  append_fields(fields, item_identity_fields(), true);
  append_fields(fields, item_outcome_fields(), true);
  append_fields(fields, item_effort_fields(), true);
  append_fields(fields, item_more_identity_fields(), false);
  append_fields(fields, item_result_fields(), false);
  append_fields(fields, item_more_effort_fields(), false);
  append_fields(fields, item_origin_fields(), false);
  append_fields(fields, {item_why_field()}, false);
  return table_of("items",
                  "Items",
                  "One row an item of the run: a model's attempt at a problem.",
                  fields,
                  rows);
}

DataTable failures_table(const RowPointers& rows) {
  RowPointers failed;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(failed), [](const Row* row) {
    return row->finished() && row->outcome != "correct";
  });
  Fields<ItemRow> fields;
  Fields<ItemRow> identity = item_identity_fields();
  const Fields<ItemRow> outcome = item_outcome_fields();
  identity.insert(identity.end(), {outcome[0], outcome[1], item_why_field()});
  append_fields(fields, std::move(identity), true);
  return table_of("failures",
                  "What did not pass",
                  "Finished items that are not correct, with the reason.",
                  fields,
                  failed);
}

}  // namespace sweep::report

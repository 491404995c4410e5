#include "report/evidence_view.h"

#include "report/json_look.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace sweep::report {

namespace {

using nlohmann::json;

constexpr std::size_t kMostCalls = 400;   // rows of a table
constexpr std::size_t kMostErrors = 20;   // of a plan
constexpr std::size_t kMostKernels = 50;  // of a submission

Markup outcome_badge(bool good) {
  return element(
      "span", {{"class", good ? "badge ok" : "badge incorrect"}}, text(good ? "ok" : "failed"));
}

Markup stage_table(const record::FinalResult& result) {
  Table table{"stages",
              "",
              {"stage", "result", "passed", "seconds", "what"},
              {false, false, true, true, false},
              {}};
  for (const record::Stage& stage : result.stages) {
    table.rows.push_back(
        {text(stage.name),
         stage.ran ? outcome_badge(stage.passed) : text("not run"),
         text(stage.total_count > 0 ? fmt::format("{}/{}", stage.passed_count, stage.total_count)
                                    : "\u2014"),
         text(fmt::format("{:.2f}", stage.seconds)),
         text(stage.summary)});
  }
  return table.rows.empty() ? Markup{} : render(table);
}

Markup definition(const char* term, const std::string& words) {
  return words.empty() ? Markup{} : element("dt", text(term)) + element("dd", text(words));
}

std::string number_text(const json& failure, const char* key) {
  const auto value = look_number(failure, {key});
  return value ? fmt::format("{:.9g}", *value) : std::string();
}

// "y[0, 128]"
std::string place_text(const json& failure) {
  const std::string tensor = look_text(failure, {"tensor"});
  std::string index;
  for (const json& at : look_list(failure, {"index"})) {
    if (at.is_number_integer() && index.size() < 200) {
      index += fmt::format("{}{}", index.empty() ? "" : ", ", at.get<std::int64_t>());
    }
  }
  return tensor.empty() || index.empty() ? tensor : tensor + "[" + index + "]";
}

Markup failure_panel(const char* stage, const json& failure) {
  const std::string place = place_text(failure);
  std::string wrong;
  const auto count = look_number(failure, {"wrong"});
  const auto total = look_number(failure, {"total"});
  if (count && total && *total > 0) {
    wrong = fmt::format("{:.0f} of {:.0f} elements", *count, *total);
  }
  Markup list = definition("seen in", stage);
  list += definition("verdict", look_text(failure, {"verdict"}));
  if (!place.empty()) {
    list += definition("first wrong", place) + definition("got", number_text(failure, "got")) +
            definition("expected", number_text(failure, "expected")) +
            definition("allowed difference", number_text(failure, "allowed"));
  }
  list += definition("wrong", wrong) + definition("where", look_text(failure, {"pattern"})) +
          definition("caught by", look_text(failure, {"defence"})) +
          definition("hint", look_text(failure, {"hint"}));
  return element("div",
                 {{"class", "panel failure"}},
                 element("p", text(look_text(failure, {"text"}))) + element("dl", list));
}

// The compiler's or the plan reader's own words.
Markup refusals(const record::FinalResult& result, ShownText& shown) {
  Markup out;
  const auto& errors = look_list(result.evaluation, {"stages", "screen", "errors"});
  for (std::size_t i = 0; i < std::min(errors.size(), kMostErrors); ++i) {
    const std::string words = errors[i].is_string()
                                  ? errors[i].get<std::string>()
                                  : errors[i].dump(-1, ' ', false, json::error_handler_t::replace);
    out += shown.block(words, "");
  }
  const std::string log = look_text(result.evaluation, {"stages", "compile", "log"});
  if (!log.empty()) {
    out += fold("compiler-log", "what the compiler said", shown.block(log, ""), !result.compiled);
  }
  return out;
}

Markup kernel_table(const record::FinalResult& result) {
  Table table{"kernels",
              "Compiled kernels",
              {"kernel", "registers", "spilled bytes", "shared bytes", "stack bytes"},
              {false, true, true, true, true},
              {}};
  for (const json& kernel : look_list(result.evaluation, {"stages", "compile", "kernels"})) {
    if (table.rows.size() >= kMostKernels || !kernel.is_object()) {
      continue;
    }
    std::vector<Markup> row = {text(look_text(kernel, {"name"}))};
    for (const char* key : {"registers", "spill_bytes", "shared_bytes", "stack_bytes"}) {
      const auto value = look_number(kernel, {key});
      row.push_back(text(value && *value >= 0 ? fmt::format("{:.0f}", *value) : "\u2014"));
    }
    table.rows.push_back(std::move(row));
  }
  return table.rows.empty() ? Markup{} : render(table);
}

// Calls of one shape and content.
struct CallGroup {
  std::string shape, sizes, content;
  std::size_t draws = 0, failures = 0;
  double worst = 0;
};

std::vector<CallGroup> grouped(const json::array_t& calls) {
  std::vector<CallGroup> out;
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (const json& call : calls) {
    if (!call.is_object()) {
      continue;
    }
    const std::pair key(look_text(call, {"shape"}), look_text(call, {"content"}));
    const auto [at, fresh] = known.emplace(key, out.size());
    if (fresh) {
      const json* dims = look(call, {"dims"});
      out.push_back({key.first, dims == nullptr ? "" : sizes_text(*dims), key.second, 0, 0, 0});
    }
    CallGroup& group = out[at->second];
    ++group.draws;
    group.worst = std::max(group.worst, look_number(call, {"worst_share"}).value_or(0));
    const json* failure = look(call, {"failure"});
    group.failures += failure != nullptr && !failure->is_null() ? 1U : 0U;
  }
  return out;
}

Markup call_table(const record::FinalResult& result, const char* stage, const char* title) {
  const auto& calls = look_list(result.evaluation, {"stages", stage, "calls"});
  Table table{
      std::string("calls-") + stage,
      "",
      {"shape", "sizes", "contents", "draws", "largest error, of what is allowed", "result"},
      {false, false, false, true, true, false},
      {}};
  std::size_t failures = 0;
  for (const CallGroup& group : grouped(calls)) {
    failures += group.failures;
    if (table.rows.size() < kMostCalls) {
      table.rows.push_back({text(group.shape),
                            text(group.sizes),
                            text(group.content),
                            text(std::to_string(group.draws)),
                            text(fmt::format("{:.1f}%", 100 * group.worst)),
                            outcome_badge(group.failures == 0)});
    }
  }
  if (table.rows.empty()) {
    return {};
  }
  return fold(std::string("calls-fold-") + stage,
              fmt::format("{}: {} calls, {} failed", title, calls.size(), failures),
              render(table),
              failures > 0);
}

}  // namespace

Markup failure_list(const record::FinalResult& result) {
  struct Place {
    const char* stage;
    const char* member;
    const char* words;
  };

  constexpr std::array places = {Place{"check", "failure", "check, on the visible shapes"},
                                 Place{"stress", "inner", "stress, on shapes that were not shown"},
                                 Place{"time", "failure", "a timed call"},
                                 Place{"heldout", "inner", "held-out shapes"}};
  Markup out;
  for (const Place& place : places) {
    const json* failure = look(result.evaluation, {"stages", place.stage, place.member});
    if (failure != nullptr && failure->is_object()) {
      out += failure_panel(place.words, *failure);
    }
  }
  return out;
}

Markup evidence_view(const record::FinalResult& result, ShownText& shown) {
  const Markup inner = stage_table(result) + failure_list(result) + refusals(result, shown) +
                       kernel_table(result) + call_table(result, "check", "Check, visible shapes") +
                       call_table(result, "stress", "Stress, random and edge shapes") +
                       call_table(result, "heldout", "Held-out shapes");
  return inner.empty() ? Markup{} : element("h2", {{"id", "evidence"}}, text("Evidence")) + inner;
}

}  // namespace sweep::report

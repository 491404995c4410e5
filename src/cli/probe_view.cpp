#include "cli/probe_view.h"

#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

// The checks that have a column; the others are lines below.
constexpr std::array kColumns = {"reach", "model", "answer", "stream", "tools", "think"};
constexpr std::size_t kColumn = 7;
constexpr std::size_t kMostName = 24;
constexpr std::size_t kIndent = 16;  // of a check's text

std::string word(CheckState state) {
  switch (state) {
    case CheckState::ok:
      return "ok";
    case CheckState::warn:
      return "warn";
    case CheckState::fail:
      return "FAIL";
    default:
      return "-";
  }
}

std::string painted(CheckState state, const std::string& text, const Style& style) {
  switch (state) {
    case CheckState::ok:
      return style.good(text);
    case CheckState::warn:
      return style.warn(text);
    case CheckState::fail:
      return style.bad(text);
    default:
      return style.dim(text);
  }
}

const ProbeCheck* find(const ProbedModel& model, std::string_view name) {
  const auto found = std::ranges::find(model.checks, name, &ProbeCheck::name);
  return found == model.checks.end() ? nullptr : &*found;
}

std::string table(const std::vector<ProbedModel>& models, const Style& style) {
  std::size_t name = 5;
  for (const ProbedModel& model : models) {
    name = std::max(name, std::min(util::printable(model.model).size(), kMostName));
  }
  std::string head = pad_right("model", name + 2);
  for (const char* column : kColumns) {
    head += pad_right(column, kColumn);
  }
  std::string out = style.strong(head + "first tok/s") + "\n";
  for (const ProbedModel& model : models) {
    out += pad_right(util::printable(model.model).substr(0, kMostName), name + 2);
    for (const char* column : kColumns) {
      const ProbeCheck* check = find(model, column);
      const CheckState state = check != nullptr ? check->state : CheckState::none;
      out += painted(state, pad_right(word(state), kColumn), style);
    }
    out += pad_right(model.first_token_s ? fmt::format("{:.2f}", *model.first_token_s) : "-", 6);
    out += model.tokens_per_s ? fmt::format("{:.0f}", *model.tokens_per_s) : "-";
    out += "\n";
  }
  return out;
}

// Text behind a label of kIndent columns.
std::string labelled(const std::string& label, const std::string& text, std::size_t width) {
  const std::string block = wrapped(text, kIndent, width);
  return label + block.substr(std::min(block.size(), kIndent));
}

std::string details(const ProbedModel& model, const Style& style, std::size_t width) {
  std::string out = "\n" + style.strong(util::printable(model.model)) + "\n";
  out += wrapped(model.api + " at " + model.url + ", profile " + model.profile +
                     (model.proxy.empty() ? ", no proxy" : ", proxy " + model.proxy) +
                     (model.key.empty() ? ", no key" : ", key " + model.key),
                 2,
                 width);
  for (const ProbeCheck& check : model.checks) {
    const std::string label = "  " + painted(check.state, pad_right(word(check.state), 6), style) +
                              pad_right(check.name, kIndent - 8);
    out += labelled(label, util::printable(check.text), width);
    if (!check.next.empty()) {
      out += wrapped(util::printable(check.next), kIndent, width);
    }
  }
  return out;
}

}  // namespace

std::string probe_text(const std::vector<ProbedModel>& models,
                       const Style& style,
                       std::size_t width) {
  std::string out = table(models, style);
  std::size_t ready = 0;
  std::size_t first_s = 0;
  for (const ProbedModel& model : models) {
    out += details(model, style, width);
    ready += model.ready() ? 1U : 0U;
    first_s += model.first_token_s ? 1U : 0U;
  }
  const std::string total = fmt::format("{} of {} ready", ready, models.size());
  out += "\n" + (ready == models.size() ? style.good(total) : style.bad(total));
  if (first_s > 0) {
    out += style.dim("   first: seconds to the first byte of the stream");
  }
  return out + "\n";
}

nlohmann::json probe_json(const std::vector<ProbedModel>& models) {
  nlohmann::json rows = nlohmann::json::array();
  for (const ProbedModel& model : models) {
    nlohmann::json checks = nlohmann::json::array();
    for (const ProbeCheck& check : model.checks) {
      checks.push_back({{"check", check.name},
                        {"state",
                         check.state == CheckState::none   ? "none"
                         : check.state == CheckState::fail ? "fail"
                                                           : word(check.state)},
                        {"text", check.text},
                        {"next", check.next}});
    }
    const auto number = [](const std::optional<double>& value) {
      return value ? nlohmann::json(*value) : nlohmann::json();
    };
    rows.push_back({{"model", model.model},
                    {"ok", model.ready()},
                    {"url", model.url},
                    {"api", model.api},
                    {"profile", model.profile},
                    {"proxy", model.proxy},
                    {"key", model.key},
                    {"first_token_s", number(model.first_token_s)},
                    {"tokens_per_s", number(model.tokens_per_s)},
                    {"checks", checks}});
  }
  return {{"schema", 1}, {"models", rows}};
}

}  // namespace sweep::cli

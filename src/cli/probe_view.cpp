#include "cli/probe_view.h"

#include "util/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

// The checks that have a column; the worst of the others has the last one.
constexpr std::array kColumns = {"reach", "key", "model", "answer", "stream", "tools", "think"};
constexpr const char* kOthers = "other";
constexpr std::string_view kSpeeds = "first  tok/s";
constexpr std::size_t kMostName = 24;
constexpr std::size_t kLeastName = 8;
constexpr std::size_t kTextAt = 16;  // of a check's text

// Of a column: its head, "warn" or "FAIL", and a blank.
std::size_t width_of(std::string_view column) {
  return std::max<std::size_t>(column.size(), 4) + 1;
}

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

// The column of a check; kColumns.size() for those without one.
std::size_t column_of(const ProbeCheck& check) {
  return static_cast<std::size_t>(std::ranges::find(kColumns, std::string_view(check.name)) -
                                  kColumns.begin());
}

// In the order of the columns.
std::vector<ProbeCheck> ordered(const ProbedModel& model) {
  std::vector<ProbeCheck> checks = model.checks;
  std::ranges::stable_sort(checks, {}, column_of);
  return checks;
}

CheckState state_of(const ProbedModel& model, std::string_view column) {
  const ProbeCheck* check = model.find(column);
  return check != nullptr ? check->state : CheckState::none;
}

CheckState worst_other(const ProbedModel& model) {
  const auto rank = [](CheckState state) {
    return state == CheckState::fail   ? 3
           : state == CheckState::warn ? 2
           : state == CheckState::ok   ? 1
                                       : 0;
  };
  CheckState worst = CheckState::none;
  for (const ProbeCheck& check : model.checks) {
    if (column_of(check) == kColumns.size() && rank(check.state) > rank(worst)) {
      worst = check.state;
    }
  }
  return worst;
}

std::string cell(CheckState state, std::string_view column, const Style& style) {
  return painted(state, pad_right(word(state), width_of(column)), style);
}

// Columns of the names: what the longest needs and the terminal has.
std::size_t name_width(const std::vector<ProbedModel>& models, std::size_t width) {
  std::size_t rest = 2 + width_of(kOthers) + kSpeeds.size();
  for (const char* column : kColumns) {
    rest += width_of(column);
  }
  const std::size_t room = width == 0     ? kMostName
                           : width > rest ? std::clamp(width - rest, kLeastName, kMostName)
                                          : kLeastName;
  std::size_t name = 5;
  for (const ProbedModel& model : models) {
    name = std::max(name, std::min(util::printable(model.model).size(), room));
  }
  return name;
}

std::string table(const std::vector<ProbedModel>& models, const Style& style, std::size_t width) {
  const std::size_t name = name_width(models, width);
  std::string head = pad_right("model", name + 2);
  for (const char* column : kColumns) {
    head += pad_right(column, width_of(column));
  }
  head += pad_right(kOthers, width_of(kOthers));
  std::string out = style.strong(head + std::string(kSpeeds)) + "\n";
  for (const ProbedModel& model : models) {
    out += pad_right(util::printable(model.model).substr(0, name), name + 2);
    for (const char* column : kColumns) {
      out += cell(state_of(model, column), column, style);
    }
    out += cell(worst_other(model), kOthers, style);
    out += pad_right(model.first_byte_s ? fmt::format("{:.2f}", *model.first_byte_s) : "-", 7);
    out += model.tokens_per_s ? fmt::format("{:.0f}", *model.tokens_per_s) : "-";
    out += "\n";
  }
  return out;
}

// Text behind a label of kTextAt columns.
std::string labelled(const std::string& label, const std::string& text, std::size_t width) {
  const std::string block = wrapped(text, kTextAt, width);
  return label + block.substr(std::min(block.size(), kTextAt));
}

std::string details(const ProbedModel& model, const Style& style, std::size_t width) {
  std::string out = "\n" + style.strong(util::printable(model.model)) + "\n";
  out += wrapped(model.api + " at " + model.url + ", profile " + model.profile +
                     (model.proxy.empty() ? ", no proxy" : ", proxy " + model.proxy) +
                     (model.key.empty() ? ", no key" : ", key " + model.key),
                 2,
                 width);
  for (const ProbeCheck& check : ordered(model)) {
    const std::string label = "  " + painted(check.state, pad_right(word(check.state), 6), style) +
                              pad_right(check.name, kTextAt - 8);
    out += labelled(label, util::printable(check.text), width);
    if (!check.next.empty()) {
      out += wrapped(util::printable(check.next), kTextAt, width);
    }
  }
  return out;
}

}  // namespace

std::string probe_text(const std::vector<ProbedModel>& models,
                       const Style& style,
                       std::size_t width) {
  std::string out = table(models, style, width);
  std::size_t ready = 0;
  std::size_t first_s = 0;
  for (const ProbedModel& model : models) {
    out += details(model, style, width);
    ready += model.ready() ? 1U : 0U;
    first_s += model.first_byte_s ? 1U : 0U;
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
    for (const ProbeCheck& check : ordered(model)) {
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
                    {"first_byte_s", number(model.first_byte_s)},
                    {"tokens_per_s", number(model.tokens_per_s)},
                    {"checks", checks}});
  }
  return {{"schema", 1}, {"models", rows}};
}

}  // namespace sweep::cli

#include "cli/scan.h"

#include "cli/timing_text.h"
#include "evaluate/confirmation.h"
#include "submission/plan.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

using evaluate::Outcome;
using evaluate::Verdict;

[[noreturn]] void scan_mistake(const std::string& text, const std::string& what) {
  throw util::UsageError({fmt::format("--scan '{}'", util::printable(text)),
                          what,
                          "write e.g. --scan TILE=32,64 --scan STAGES=2..4"},
                         "E_EVAL_SCAN");
}

bool is_name(std::string_view text) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; };
  return !text.empty() && letter(static_cast<unsigned char>(text.front())) &&
         std::ranges::all_of(text,
                             [&](unsigned char c) { return letter(c) || std::isdigit(c) != 0; });
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const char* last = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), last, value);
  return parsed.ec == std::errc{} && parsed.ptr == last ? std::optional(value) : std::nullopt;
}

// Adds "64" or "2..4" to the values of a parameter.
void add_values(ScanParameter& parameter, std::string_view part, const std::string& text) {
  const std::size_t dots = part.find("..");
  const auto first = integer(part.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : integer(part.substr(dots + 2));
  if (!first || !last) {
    scan_mistake(
        text,
        fmt::format("'{}' is neither an integer nor a range such as 2..4", util::printable(part)));
  }
  if (*last < *first) {
    scan_mistake(text, fmt::format("the range '{}' is empty", part));
  }
  const auto span = static_cast<std::uint64_t>(*last) - static_cast<std::uint64_t>(*first);
  if (span >= kMaxVariants) {
    scan_mistake(text, fmt::format("'{}' has more than {} values", part, kMaxVariants));
  }
  for (std::uint64_t i = 0; i <= span; ++i) {
    const std::int64_t value = *first + static_cast<std::int64_t>(i);
    if (std::ranges::find(parameter.values, value) != parameter.values.end()) {
      scan_mistake(text, fmt::format("{} is there twice", value));
    }
    parameter.values.push_back(value);
  }
}

ScanParameter parse_parameter(const std::string& text) {
  const std::size_t equals = text.find('=');
  ScanParameter parameter{text.substr(0, equals), {}};
  if (equals == std::string::npos || !is_name(parameter.name)) {
    scan_mistake(text, "not NAME=VALUE,VALUE");
  }
  for (const std::string_view part : util::split(std::string_view(text).substr(equals + 1), ',')) {
    add_values(parameter, part, text);
  }
  return parameter;
}

// 0 is best.
int rank_class(const evaluate::Evaluation& e) {
  if (e.outcome() == Outcome::infra_error) {
    return 4;
  }
  if (e.outcome() != Outcome::correct) {
    return 3;
  }
  return evaluate::deciding_time(e) == nullptr ? 2 : e.verdict == Verdict::unstable ? 1 : 0;
}

[[noreturn]] void no_such_constant(const std::string& file,
                                   const std::string& name,
                                   const submission::Plan& plan) {
  std::vector<std::string> known;
  for (const auto& [constant, value] : plan.constants) {
    known.push_back(constant);
  }
  const auto near = util::closest(name, known);
  const std::string next = known.empty() ? "declare it: //@ const " + name + " = 64"
                                         : fmt::format("{}its constants: {}",
                                                       near ? "did you mean '" + *near + "'? " : "",
                                                       fmt::join(known, " "));
  throw util::UsageError(
      {file, "the plan declares no const '" + name + "' for --scan to set", next}, "E_EVAL_SCAN");
}

}  // namespace

std::vector<ScanParameter> parse_scan(const std::vector<std::string>& texts) {
  std::vector<ScanParameter> parameters;
  std::size_t count = 1;
  for (const std::string& text : texts) {
    ScanParameter parameter = parse_parameter(text);
    if (std::ranges::find(parameters, parameter.name, &ScanParameter::name) != parameters.end()) {
      scan_mistake(text, "'" + parameter.name + "' is scanned twice");
    }
    count *= parameter.values.size();
    if (count > kMaxVariants) {
      scan_mistake(text,
                   fmt::format("{} combinations or more; {} are allowed", count, kMaxVariants));
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::vector<std::vector<std::int64_t>> combinations(const std::vector<ScanParameter>& parameters) {
  std::vector<std::vector<std::int64_t>> all{{}};
  for (const ScanParameter& parameter : parameters) {
    std::vector<std::vector<std::int64_t>> longer;
    for (const std::vector<std::int64_t>& begun : all) {
      for (const std::int64_t value : parameter.values) {
        longer.push_back(begun);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

Constants constants_of(const std::vector<ScanParameter>& parameters,
                       const std::vector<std::int64_t>& values) {
  Constants out;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    out[parameters.at(i).name] = values.at(i);
  }
  return out;
}

std::string values_text(const std::vector<ScanParameter>& parameters,
                        const std::vector<std::int64_t>& values) {
  std::string out;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    out += fmt::format("{}{}={}", i == 0 ? "" : " ", parameters.at(i).name, values.at(i));
  }
  return out;
}

std::optional<std::vector<std::int64_t>> values_in_file(
    const std::vector<ScanParameter>& parameters,
    const evaluate::Source& source,
    const Constants& defines) {
  const auto parsed = submission::parse(source.file, source.text, defines);
  const auto* made = std::get_if<submission::Submission>(&parsed);
  if (made == nullptr) {
    return std::nullopt;
  }
  std::vector<std::int64_t> values;
  for (const ScanParameter& parameter : parameters) {
    const auto& constants = made->plan.constants;
    const auto found =
        std::ranges::find(constants, parameter.name, &std::pair<std::string, std::int64_t>::first);
    if (found == constants.end()) {
      no_such_constant(source.file, parameter.name, made->plan);
    }
    values.push_back(found->second);
  }
  return values;
}

void rank(std::vector<ScanVariant>& variants) {
  std::ranges::stable_sort(variants, [](const ScanVariant& a, const ScanVariant& b) {
    const int left = rank_class(a.evaluation);
    const int right = rank_class(b.evaluation);
    return left != right || left > 1 ? left < right
                                     : evaluate::deciding_time(a.evaluation)->ratio.point >
                                           evaluate::deciding_time(b.evaluation)->ratio.point;
  });
}

bool eligible(const ScanVariant& variant) {
  return rank_class(variant.evaluation) <= 1;
}

std::size_t not_told_apart(const std::vector<ScanVariant>& variants) {
  if (variants.empty() || !eligible(variants.front())) {
    return 0;
  }
  const double low = evaluate::deciding_time(variants.front().evaluation)->ratio.low;
  return static_cast<std::size_t>(
      std::ranges::count_if(variants.begin() + 1, variants.end(), [low](const ScanVariant& other) {
        return eligible(other) && evaluate::deciding_time(other.evaluation)->ratio.high >= low;
      }));
}

}  // namespace sweep::cli

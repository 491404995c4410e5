#include "agent/duplicates.h"

#include "record/json.h"
#include "submission/plan_text.h"
#include "util/sha256.h"
#include "util/text.h"

#include <utility>

namespace sweep::agent {
namespace {

std::string single_blanks(std::string_view line) {
  std::string out;
  for (const char c : util::trim(line)) {
    const char blank = c == '\t' || c == '\r' ? ' ' : c;
    if (blank != ' ' || out.empty() || out.back() != ' ')
      out += blank;
  }
  return out;
}

template <class Each>
void for_lines(std::string_view text, const Each& each) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    each(text.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace

std::string plan_lines(std::string_view source) {
  const auto text = submission::plan_text("", source);
  const auto* plan = std::get_if<std::string>(&text);
  std::string out;
  if (plan != nullptr)
    for_lines(*plan, [&](std::string_view line) {
      if (const std::string kept = single_blanks(line); !kept.empty())
        out += kept + "\n";
    });
  return out;
}

std::vector<std::string> judged_keys(std::string_view source,
                                     const std::string& code_sha256,
                                     const JudgedUnder& under) {
  const ToolSettings& s = *under.settings;
  const nlohmann::json settings = {{"submission", static_cast<int>(s.submission)},
                                   {"problem", s.problem},
                                   {"problem_sha256", under.problem_sha256},
                                   {"seed_sha256", under.seed_sha256},
                                   {"device", device::text(s.device).substr(0, 4)},
                                   {"device_name", under.device},
                                   {"version", under.version},
                                   {"seed", s.seed},
                                   {"epoch", under.epoch},
                                   {"correct_trials", s.correct_trials},
                                   {"submit_trials", s.submit_trials},
                                   {"deadline", s.deadline_seconds},
                                   {"unsandboxed", s.allow_unsandboxed},
                                   {"stress_gates", s.stress_gates},
                                   {"nvcc", s.nvcc},
                                   {"isa", s.isa ? static_cast<int>(*s.isa) : -1}};
  const auto key = [&](const char* what, const std::string& text) {
    return util::sha256_hex(
        record::canonical({{"what", what}, {"settings", settings}, {"text", text}}));
  };
  std::vector<std::string> out = {key("source", util::sha256_hex(source))};
  if (const std::string plan = plan_lines(source); !code_sha256.empty() && !plan.empty())
    out.push_back(key("code", code_sha256 + util::sha256_hex(plan)));
  return out;
}

}  // namespace sweep::agent

#include "agent/prompt.h"

#include "agent/tools.h"
#include "embedded_agent_prompts.h"
#include "util/error.h"
#include "util/sha256.h"
#include "util/text.h"

#include <algorithm>

namespace sweep::agent {
namespace {

std::string amount(std::int64_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

// How a conversation goes on and ends, in the words of its harness.
std::string rule_of(const Harness& harness) {
  std::string rule;
  if (harness.tries()) {
    const std::string told =
        fill_prompt("told_" + std::string(config::name(harness.feedback)) + ".md");
    rule = fill_prompt("rule_" + std::string(config::name(harness.stop)) + ".md", {{"told", told}});
  } else if (harness.max_turns > 1) {
    rule = fill_prompt("rule.md");
  } else {
    rule = fill_prompt(harness.samples > 1 ? "rule_one_shot.md" : "rule_single_turn.md");
  }
  return harness.show_seed ? fill_prompt("rule_seed.md") + " " + rule : rule;
}

// Of an architecture the sheets that hold there.
std::string hub_for(const std::string& arch) {
  const std::string_view digits =
      arch.starts_with("sm_") ? std::string_view(arch).substr(3) : std::string_view();
  int number = 0;
  for (const char c : digits)
    number = c >= '0' && c <= '9' && number < 1000 ? number * 10 + (c - '0') : number;
  return number == 90 ? "sm_90a" : number >= 80 ? "sm_80" : "";
}

// A kernel of the hub as a model sees it: without the lines for the tests.
std::string sheet(std::string_view name) {
  const std::string text = fill_prompt(name);
  std::string out;
  for (const std::string_view line : util::split(text, '\n'))
    if (!line.starts_with("// expect "))
      out += std::string(line) + "\n";
  return std::string(util::trim(out));
}

std::string hub_text(const std::string& hub) {
  std::string out =
      fill_prompt("hub/sm_80.md",
                  {{"cp_async", sheet("hub/cp_async.cu")}, {"mma_sync", sheet("hub/mma_sync.cu")}});
  if (hub == "sm_90a")
    out += "\n\n" + fill_prompt("hub/sm_90a.md",
                                {{"mbarrier", sheet("hub/mbarrier.cu")},
                                 {"tma", sheet("hub/tma.cu")},
                                 {"wgmma", sheet("hub/wgmma.cu")},
                                 {"wgmma_across", sheet("hub/wgmma_across.cu")}});
  return out;
}

std::string families_text(const Task& task) {
  std::string out;
  for (const std::string& name : task.isa_families) {
    const problem::IsaFamily& family = *problem::isa_family(name);
    out += (out.empty() ? "" : ", ") + name + " (" + std::string(family.meaning) + ", `" +
           std::string(family.ptx.front()) + "`)";
  }
  return out;
}

}  // namespace

Shown shown_by(const config::SweepConfig& config,
               const Harness& harness,
               const Task& task,
               device::Kind kind) {
  Shown out;
  out.cpu = kind == device::Kind::cpu;
  out.seed = harness.show_seed;
  out.source_gpu =
      config.run.source_gpu.empty() ? "a GPU of " + task.source_arch : config.run.source_gpu;
  if (out.cpu)
    return out;
  const std::string& hub = config.agent.ptx_hub;
  out.hub = hub == "auto" ? hub_for(task.arch) : hub == "off" ? "" : hub;
  out.isa = problem::parse_isa_policy(config.run.isa_policy).value_or(task.isa);
  return out;
}

std::string fill_prompt(std::string_view file, const Values& values) {
  const auto files = embedded::agent_prompts();
  const auto found = std::find_if(
      files.begin(), files.end(), [&](const embedded::File& one) { return one.name == file; });
  if (found == files.end())
    throw util::InfraError({std::string(file), "no such prompt in this program", "rebuild it"},
                           "E_PROMPT");
  // One pass, so that a value that holds "{{" is text and nothing else.
  std::string out;
  std::string_view rest = found->text;
  for (std::size_t open = rest.find("{{"); open != std::string_view::npos; open = rest.find("{{")) {
    const std::size_t close = rest.find("}}", open);
    const std::string_view name =
        rest.substr(open + 2, close == std::string_view::npos ? 0 : close - open - 2);
    const auto* const value = std::find_if(
        values.begin(), values.end(), [&](const auto& one) { return one.first == name; });
    if (close == std::string_view::npos || value == values.end())
      throw util::InfraError(
          {std::string(file), "no value for '" + std::string(name) + "'", "rebuild the program"},
          "E_PROMPT");
    out.append(rest.substr(0, open)).append(value->second);
    rest.remove_prefix(close + 2);
  }
  out.append(rest);
  return std::string(util::trim(out));
}

std::string system_prompt(const Harness& harness) {
  std::string list;
  for (const endpoint::ToolDefinition& tool : tool_definitions(harness))
    list += "- " + tool.name + ": " + tool.description + "\n";
  return fill_prompt("system.md",
                     {{"turns", amount(harness.max_turns, "turn")},
                      {"tool_calls", amount(harness.max_tool_calls, "tool call")},
                      {"tool_list", std::string(util::trim(list))},
                      {"rule", rule_of(harness)}});
}

std::string task_prompt(const Task& task, const Shown& shown) {
  std::string out = fill_prompt(
      "task.md",
      {{"id", task.id},
       {"title", task.title},
       {"statement", task.statement},
       {"contract", task.contract},
       {"device", task.device + (shown.cpu ? "\n\n" + fill_prompt("cpu_device.md") : "")},
       {"reference", task.reference}});
  const auto add = [&](const std::string& section) { out += "\n\n" + section; };
  if (shown.seed && !task.seed.empty())
    add(fill_prompt("seed.md", {{"seed", task.seed}}));
  if (!task.source.empty())
    add(fill_prompt("translation.md",
                    {{"source_device", shown.source_gpu},
                     {"target_device", task.device_name},
                     {"source", task.source}}));
  if (!task.isa_families.empty() && shown.isa != problem::IsaPolicy::off)
    add(fill_prompt(shown.isa == problem::IsaPolicy::gate ? "isa_gate.md" : "isa_warn.md",
                    {{"families", families_text(task)}}));
  add(fill_prompt("submission.md", {{"id", task.id}, {"example", fill_prompt("example.cu")}}));
  if (!shown.hub.empty())
    add(hub_text(shown.hub));
  return out;
}

std::vector<PromptFile> prompts() {
  std::vector<PromptFile> out;
  for (const embedded::File& file : embedded::agent_prompts())
    out.push_back({std::string(file.name), std::string(file.text)});
  out.push_back({"tools.json", definitions_text()});
  std::sort(out.begin(), out.end(), [](const PromptFile& a, const PromptFile& b) {
    return a.name < b.name;
  });
  return out;
}

int prompts_version() {
  return std::stoi(fill_prompt("version.txt"));
}

std::string prompts_sha256() {
  util::Sha256 hash;
  for (const PromptFile& file : prompts())
    hash.update(std::to_string(file.name.size()) + ":" + file.name +
                std::to_string(file.text.size()) + ":" + file.text);
  return util::to_hex(hash.finish());
}

}  // namespace sweep::agent

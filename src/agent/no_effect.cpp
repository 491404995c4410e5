#include "agent/no_effect.h"

#include "agent/tools.h"

#include <fmt/format.h>

namespace sweep::agent {

std::vector<config::Diagnostic> without_effect(const config::SweepConfig& config,
                                               bool cpu,
                                               bool families) {
  std::vector<config::Diagnostic> out;
  const auto add = [&](std::string what, const char* next) {
    out.push_back({config.file.string(), std::move(what), next});
  };
  const std::string& hub = config.agent.ptx_hub;
  if (cpu && hub != "off" && hub != "auto")
    add(fmt::format("ptx_hub = \"{}\" adds nothing to prompts on the cpu device", hub),
        "use a GPU, or remove it");
  const std::string& policy = config.run.isa_policy;
  if (policy == "warn" || policy == "gate") {
    if (cpu)
      add(fmt::format("isa_policy = \"{}\" has no effect on the cpu device", policy),
          "use a GPU, or remove it");
    else if (!families)
      add(fmt::format(
              "isa_policy = \"{}\" has no effect: no problem of this run names isa_families",
              policy),
          "choose problems that do, or remove it");
  }
  std::vector<std::string> idle;
  for (const std::string& tool : config.agent.harness.tools)
    if (cpu && needs_gpu(tool))
      idle.push_back(tool);
  if (!idle.empty())
    add(fmt::format("harness {} offers {}, which can show nothing on the cpu device",
                    config.agent.harness.name,
                    fmt::join(idle, ", ")),
        "use a GPU, or a harness without them");
  return out;
}

}  // namespace sweep::agent

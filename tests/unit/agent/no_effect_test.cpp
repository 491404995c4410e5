// Settings that would silently do nothing.
#include "agent/no_effect.h"

#include <gmock/gmock.h>

namespace sweep::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> told(const config::SweepConfig& config, bool cpu, bool families) {
  std::vector<std::string> out;
  for (const config::Diagnostic& one : without_effect(config, cpu, families))
    out.push_back(one.text());
  return out;
}

TEST(NoEffect, FactSheetsAreForGpus) {
  config::SweepConfig config;
  config.file = "s.toml";
  config.agent.ptx_hub = "sm_90a";
  EXPECT_THAT(told(config, true, false),
              ElementsAre("s.toml: ptx_hub = \"sm_90a\" adds nothing to prompts on the cpu device; "
                          "use a GPU, or remove it"));
  EXPECT_THAT(told(config, false, false), IsEmpty());
  config.agent.ptx_hub = "auto";
  EXPECT_THAT(told(config, true, false), IsEmpty());
}

TEST(NoEffect, APolicyNeedsAGpuAndAProblemThatNamesFamilies) {
  config::SweepConfig config;
  for (const char* policy : {"warn", "gate"}) {
    config.run.isa_policy = policy;
    EXPECT_THAT(told(config, true, true), ElementsAre(HasSubstr("no effect on the cpu device")));
    EXPECT_THAT(told(config, false, false), ElementsAre(HasSubstr("names isa_families")));
    EXPECT_THAT(told(config, false, true), IsEmpty());
  }
  for (const char* policy : {"problem", "off"}) {
    config.run.isa_policy = policy;
    EXPECT_THAT(told(config, true, false), IsEmpty());
  }
}

TEST(NoEffect, ToolsOfAGpuAreNamedInOneLine) {
  config::SweepConfig config;
  config.agent.harness = config::builtin_harness("all");
  EXPECT_THAT(told(config, true, false),
              ElementsAre(HasSubstr("harness all offers profile_kernel, disassemble_kernel, "
                                    "ert_roofline, sanitize_kernel, which can show nothing")));
  EXPECT_THAT(told(config, false, false), IsEmpty());
  for (const char* name : {"single_turn", "default", "repair", "optimize", "one_shot"}) {
    config.agent.harness = config::builtin_harness(name);
    EXPECT_THAT(told(config, true, false), IsEmpty()) << name;
  }
}

}  // namespace
}  // namespace sweep::agent

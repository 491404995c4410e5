#include "agent/prompt.h"

#include "../../support/literals.h"
#include "agent/task.h"
#include "agent/tools.h"
#include "util/file.h"
#include "util/sha256.h"
#include "util/text.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace sweep::agent {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::filesystem::path kTests = std::filesystem::path(SWEEP_SOURCE_DIR) / "tests";
const std::filesystem::path kSources = std::filesystem::path(SWEEP_SOURCE_DIR) / "src";
constexpr std::size_t kMax = 1 << 20;

Harness harness_of(std::string_view name) {
  config::Agent agent;
  agent.harness = config::builtin_harness(name);
  return make_harness(agent);
}

device::Info some_gpu() {
  device::Info info;
  info.name = "Some GPU";
  info.arch = "sm_90a";
  info.sm_count = 132;
  info.total_bytes = std::uint64_t{1} << 37U;
  info.l2_bytes = std::size_t{50} << 20U;
  info.max_shared_bytes = std::size_t{227} << 10U;
  info.dram_bytes_per_second = 4.8e12;
  info.clock_mhz = 1980;
  return info;
}

Task example_task() {
  return make_task(problem::require(kTests / "data/problems/example/center"),
                   some_gpu(),
                   device::Kind::cuda,
                   kTests / "data/problems/example/center/seed.cu");
}

TEST(Task, TellsHowPlansRunOnRanks) {
  const std::filesystem::path folder = kTests / "data/problems/test/exchange";
  const Task task =
      make_task(problem::require(folder), some_gpu(), device::Kind::cuda, folder / "seed.cu");
  for (const char* part : {"- ranks: 1, 2 or 4\n",
                           "- x: f32[n] per rank, `const float*`",
                           "- w: f32[n], `const float*`",
                           "`peers(T)`",
                           "`const float* const* t`"}) {
    EXPECT_THAT(task.contract, HasSubstr(part));
  }
  EXPECT_THAT(example_task().contract, Not(HasSubstr("peers(")));
}

// Both messages, without the words about each tool: those belong to the tools.
std::string whole_prompt(const Harness& harness, const Task& task, const Shown& shown) {
  std::string system = system_prompt(harness);
  for (const endpoint::ToolDefinition& tool : tool_definitions(harness)) {
    const std::string line = "- " + tool.name + ": " + tool.description;
    if (const auto at = system.find(line); at != std::string::npos)
      system.replace(at, line.size(), "- " + tool.name + ": ...");
  }
  return system + "\n\n" + std::string(72, '=') + "\n\n" + task_prompt(task, shown) + "\n";
}

// Holds `text` to tests/golden/prompts/NAME.md; docs/prompts.md says how the files are made anew.
void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path file = kTests / "golden/prompts" / (name + ".md");
  if (std::getenv("SWEEP_UPDATE_GOLDEN") != nullptr) {
    util::write_file_atomic(file, text);
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(file)) << file << ": see docs/prompts.md";
  const std::string golden = util::read_file(file, kMax);
  if (golden == text)
    return;
  std::size_t line = 1;
  std::size_t at = 0;
  while (at < std::min(golden.size(), text.size()) && golden[at] == text[at])
    line += golden[at++] == '\n' ? 1U : 0U;
  ADD_FAILURE() << file.filename() << " line " << line << " differs: a model is now told\n  "
                << text.substr(at, 200) << "\nwhere it was told\n  " << golden.substr(at, 200)
                << "\nIf that is meant, see docs/prompts.md, \"Changing a prompt\".";
}

TEST(GoldenPrompts, EachHarness) {
  const Task task = example_task();
  for (const char* name : {"single_turn", "default", "repair", "optimize", "one_shot"}) {
    const Harness harness = harness_of(name);
    expect_golden(name,
                  whole_prompt(harness, task, shown_by({}, harness, task, device::Kind::cuda)));
  }
}

TEST(Prompts, OnlyOptimizeShowsTheBaseline) {
  const Task task = example_task();
  ASSERT_FALSE(task.seed.empty());
  for (const char* name : {"single_turn", "default", "all", "repair", "optimize", "one_shot"}) {
    const std::string text =
        task_prompt(task, shown_by({}, harness_of(name), task, device::Kind::cuda));
    EXPECT_EQ(text.find(task.seed) != std::string::npos, std::string(name) == "optimize") << name;
  }
}

TEST(Prompts, EachHarnessHasItsRule) {
  EXPECT_THAT(system_prompt(harness_of("single_turn")), HasSubstr("1 turn ("));
  EXPECT_THAT(system_prompt(harness_of("repair")), HasSubstr("\"format error\""));
  EXPECT_THAT(system_prompt(harness_of("optimize")), HasSubstr("start from"));
  EXPECT_THAT(system_prompt(harness_of("one_shot")), HasSubstr("one answer"));
  EXPECT_THAT(system_prompt(harness_of("default")), HasSubstr("30 tool calls"));
}

TEST(Prompts, ADeviceThatIsAnEmulationIsNamed) {
  const Task task = example_task();
  const Harness harness = harness_of("default");
  EXPECT_THAT(task_prompt(task, shown_by({}, harness, task, device::Kind::cpu)),
              HasSubstr("simulation"));
  EXPECT_THAT(task_prompt(task, shown_by({}, harness, task, device::Kind::cuda)),
              Not(HasSubstr("simulation")));
}

TEST(GoldenPrompts, FactSheets) {
  const Task task = example_task();
  config::SweepConfig config;
  config.agent.ptx_hub = "auto";
  const Harness harness = harness_of("default");
  expect_golden("hub_sm_90a",
                whole_prompt(harness, task, shown_by(config, harness, task, device::Kind::cuda)));
}

TEST(GoldenPrompts, TranslationWithAPolicy) {
  const std::filesystem::path folder = kTests / "data/problems/example/port";
  const Task task =
      make_task(problem::require(folder), some_gpu(), device::Kind::cuda, folder / "seed.cu");
  const Harness harness = harness_of("default");
  config::SweepConfig config;
  config.run.source_gpu = "NVIDIA A100";
  config.run.isa_policy = "gate";
  expect_golden("translation",
                whole_prompt(harness, task, shown_by(config, harness, task, device::Kind::cuda)));
}

TEST(Prompts, TheSourceIsNamedByItsArchitectureWhereTheSweepDoesNot) {
  const std::filesystem::path folder = kTests / "data/problems/example/port";
  const Task task =
      make_task(problem::require(folder), some_gpu(), device::Kind::cuda, folder / "seed.cu");
  const Harness harness = harness_of("default");
  const std::string text = task_prompt(task, shown_by({}, harness, task, device::Kind::cuda));
  EXPECT_THAT(text, HasSubstr("written for a GPU of sm_80. Port it to Some GPU"));
  EXPECT_THAT(text, HasSubstr("## Expected instructions"));  // its evidence is a wish
  EXPECT_THAT(text, HasSubstr("cp_async"));
  EXPECT_THAT(text, Not(HasSubstr("expert")));
  const std::string cpu = task_prompt(task, shown_by({}, harness, task, device::Kind::cpu));
  EXPECT_THAT(cpu, Not(HasSubstr("instructions\n\n")));
}

TEST(Prompts, SheetsFollowTheDevice) {
  Task task = example_task();
  const Harness harness = harness_of("default");
  config::SweepConfig config;
  const auto hub = [&](const char* key, const char* arch, device::Kind kind) {
    config.agent.ptx_hub = key;
    task.arch = arch;
    return shown_by(config, harness, task, kind).hub;
  };
  EXPECT_EQ(hub("off", "sm_90a", device::Kind::cuda), "");
  EXPECT_EQ(hub("auto", "sm_90a", device::Kind::cuda), "sm_90a");
  EXPECT_EQ(hub("auto", "sm_100a", device::Kind::cuda), "sm_80");  // wgmma is not there
  EXPECT_EQ(hub("auto", "sm_86", device::Kind::cuda), "sm_80");
  EXPECT_EQ(hub("auto", "sm_75", device::Kind::cuda), "");
  EXPECT_EQ(hub("auto", "x86-64", device::Kind::cpu), "");
  EXPECT_EQ(hub("sm_80", "sm_90a", device::Kind::cuda), "sm_80");
}

TEST(Prompts, SheetsAreTheTestedFilesWithoutTheLinesForTheTests) {
  const Task task = example_task();
  Shown shown;
  shown.hub = "sm_90a";
  const std::string text = task_prompt(task, shown);
  EXPECT_THAT(text, Not(HasSubstr("// expect")));
  for (const char* name : {"cp_async", "mma_sync", "mbarrier", "tma", "wgmma", "wgmma_across"}) {
    const std::string file =
        util::read_file(std::filesystem::path(SWEEP_SOURCE_DIR) / "src/agent/prompts/hub" /
                            (std::string(name) + ".cu"),
                        kMax);
    EXPECT_THAT(text, HasSubstr(file.substr(file.find("//@")))) << name;
  }
}

TEST(Prompts, FeedbackOfEachHarnessHasNoHoles) {
  for (const char* file :
       {"sanitised_format_error.md", "sanitised_compile_error.md", "sanitised_incorrect.md"}) {
    const std::string text = fill_prompt(file, {{"attempt", "2"}, {"left", "3 attempts left."}});
    EXPECT_THAT(text, HasSubstr("attempt 2"));
    EXPECT_THAT(text, HasSubstr("3 attempts left"));
    EXPECT_THAT(text, Not(HasSubstr("{{")));
  }
  EXPECT_THAT(fill_prompt("timing_feedback.md",
                          {{"version", "3"},
                           {"timings", "full: 12.1 us, 1.40x"},
                           {"best", "1.52x, version 2"},
                           {"left", "4 answers left."}}),
              Not(HasSubstr("{{")));
}

// SHA-256 over what models are told by prompts and by tools: the golden files, and the string
// literals of the sources that say more than these show.
std::string texts_sha256() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"prompts", "tools"})
    for (const auto& entry : std::filesystem::directory_iterator(kTests / "golden" / folder))
      if (entry.path().filename() != "version.md")
        files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::string all;
  for (const std::filesystem::path& file : files)
    all += file.filename().string() + "\n" + util::sha256_hex(util::read_file(file, kMax)) + "\n";
  for (const char* source : {"agent/kernel_text.cpp",
                             "agent/look_text.cpp",
                             "agent/profile_text.cpp",
                             "agent/roofline_text.cpp",
                             "agent/task.cpp",
                             "agent/tool_judge.cpp",
                             "agent/tool_look.cpp",
                             "agent/tool_texts.cpp",
                             "agent/tools.cpp",
                             "endpoint/arguments.cpp",
                             "evaluate/feedback.cpp"})
    all += std::string(source) + "\n" +
           util::sha256_hex(sweep::test::literals_of(util::read_file(kSources / source, kMax))) +
           "\n";
  return util::sha256_hex(all);
}

TEST(Literals, AreWhatAProgramMaySay) {
  EXPECT_EQ(sweep::test::literals_of(
                "#include \"x.h\"\n// \"a\"\nf(\"b\\\"c\"\n  \"d\", '\"', 1'000, \"e\");/*\"f\"*/"),
            "b\\\"cde");
  EXPECT_EQ(sweep::test::literals_of("R\"(raw \"text\")\" + R\"x(y)x\""), "raw \"text\"y");
}

// Whoever changes what models are told states it: the hashes stand beside the version that they
// belong to, and other texts have another version.
TEST(GoldenVersion, OtherTextsHaveAnotherVersion) {
  const std::string version = "version " + std::to_string(prompts_version()) + "\n";
  const std::string now =
      version + "sha256 " + prompts_sha256() + "\ntexts " + texts_sha256() + "\n";
  const std::filesystem::path file = kTests / "golden/prompts/version.md";
  const std::string golden =
      std::filesystem::exists(file) ? util::read_file(file, kMax) : std::string();
  if (golden == now)
    return;
  if (golden.starts_with(version))
    ADD_FAILURE() << "models are told something else by the same version: raise "
                     "src/agent/prompts/version.txt, see docs/prompts.md, \"Changing a prompt\"";
  else
    expect_golden("version", now);
}

}  // namespace
}  // namespace sweep::agent

#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;

// The fields that PopcornBench writes, with a result that claims to be ours besides.
constexpr const char* kForeign = R"({
"problem_id": 3, "level": 1, "problem_name": "3_spmm.py", "run_name": "up", "model_name": "gpt<b>",
"backend": "cuda", "precision": "fp32", "max_turns": 5, "max_tool_calls": 5, "tools_enabled": [],
"started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:10:00Z",
"agent_wall_clock_s": 600.0, "total_turns": 1, "total_tool_calls": 0, "llm_input_tokens": 10,
"llm_output_tokens": 5, "llm_total_tokens": 15, "outcome": "correct",
"final_result": {"compiled": true, "correctness": true, "metadata": {}, "runtime": 1.5,
  "ref_runtime": 30.0, "verdict": "PASS_FASTER", "kernel_sha256": "",
  "speedup": {"point": 20.0, "low": 19.0, "high": 21.0}},
"provenance": {"gpu_name": "NVIDIA H200", "sweep_version": "9.9"},
"turns": [{"turn_id": 0, "messages_in": [], "response": [], "feedback_to_model": "",
  "llm_latency_s": 1.0, "is_final": true, "submitted_kernel": "import torch", "tool_calls": []}]
})";

TEST(Import, ForeignTrajectoriesAreReadAndNeverCount) {
  const Workspace here;
  here.write("up/popcorn2/gpt/level_1_problem_3_trajectory.json", kForeign);
  here.write("up/popcorn2/gpt/level_1_problem_4_trajectory.json", "{\"outcome\": 7");
  here.write("up/popcorn2/gpt/level_1_problem_5_trajectory.json", "[]");
  const Outcome done = here.sweep({"import", "up", "--run-name", "theirs"});
  EXPECT_EQ(done.code, 3);
  EXPECT_THAT(done.out, HasSubstr("1 foreign trajectory imported, 2 refused"));
  EXPECT_THAT(done.err, HasSubstr("level_1_problem_4"));
  EXPECT_THAT(done.err, HasSubstr("level_1_problem_5"));
  const auto file = here.folder() / "runs/theirs/popcorn2/gpt/level_1_problem_3_trajectory.json";
  const nlohmann::json t = nlohmann::json::parse(std::ifstream(file));
  EXPECT_EQ(t.at("final_result").at("verdict"), "FOREIGN");
  EXPECT_EQ(t.at("final_result").at("metadata").at("foreign").at("ref_runtime"), 30.0);
  EXPECT_EQ(t.at("provenance").at("gpu_name"), "");
  EXPECT_EQ(t.dump().find("PASS_FASTER"), std::string::npos);
  EXPECT_EQ(here.sweep({"verify", "theirs"}).code, 0);
  const Outcome page = here.command({"/bin/cat", "runs/theirs/report/index.html"});
  EXPECT_THAT(page.out, HasSubstr("was judged by others"));
  // Nothing of it counts: no item of it is in a comparison.
  const nlohmann::json compared = here.sweep_json({"compare", "theirs", "theirs"});
  EXPECT_TRUE(compared.at("problems").empty());
  EXPECT_EQ(here.sweep({"reeval", "theirs"}).code, 2);
}

TEST(Import, BadInputIsRefused) {
  const Workspace here;
  here.write("empty/x", "");
  here.write("s.toml",
             "[run]\nname = \"theirs\"\nproblems = [\"level1/3\"]\ndevice = \"cpu\"\n[report]\n"
             "serve = false\n[[models]]\nname = \"demo-fixer\"\napi_kind = \"openai_chat\"\n"
             "base_url = \"builtin:demo\"\n");
  EXPECT_EQ(here.sweep({"import", "nowhere", "--run-name", "a"}).code, 2);
  EXPECT_EQ(here.sweep({"import", "empty", "--run-name", "a"}).code, 2);
  EXPECT_EQ(here.sweep({"import", "empty"}).code, 2);
  here.write("up/v/m/level_1_problem_3_trajectory.json", kForeign);
  EXPECT_EQ(here.sweep({"import", "up", "--run-name", "theirs"}).code, 0);
  EXPECT_EQ(here.sweep({"import", "up", "--run-name", "theirs"}).code, 2);
  const Outcome mixed = here.sweep({"s.toml"});
  EXPECT_EQ(mixed.code, 2);
  EXPECT_THAT(mixed.err, HasSubstr("was imported"));
  // A name cannot leave the folder of runs.
  EXPECT_EQ(here.sweep({"import", "up", "--run-name", "../../sweep-escaped"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(here.folder().parent_path() / "sweep-escaped"));
}

TEST(Import, NamesOfAnyKindStayInTheirPlaces) {
  const Workspace here;
  const std::string file = "/level_1_problem_3_trajectory.json";
  nlohmann::json t = nlohmann::json::parse(kForeign);
  here.write("up/v/good" + file, t.dump());
  for (const char* own : {"ledger.jsonl", "sweep_config.json", "log", "slurm"}) {
    here.write("up/" + std::string(own) + "/m" + file, t.dump());
  }
  std::string wide, bytes;
  for (int i = 0; i < 60; ++i) {
    wide += "\u30e2";
    bytes += "\xff\xfe\x80";
  }
  here.write("up/v/" + wide + file, t.dump());
  here.write("up/v/" + wide + "x" + file, t.dump());
  here.write("up/v/" + bytes + file, t.dump());
  here.write("up/v/" + std::string(250, 'm') + file, t.dump());
  t["problem_id"] = "../../../../x/" + std::string(400, '/');
  t["level"] = wide + wide;
  t["outcome"] = "<script>alert(1)</script>\x1b[31m\n";
  here.write("up/v/path" + file, t.dump());
  here.write("up/v/deep" + file, std::string(200000, '['));
  std::filesystem::create_symlink("/etc/passwd",
                                  here.folder() / "up/v/good/level_1_problem_4_trajectory.json");
  const Outcome done = here.sweep({"import", "up", "--run-name", "theirs"});
  EXPECT_EQ(done.code, 3);
  // `log` and `slurm` hold no items of any run.
  EXPECT_THAT(done.out, HasSubstr("6 foreign trajectories imported, 3 refused"));
  EXPECT_THAT(done.err, HasSubstr("ledger.jsonl/m/level_1_problem_3_trajectory.json: its variant"));
  EXPECT_THAT(done.err, HasSubstr("nested deeper than"));
  EXPECT_EQ(here.sweep({"verify", "theirs"}).code, 0);
  const nlohmann::json status = here.sweep_json({"status", "theirs"});
  EXPECT_EQ(status.at("state"), "finished");
  EXPECT_EQ(status.at("outcomes"), nlohmann::json({{"foreign", 6}}));
  EXPECT_THAT(here.sweep({"status", "theirs"}).out, HasSubstr("finished: imported, to be read"));
  EXPECT_EQ(
      here.command(
              {"/bin/sh", "-c", "grep -rlF '<script>alert' --include='*.html' runs/theirs/report"})
          .out,
      "");
}

// Such a variant's results would lie among the run's own files, and the report would delete them.
TEST(Import, NoVariantOfASweepHasTheNameOfARunsOwnFiles) {
  const Workspace here;
  here.write("report.toml", "[slate.levels]\n1 = [3]\n");
  here.write("s.toml",
             "[run]\nname = \"r\"\nslate = \"report.toml\"\ndevice = \"cpu\"\n[[models]]\n"
             "name = \"demo-fixer\"\napi_kind = \"openai_chat\"\nbase_url = \"builtin:demo\"\n");
  const Outcome refused = here.sweep({"s.toml"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("E_SWEEP_VARIANT"));
  EXPECT_FALSE(std::filesystem::exists(here.folder() / "runs/r/ledger.jsonl"));
}

}  // namespace
}  // namespace sweep::e2e

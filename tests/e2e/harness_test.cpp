// The same scripted model under several harnesses, and what comes of comparing them; a submission
// that the run has judged is not judged again.
#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;

std::string config(const std::string& name, const std::string& agent, const std::string& run = "") {
  return "[run]\nname = \"" + name + "\"\ndevice = \"cpu\"\nproblems = [\"level1/3\"]\n" + run +
         "[agent]\n" + agent +
         "[report]\nserve = false\n[[models]]\nname = \"demo-fixer\"\nbase_url = \"builtin:demo\"\n"
         "api_kind = \"openai_chat\"\n";
}

nlohmann::json trajectory(const Workspace& here,
                          const std::string& run,
                          const std::string& end = "") {
  std::ifstream in(here.folder() / "runs" / run / "custom/demo-fixer" /
                   ("level_1_problem_3" + end + "_trajectory.json"));
  return nlohmann::json::parse(std::string(std::istreambuf_iterator<char>(in), {}));
}

// demo-fixer: a compile error with compile_kernel, then run_correctness, then submit_kernel.
TEST(Harness, OneModelUnderThreeHarnessesAndTheirComparison) {
  const Workspace here;
  for (const char* name : {"single_turn", "default", "all"}) {
    here.write(std::string(name) + ".toml",
               config(name, "harness = \"" + std::string(name) + "\"\n"));
    const Outcome run = here.sweep({std::string(name) + ".toml"});
    EXPECT_EQ(run.code, 0) << run.out << run.err;
  }
  // One answer calls a tool that single_turn has not.
  const auto single = trajectory(here, "single_turn");
  EXPECT_EQ(single.at("stop_reason"), "turns");
  EXPECT_EQ(single.at("outcome"), "error");
  EXPECT_THAT(single.at("turns").at(0).at("feedback_to_model").get<std::string>(),
              HasSubstr("no tool 'compile_kernel'"));
  EXPECT_EQ(trajectory(here, "all").at("tools_enabled").size(), 9U);
  const auto usual = trajectory(here, "default");
  EXPECT_EQ(usual.at("outcome"), "correct");
  EXPECT_EQ(usual.at("harness_rules").at("stop"), "submitted");
  EXPECT_GT(usual.at("sampling").at("seed"), 0);
  EXPECT_GT(usual.at("turns").at(2).at("tokens_after"),
            usual.at("turns").at(2).at("tokens_before"));
  EXPECT_TRUE(usual.at("turns").at(2).at("best_visible_speedup").is_number());

  const Outcome table = here.sweep({"compare", "single_turn", "default", "all"});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("1 problem ended in every run\n"));
  EXPECT_THAT(table.out,
              HasSubstr("ended by: submitted 1; tools: compile_kernel 1, "
                        "run_correctness 1, submit_kernel 1"));
  EXPECT_THAT(table.out, HasSubstr("times of the cpu device are no GPU times"));
  const auto json = here.sweep_json({"compare", "single_turn", "default", "all"});
  ASSERT_EQ(json.at("rows").size(), 3U);
  EXPECT_EQ(json["rows"][0]["harness"], "single_turn");
  EXPECT_EQ(json["rows"][0]["correct"], 0);
  EXPECT_EQ(json["rows"][1]["correct"], 1);
  EXPECT_EQ(json["rows"][2]["correct"], 1);
  const Outcome page =
      here.sweep({"compare", "single_turn", "default", "all", "--page", "runs/compared"});
  EXPECT_EQ(page.code, 0) << page.err;
  EXPECT_THAT(page.out, HasSubstr("runs/compared/index.html\n"));
  std::ifstream written(here.folder() / "runs/compared/index.html");
  const std::string html(std::istreambuf_iterator<char>(written), {});
  for (const char* words : {"1 problem ended in every run",
                            "href=\"../all/report/index.html\"",
                            "single_turn",
                            "ended by turns",
                            "ended by submitted",
                            "cpu device: the kernels ran as host code"}) {
    EXPECT_THAT(html, HasSubstr(words));
  }
  // Pages count turns from 1, as tool_use.csv does.
  std::ifstream trajectory_page(here.folder() /
                                "runs/all/report/t/custom/demo-fixer/level_1_problem_3.html");
  const std::string turns(std::istreambuf_iterator<char>(trajectory_page), {});
  EXPECT_THAT(turns, HasSubstr("Turn 3"));
  EXPECT_THAT(turns, ::testing::Not(HasSubstr("Turn 0")));
  std::ifstream csv(here.folder() / "runs/all/report/tool_use.csv");
  const std::string log(std::istreambuf_iterator<char>(csv), {});
  EXPECT_THAT(log, HasSubstr(",all,demo-fixer,custom,level1/3,1,1,1,compile_kernel,native,false,"));
  EXPECT_THAT(log, HasSubstr(",all,demo-fixer,custom,level1/3,1,3,1,submit_kernel,native,true,"));
}

TEST(Harness, RetryKeepsWhatIsCorrectAndForceRerunBeginsItAnew) {
  const Workspace here;
  here.write("s.toml", config("again", ""));
  ASSERT_EQ(here.sweep({"s.toml"}).code, 0);
  const int asked = here.rows("runs/again", "request");
  ASSERT_GT(asked, 0);
  const Outcome kept = here.sweep({"s.toml", "--retry", "all"});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(here.rows("runs/again", "request"), asked);
  here.write("s.toml", config("again", "", "force_rerun = true\n"));
  const Outcome anew = here.sweep({"s.toml"});
  EXPECT_EQ(anew.code, 0) << anew.err;
  EXPECT_EQ(here.rows("runs/again", "request"), 2 * asked);
}

// Two attempts hand in the same text, over two worker processes.
TEST(Harness, ADuplicateIsAnsweredFromTheRecord) {
  const Workspace here;
  here.write("s.toml", config("twice", "", "attempts_per_problem = 2\n"));
  const Outcome run = here.sweep({"s.toml"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  const auto one = trajectory(here, "twice");
  const auto two = trajectory(here, "twice", "_a2");
  const auto a = one.at("final_result"), b = two.at("final_result");
  EXPECT_NE(a.at("metadata").contains("duplicate_of"), b.at("metadata").contains("duplicate_of"));
  EXPECT_EQ(a.at("verdict"), b.at("verdict"));
  EXPECT_EQ(a.at("runtime"), b.at("runtime"));
  EXPECT_NE(one.at("sampling").at("seed"), two.at("sampling").at("seed"));
  const Outcome verified = here.sweep({"verify", "twice"});
  EXPECT_EQ(verified.code, 0) << verified.out;
}

TEST(Harness, RepairEndsAtTheFirstCorrectAnswer) {
  const Workspace here;
  here.write("scripts/demo-fixer.toml",
             "model = \"demo-fixer\"\n[[conversation]]\nproblem = \"*\"\n"
             "[[conversation.turn]]\ntext = \"prose\"\n"
             "[[conversation.turn]]\ncalls = [{ tool = \"submit_kernel\", kernel = \"a.cu\" }]\n"
             "[[conversation.turn]]\ncalls = [{ tool = \"submit_kernel\", kernel = \"b.cu\" }]\n");
  const std::filesystem::path kernels =
      std::filesystem::path(SWEEP_SOURCE_DIR) / "configs/demo/kernels";
  std::filesystem::copy_file(kernels / "spmm_wrong.cu", here.folder() / "scripts/a.cu");
  std::filesystem::copy_file(kernels / "spmm_slow.cu", here.folder() / "scripts/b.cu");
  std::string toml = config("repair", "harness = \"repair\"\n");
  toml.replace(toml.find("builtin:demo"), 12, "builtin:scripts");
  here.write("s.toml", toml);
  const Outcome run = here.sweep({"s.toml"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  const auto t = trajectory(here, "repair");
  EXPECT_EQ(t.at("stop_reason"), "first_correct");
  EXPECT_EQ(t.at("outcome"), "correct");
  ASSERT_EQ(t.at("turns").size(), 3U);
  EXPECT_THAT(t["turns"][0]["feedback_to_model"].get<std::string>(), HasSubstr("Format error"));
  EXPECT_THAT(t["turns"][1]["feedback_to_model"].get<std::string>(), HasSubstr("Incorrect"));
  EXPECT_EQ(t["turns"][2]["tool_calls"].size(), 2U);  // the attempt, and the judge's verdict
}

}  // namespace
}  // namespace sweep::e2e

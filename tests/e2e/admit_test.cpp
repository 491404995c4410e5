#include "program.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The template of `problems new` with vectors that hold: y = alpha x + bias.
std::string template_with_golden(const Workspace& here) {
  EXPECT_EQ(here.sweep({"problems", "new", "my/1_scale"}).code, 0);
  const std::string folder = "problems/my/1_scale";
  here.write(folder + "/golden.json",
             R"({"schema": 1, "problem": "my/1", "relative_tolerance": 1e-9, "cases": [{
"dims": {"rows": 1, "cols": 8}, "scalars": {"alpha": 1.5},
"inputs": {"x": [1, 2, 3, 4, 5, 6, 7, 8], "bias": [0, 1, 0, 0, 0, 0, 0, -1]},
"expected": {"y": [1.5, 4, 4.5, 6, 7.5, 9, 10.5, 11]}}]})");
  return folder;
}

TEST(Admit, AFolderIsExaminedStoredAndShown) {
  const Workspace here;
  const std::string folder = template_with_golden(here);
  const std::vector<std::string> env = {"SWEEP_PROBLEMS=" + (here.folder() / "problems").string()};
  EXPECT_THAT(here.sweep({"problems", "show", "my/1"}, env).out, HasSubstr("not examined yet"));
  const Outcome admitted = here.sweep({"problems", "admit", folder, "--draws", "3"});
  EXPECT_EQ(admitted.code, 0) << admitted.out << admitted.err;
  EXPECT_THAT(admitted.out, HasSubstr("my/1"));
  EXPECT_THAT(admitted.out, HasSubstr("admitted"));
  EXPECT_THAT(admitted.out, HasSubstr("1 examined on cpu, 0 not admitted"));
  const nlohmann::json record =
      nlohmann::json::parse(util::read_file(here.folder() / folder / "admission.json", 1 << 20));
  EXPECT_EQ(record.at("schema"), 1);
  EXPECT_EQ(record.at("admissions").at(0).at("admitted"), true);
  EXPECT_THAT(here.sweep({"problems", "show", "my/1"}, env).out, HasSubstr("admitted on cpu"));
  EXPECT_THAT(here.sweep({"problems", "list", "my/*"}, env).out, HasSubstr("admitted"));
  here.write(folder + "/seed.cu",
             util::read_file(here.folder() / folder / "seed.cu", 1 << 20) + "// changed\n");
  EXPECT_THAT(here.sweep({"problems", "list", "my/*"}, env).out, HasSubstr("stale"));
}

TEST(Admit, ARuleThatFailsIsExitCode1AndSaidInJson) {
  const Workspace here;
  EXPECT_EQ(here.sweep({"problems", "new", "my/1_scale"}).code, 0);
  const Outcome found =
      here.sweep({"problems", "admit", "problems/my/1_scale", "--only", "golden", "--json"});
  EXPECT_EQ(found.code, 1) << found.err;
  const nlohmann::json body = nlohmann::json::parse(found.out);
  EXPECT_EQ(body.at("bad"), 1);
  const nlohmann::json& rules = body.at("admissions").at(0).at("rules");
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules.at(0).at("state"), "fails");
  EXPECT_FALSE(std::filesystem::exists(here.folder() / "problems/my/1_scale/admission.json"));
}

TEST(Admit, WrongArgumentsAreExitCode2) {
  const Workspace here;
  const Outcome rule = here.sweep({"problems", "admit", "level1/3", "--only", "taste"});
  EXPECT_EQ(rule.code, 2);
  EXPECT_THAT(rule.err, HasSubstr("golden, null, precision"));
  const Outcome id = here.sweep({"problems", "admit", "--only", "golden", "level1/9999"});
  EXPECT_EQ(id.code, 2);
  EXPECT_THAT(id.err, Not(HasSubstr("is no rule")));
  const Outcome none = here.sweep({"problems", "admit", "--only", "golden"});
  EXPECT_EQ(none.code, 2) << none.out;
  EXPECT_THAT(none.err, HasSubstr("give ids, globs or folders, e.g. level1/3; '**' for all"));
  EXPECT_EQ(here.sweep({"problems", "admit", "level1/3", "--device", "tpu"}).code, 2);
  EXPECT_EQ(here.sweep({"problems", "admit", "level1/3", "--draws", "0"}).code, 2);
}

}  // namespace
}  // namespace sweep::e2e

#include "problem/catalog.h"

#include "examples.h"
#include "problem/check.h"
#include "problem/new.h"
#include "util/file.h"

#include <gmock/gmock.h>

namespace sweep::problem {
namespace {

using examples::kHmc;
using examples::replaced;
namespace fs = std::filesystem;

void write_problem(const fs::path& folder, const std::string& toml) {
  util::make_folders(folder);
  util::write_file_atomic(folder / "problem.toml", toml);
  util::write_file_atomic(folder / "reference.cu", "x");
}

class CatalogTest : public testing::Test {
 protected:
  CatalogTest() {
    write_problem(root_.path() / "level2" / "16_hmc_step", kHmc);
    write_problem(root_.path() / "sci" / "hmc", replaced(kHmc, "level2/16", "sci/hmc"));
    util::write_file_atomic(root_.path() / "catalogue.toml",
                            "schema = 1\n[[problem]]\nid = \"level2/16\"\ntitle = \"a\"\ndomain = "
                            "\"d\"\nslates = [\"popcorn2\"]\n"
                            "[[problem]]\nid = \"level2/9\"\ntitle = \"later\"\ndomain = \"d\"\n");
  }

  util::TempDir root_;
};

TEST_F(CatalogTest, FindsByEveryName) {
  const Catalog catalog({root_.path()});
  for (const char* id : {"level2/16", "level2/016", "level2/16_hmc_step", "level2/16_other"}) {
    ASSERT_NE(catalog.find(id), nullptr) << id;
    EXPECT_EQ(catalog.find(id)->id, "level2/16");
  }
  EXPECT_EQ(catalog.find("level2/17"), nullptr);
  EXPECT_EQ(catalog.open("level2/16").title,
            "One Hamiltonian Monte Carlo step, standard normal target");
}

TEST_F(CatalogTest, ListsPlannedOnesInOrder) {
  const Catalog catalog({root_.path()});
  std::vector<std::string> ids;
  for (const Entry& entry : catalog.entries()) {
    ids.push_back(entry.id);
  }
  EXPECT_THAT(ids, testing::ElementsAre("level2/9", "level2/16", "sci/hmc"));
  EXPECT_TRUE(catalog.find("level2/9")->planned());
  EXPECT_THROW((void)catalog.open("level2/9"), util::UsageError);
}

TEST_F(CatalogTest, MatchesGlobsAndSlates) {
  const Catalog catalog({root_.path()});
  const auto ids = [&](const char* pattern) {
    std::vector<std::string> out;
    for (const Entry* entry : catalog.match(pattern)) {
      out.push_back(entry->id);
    }
    return out;
  };
  EXPECT_THAT(ids("sci/*"), testing::ElementsAre("sci/hmc"));
  EXPECT_THAT(ids("level?/1*"), testing::ElementsAre("level2/16"));
  EXPECT_EQ(ids("**").size(), 3U);
  EXPECT_THAT(ids("slate:popcorn2"), testing::ElementsAre("level2/16"));
  try {
    (void)catalog.match("sci/hcm");
    ADD_FAILURE();
  } catch (const util::UsageError& fault) {
    EXPECT_THAT(fault.what(), testing::HasSubstr("did you mean 'sci/hmc'?"));
  }
  EXPECT_THROW((void)catalog.match("*"), util::UsageError);
}

TEST_F(CatalogTest, OneFolderAndOrderOfRoots) {
  const Catalog one({root_.path() / "sci" / "hmc"});
  EXPECT_EQ(one.entries().at(0).id, "sci/hmc");
  util::TempDir other;
  write_problem(other.path() / "sci" / "hmc_mine",
                replaced(replaced(kHmc, "level2/16", "sci/hmc"), "One Hamil", "My Hamil"));
  EXPECT_EQ(Catalog({other.path(), root_.path()}).find("sci/hmc")->title.substr(0, 2), "My");
  EXPECT_THROW(Catalog({root_.path() / "absent"}), util::UsageError);
}

TEST_F(CatalogTest, DefaultRootsLookUpwards) {
  const fs::path program = root_.path() / "build" / "release" / "sweep";
  util::make_folders(root_.path() / "problems");
  const auto roots = default_roots({"/a"}, program, "/b:/c");
  EXPECT_THAT(roots,
              testing::ElementsAre(
                  fs::path("/a"), fs::path("/b"), fs::path("/c"), root_.path() / "problems"));
}

TEST(Check, TemplateChecksClean) {
  util::TempDir root;
  const fs::path folder = write_template(root.path(), "level1/200_affine_map");
  EXPECT_EQ(folder, root.path() / "level1" / "200_affine_map");
  for (const Mistake& mistake : check_folder(folder)) {
    ADD_FAILURE() << mistake.text();
  }
  const Problem made = require(folder);
  EXPECT_EQ(made.id, "level1/200");
  // A cpu shape long enough to time: 5 x 7 took a microsecond.
  for (const Shape& shape : made.shapes) {
    EXPECT_TRUE(!shape.uses.cpu || shape.free.at("rows") * shape.free.at("cols") >= 100000)
        << shape.name;
  }
  EXPECT_THROW((void)write_template(root.path(), "level1/200_affine_map"), util::UsageError);
  EXPECT_THROW((void)write_template(root.path(), "../x"), util::UsageError);
}

// Codes and texts of all mistakes that `check` finds.
std::string found(const std::string& toml) {
  std::string out;
  for (const Mistake& mistake : check(examples::problem(toml))) {
    out += mistake.code + " " + mistake.text() + "\n";
  }
  return out;
}

TEST(Check, ExamplesCheckClean) {
  EXPECT_EQ(found(kHmc), "");
}

TEST(Check, FindsCostsAndContradictions) {
  EXPECT_THAT(
      found(replaced(
          kHmc, "chains = 8, dim = 5, steps = 10", "chains = 1000000, dim = 64, steps = 10")),
      testing::HasSubstr("has reference_ops above 2e8"));
  EXPECT_THAT(found(replaced(kHmc, "6*chains*dim*steps", "6000*chains*dim*steps")),
              testing::HasSubstr("the oracle needs about"));
  EXPECT_THAT(
      found(replaced(
          kHmc, "chains = 1048576, dim = 80, steps = 10", "chains = 65536, dim = 8, steps = 10")),
      testing::HasSubstr("the largest timed shape takes at least"));
  EXPECT_THAT(
      found(replaced(kHmc, "alternative = \"f64[chains, dim]\"", "alternative = \"f64[chains]\"")),
      testing::HasSubstr("differ in size"));
  EXPECT_THAT(
      found(replaced(kHmc, "margin      = \"f64[chains]\"", "margin      = \"f64[dim + 7]\"")),
      testing::HasSubstr("is no prefix"));
  EXPECT_THAT(
      found(replaced(kHmc, "[scalars]", "[constraints]\nall = [\"chains > 8\"]\n[scalars]")),
      testing::HasSubstr("shape 'tiny' breaks 'chains > 8'"));
  EXPECT_THAT(found(replaced(kHmc,
                             "u        = \"f32[chains] = uniform(0, 1)\"",
                             "u = \"f32[chains] = uniform(chains, 1)\"")),
              testing::HasSubstr("uniform: needs lo <= hi"));
  EXPECT_THAT(found(replaced(kHmc,
                             "momentum = \"f32[chains, dim] = normal()\"",
                             "momentum = \"f32[chains, dim] = constant(1)\"")),
              testing::HasSubstr("W_PROBLEM_TRIVIAL"));
}

// Every problem of the repository reads and checks clean.
TEST(Check, RepositoryProblemsCheckClean) {
  const fs::path root = fs::path(SWEEP_SOURCE_DIR) / "problems";
  if (!fs::is_directory(root)) {
    GTEST_SKIP() << "no problems folder";
  }
  const Catalog catalog({root});
  for (const Entry& entry : catalog.entries()) {
    if (!entry.planned()) {
      for (const Mistake& mistake : check_folder(entry.folder)) {
        EXPECT_TRUE(mistake.warning) << mistake.code << " " << mistake.text();
      }
    }
  }
}

}  // namespace
}  // namespace sweep::problem

#include "program.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace sweep::e2e {
namespace {

TEST(Catalogue, ThePageSaysWhatTheProgramSays) {
  const Workspace here;
  const Outcome made = here.sweep({"problems", "list", "--markdown"});
  ASSERT_EQ(made.code, 0) << made.err;
  std::ifstream file(std::filesystem::path(SWEEP_SOURCE_DIR) / "docs/catalogue.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(made.out == page)
      << "make the page anew: sweep problems list --markdown > docs/catalogue.md";
}

TEST(Catalogue, ThePageIsOfTheListOnly) {
  const Workspace here;
  EXPECT_EQ(here.sweep({"problems", "show", "level1/3", "--markdown"}).code, 2);
  EXPECT_EQ(here.sweep({"problems", "list", "--markdown", "--json"}).code, 2);
}

}  // namespace
}  // namespace sweep::e2e

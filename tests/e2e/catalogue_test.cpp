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

}  // namespace
}  // namespace sweep::e2e

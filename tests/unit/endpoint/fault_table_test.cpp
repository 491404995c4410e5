#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

// The fault table of docs/endpoints.md against the tests that there are.
namespace sweep::endpoint {
namespace {

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// "Suite.Name" of every test in the sources of the client and of HTTP.
std::set<std::string> tests_there_are() {
  std::set<std::string> names;
  const std::regex test(R"(TEST(?:_P|_F)?\(\s*(\w+),\s*(\w+)\))");
  for (const char* folder : {"/tests/unit/endpoint", "/tests/unit/http"})
    for (const auto& file :
         std::filesystem::directory_iterator(std::string(SWEEP_SOURCE_DIR) + folder)) {
      const std::string text = content_of(file.path());
      for (std::sregex_iterator it(text.begin(), text.end(), test), end; it != end; ++it)
        names.insert((*it)[1].str() + "." + (*it)[2].str());
    }
  return names;
}

TEST(FaultTable, HasEveryCaseWithTheTestsThatThereAre) {
  const std::string page = content_of(std::string(SWEEP_SOURCE_DIR) + "/docs/endpoints.md");
  const std::set<std::string> tests = tests_there_are();
  ASSERT_GT(tests.size(), 50U);
  std::set<int> cases;
  const std::regex row(R"(\n\| F(\d\d) \|[^\n]*)");
  const std::regex name(R"(`(\w+\.\w+)`)");
  for (std::sregex_iterator it(page.begin(), page.end(), row), end; it != end; ++it) {
    EXPECT_TRUE(cases.insert(std::stoi((*it)[1].str())).second) << it->str();
    const std::string line = it->str();
    bool own = false;
    for (std::sregex_iterator word(line.begin(), line.end(), name); word != end; ++word) {
      own = own || (*word)[1].str().find("F" + (*it)[1].str()) != std::string::npos;
      EXPECT_EQ(tests.count((*word)[1].str()), 1U)
          << "F" << (*it)[1] << " names " << (*word)[1] << ", which no source defines";
    }
    EXPECT_TRUE(own) << "F" << (*it)[1] << " has no test of its name";
  }
  ASSERT_EQ(cases.size(), 48U);
  EXPECT_EQ(*cases.begin(), 1);
  EXPECT_EQ(*cases.rbegin(), 48);
  for (const std::string& test : tests)
    if (test.starts_with("EndpointFaults")) {
      EXPECT_NE(page.find("`" + test + "`"), std::string::npos)
          << test << " is not in docs/endpoints.md";
    }
}

}  // namespace
}  // namespace sweep::endpoint

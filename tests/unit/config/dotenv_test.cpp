#include "config/dotenv.h"

#include "support.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace sweep::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string value_of(const std::string& text) {
  const util::TempDir dir;
  std::ofstream(dir.path() / ".env") << text;
  return read_key_value("SWEEP_TEST_KEY", {dir.path() / ".env"}).value_or("(none)");
}

TEST(Dotenv, ReadsTheUsualForms) {
  EXPECT_EQ(value_of("SWEEP_TEST_KEY=abc"), "abc");
  EXPECT_EQ(value_of("# note\n\nexport SWEEP_TEST_KEY = abc # note\r\n"), "abc");
  EXPECT_EQ(value_of("SWEEP_TEST_KEY=\"a \\\"b\\\" # c\" # note"), "a \"b\" # c");
  EXPECT_EQ(value_of("SWEEP_TEST_KEY='a\\nb'"), "a\\nb");
  EXPECT_EQ(value_of("SWEEP_TEST_KEY=a#b=c"), "a#b=c");
  EXPECT_EQ(value_of("SWEEP_TEST_KEY=1\nSWEEP_TEST_KEY=2"), "2");
  EXPECT_EQ(value_of("SWEEP_TEST_KEY= # note"), "(none)");
  EXPECT_EQ(value_of("SWEEP_TEST_KEY=abc\t# note"), "abc");
  EXPECT_EQ(value_of("SWEEP_TEST_KEY="), "(none)");
  EXPECT_EQ(value_of("OTHER=1"), "(none)");
}

TEST(Dotenv, AByteOrderMarkIsNoPartOfAName) {
  EXPECT_EQ(value_of("\xef\xbb\xbfSWEEP_TEST_KEY=abc\n"), "abc");
}

TEST(Dotenv, WhiteSpaceAroundAKeyIsNoPartOfIt) {
  EXPECT_EQ(value_of("SWEEP_TEST_KEY=\" abc\\n\""), "abc");
  EXPECT_EQ(value_of("SWEEP_TEST_KEY=' '"), "(none)");
  EXPECT_THAT(dotenv_names("A=' '\nB=2", ".env"), ElementsAre("B"));
  ::setenv("SWEEP_TEST_KEY", "abc\r\n", 1);
  EXPECT_EQ(read_key_value("SWEEP_TEST_KEY", {}), "abc");
  ::setenv("SWEEP_TEST_KEY", "\n", 1);
  EXPECT_EQ(read_key_value("SWEEP_TEST_KEY", {}), std::nullopt);
  EXPECT_EQ(find_key("SWEEP_TEST_KEY", {}), std::nullopt);
  ::unsetenv("SWEEP_TEST_KEY");
}

TEST(Dotenv, AKeyThatNoHeaderCanCarryIsRefusedAndNotShown) {
  struct Case {
    const char* value;
    const char* what;
  };

  for (const Case& one : {Case{"hunter\nhunter", "has a line break inside"},
                          Case{"hunter\x01hunter", "has a control character inside"},
                          Case{"hunter\xe2\x80\x9d", "has a character outside ASCII"},
                          Case{"\"hunter\"", "begins with a quotation mark"},
                          Case{"'hunter'", "begins with a quotation mark"},
                          Case{"Bearer hunter", "without \"Bearer\""}}) {
    ::setenv("SWEEP_TEST_KEY", one.value, 1);
    try {
      static_cast<void>(read_key_value("SWEEP_TEST_KEY", {}));
      ADD_FAILURE() << one.what;
    } catch (const util::UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("SWEEP_TEST_KEY "));
      EXPECT_THAT(error.what(), HasSubstr(one.what));
      EXPECT_THAT(error.what(), Not(HasSubstr("hunter")));
    }
    ::unsetenv("SWEEP_TEST_KEY");
  }
  EXPECT_THROW(value_of("SWEEP_TEST_KEY=\"a\\nb\""), util::UsageError);
  EXPECT_THROW(value_of("SWEEP_TEST_KEY=bearer abc"), util::UsageError);
}

TEST(Dotenv, TheEnvironmentWinsAndTheFirstFileIsNext) {
  const util::TempDir dir;
  std::filesystem::create_directories(dir.path() / "configs");
  std::ofstream(dir.path() / ".env") << "SWEEP_TEST_KEY=root\n";
  std::ofstream(dir.path() / "configs" / ".env") << "SWEEP_TEST_KEY=beside\n";
  const auto files = dotenv_files(dir.path() / "configs" / "x.toml", dir.path());
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(read_key_value("SWEEP_TEST_KEY", files), "beside");
  EXPECT_EQ(find_key("SWEEP_TEST_KEY", files), files[0].string());
  ::setenv("SWEEP_TEST_KEY", "env", 1);
  EXPECT_EQ(read_key_value("SWEEP_TEST_KEY", files), "env");
  EXPECT_EQ(find_key("SWEEP_TEST_KEY", files), "the environment");
  ::unsetenv("SWEEP_TEST_KEY");
  EXPECT_EQ(find_key("SWEEP_OTHER_KEY", files), std::nullopt);
}

TEST(Dotenv, ErrorsNameTheLineAndNeverTheText) {
  for (const char* text :
       {"A=1\nsk-hunter2", "A=1\n1A=hunter2", "A=1\nB=\"hunter2", "A=1\nB='hunter2' x"}) {
    try {
      static_cast<void>(dotenv_names(text, ".env"));
      FAIL() << text;
    } catch (const util::UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(".env:2"));
      EXPECT_THAT(error.what(), Not(HasSubstr("hunter2")));
    }
  }
}

TEST(Dotenv, AFileWithAKeyThatOthersMayReadIsSaid) {
  const util::TempDir dir;
  const auto file = dir.path() / ".env";
  std::ofstream(file) << "SWEEP_TEST_KEY=hunter2\n";
  using std::filesystem::perms;
  const auto said = [&](perms mode, const char* name) {
    std::filesystem::permissions(file, mode);
    const auto found = open_to_others({name}, {file});
    return found.empty() ? std::string() : found.front().text();
  };
  const perms own = perms::owner_read | perms::owner_write;
  EXPECT_EQ(said(own, "SWEEP_TEST_KEY"), "");
  EXPECT_EQ(said(own | perms::others_read, "SWEEP_OTHER_KEY"), "");
  for (const perms more : {perms::group_read, perms::others_read, perms::others_write}) {
    EXPECT_THAT(said(own | more, "SWEEP_TEST_KEY"), HasSubstr("chmod 600"));
    EXPECT_THAT(said(own | more, "SWEEP_TEST_KEY"), Not(HasSubstr("hunter2")));
  }
}

TEST(Dotenv, NamesOnly) {
  EXPECT_THAT(dotenv_names("B=2\nA=1\nC=\n", ".env"), ElementsAre("A", "B"));
}

TEST(Dotenv, HostileTextEndsInAnErrorOrNames) {
  std::mt19937 random(9);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (auto k = random() % 30; k > 0; --k) {
      text += "AB=\"'\\#\n \0\xff"[random() % 11];
    }
    try {
      static_cast<void>(dotenv_names(text, ".env"));
    } catch (const util::UsageError&) {
    }
  }
}

}  // namespace
}  // namespace sweep::config

#include "cli/probe_view.h"

#include "util/text.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sweep::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<ProbedModel> two_models() {
  ProbedModel good;
  good.model = "good";
  good.url = "https://h.example/v1/chat/completions";
  good.api = "Chat Completions";
  good.profile = "generic";
  good.key = "H_KEY from .env";
  good.checks = {{"reach", CheckState::ok, "TLS, HTTP 200 from /models after 31 ms", ""},
                 {"tools", CheckState::ok, "called, and the result was read in turn 2", ""}};
  good.first_byte_s = 0.25;
  good.tokens_per_s = 81.2;
  ProbedModel bad;
  bad.model = "a-model-whose-name-is-longer-than-its-column";
  bad.url = "http://h.example/v1/responses";
  bad.checks = {{"reach",
                 CheckState::fail,
                 "Could not resolve host: a-very-long-host-name.of-a-company.example.com\x1b[2J",
                 "check the host of base_url, the network and the proxy of this machine"}};
  return {good, bad};
}

TEST(ProbeView, HasARowAModelAndSaysHowToMend) {
  const std::string text = probe_text(two_models(), Style::plain(), 0);
  EXPECT_THAT(text, HasSubstr("model"));
  EXPECT_THAT(text, HasSubstr("FAIL"));
  EXPECT_THAT(text, HasSubstr("check the host of base_url"));
  EXPECT_THAT(text, HasSubstr("0.25"));
  EXPECT_THAT(text, HasSubstr("key H_KEY from .env"));
  EXPECT_THAT(text, HasSubstr("1 of 2 ready"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(ProbeView, FitsTheTerminal) {
  for (const std::size_t width : {80U, 120U}) {
    const std::string text = probe_text(two_models(), Style::plain(), width);
    for (const std::string_view line : util::split(text, '\n')) {
      EXPECT_LE(line.size(), width) << line;
    }
  }
}

TEST(ProbeView, DetailsStandInTheOrderOfTheColumns) {
  std::vector<ProbedModel> models = two_models();
  models[0].checks = {{"limits", CheckState::ok, "text limits", ""},
                      {"stream", CheckState::ok, "text stream", ""},
                      {"answer", CheckState::ok, "text answer", ""},
                      {"key", CheckState::ok, "text key", ""},
                      {"reach", CheckState::ok, "text reach", ""}};
  const std::string text = probe_text(models, Style::plain(), 0);
  std::size_t before = 0;
  for (const char* name : {"reach", "key", "answer", "stream", "limits"}) {
    const std::size_t at = text.find(std::string("text ") + name);
    EXPECT_GT(at, before) << name;
    before = at;
  }
  const nlohmann::json json = probe_json(models);
  EXPECT_EQ(json.at("models").at(0).at("checks").at(0).at("check"), "reach");
}

TEST(ProbeView, WarningsWithoutAColumnAreInTheTable) {
  std::vector<ProbedModel> models = two_models();
  models[0].checks = {{"limits", CheckState::ok, "8192", ""},
                      {"context", CheckState::warn, "not read back", ""}};
  const std::string text = probe_text(models, Style::plain(), 0);
  const std::string table = text.substr(0, text.find("\n\n"));
  EXPECT_THAT(table, HasSubstr("other"));
  EXPECT_THAT(table, HasSubstr("warn"));
}

TEST(ProbeView, JsonHasEveryCheck) {
  const nlohmann::json json = probe_json(two_models());
  EXPECT_TRUE(json.at("models").at(0).at("ok").get<bool>());
  EXPECT_FALSE(json.at("models").at(1).at("ok").get<bool>());
  EXPECT_EQ(json.at("models").at(1).at("checks").at(0).at("state"), "fail");
  EXPECT_TRUE(json.at("models").at(1).at("tokens_per_s").is_null());
}

TEST(ProbeView, AFailureIsTakenApart) {
  endpoint::EndpointFailure failure;
  failure.text = "https://h/v1: HTTP 401 (bad key; yours is old); check the key";
  const ProbeCheck check = failed_check("answer", failure);
  EXPECT_EQ(check.text, "HTTP 401 (bad key; yours is old)");
  EXPECT_EQ(check.next, "check the key");
  failure.text = "https://h/v1: HTTP 404; check base_url, see `sweep probe FILE`";
  EXPECT_EQ(failed_check("answer", failure).next, "check base_url");
  failure.text = "nothing to take apart";
  EXPECT_EQ(failed_check("answer", failure).text, failure.text);
}

}  // namespace
}  // namespace sweep::cli

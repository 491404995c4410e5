#include "../support/raw_server.h"
#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

namespace sweep::e2e {
namespace {

using test::http_response;
using test::RawServer;
using ::testing::HasSubstr;

std::string config(const RawServer& server, const std::string& problems) {
  return "[run]\nname = \"r\"\nproblems = [" + problems +
         "]\ndevice = \"cpu\"\n[agent]\nmax_turns = 1\n[report]\nserve = false\n"
         "[[models]]\nname = \"m\"\napi_kind = \"openai_chat\"\nstream = false\nbase_url = \"" +
         server.url("/v1") + "\"\n";
}

const std::string kRefused =
    http_response("401 Unauthorized", R"({"error":{"message":"wrong key"}})");

TEST(Limits, AKeyThatIsRefusedFromTheStartStopsTheRun) {
  const Workspace here;
  RawServer server([](const std::string&, int) { return RawServer::Answer{kRefused}; });
  here.write("s.toml", config(server, R"("level1/3", "level1/5", "level1/6")"));
  const Outcome outcome = here.sweep({"s.toml"});
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("the first 3 requests to m were all refused"));
  EXPECT_THAT(outcome.out, HasSubstr("wrong key"));
  EXPECT_THAT(outcome.out, HasSubstr("mend the key"));
  const Outcome again = here.sweep({"s.toml", "--json"});
  const nlohmann::json json = nlohmann::json::parse(again.out);
  EXPECT_EQ(json.at("stopped").at("kind"), "refused");
  EXPECT_THAT(json.at("stopped").at("text").get<std::string>(), HasSubstr("wrong key"));
  EXPECT_EQ(json.at("items").at(0).at("reason"), "refused");
  // Nothing failed for it: every item is still to be done.
  EXPECT_EQ(outcome.out.find("infra_error"), std::string::npos) << outcome.out;
  EXPECT_LE(server.requests().size(), 12U);
  EXPECT_EQ(here.rows("runs/r", "item_end"), 0);
}

TEST(Limits, AServerThatIsDownIsNamed) {
  const Workspace here;
  {
    const RawServer server([](const std::string&, int) { return RawServer::Answer{kRefused}; });
    here.write("s.toml", config(server, R"("level1/3")"));
  }
  const Outcome outcome =
      here.command({"/bin/sh", "-c", "timeout -s INT 5 \"$0\" s.toml", Workspace::program()});
  EXPECT_THAT(outcome.err, HasSubstr("m: cannot reach 127.0.0.1:"));
  EXPECT_THAT(outcome.err, HasSubstr("(connection refused); "));
  EXPECT_THAT(outcome.err, HasSubstr("`sweep probe s.toml` asks it now"));
}

// A pause that earlier sweeps left, of a key that had worked: three refusals are soon made.
TEST(Limits, AWrongPathStopsTheRunWhateverTheKeyDidBefore) {
  const Workspace here;
  std::atomic<bool> works = true;
  RawServer server([&](const std::string&, int) {
    return RawServer::Answer{
        works ? http_response("200 OK",
                              R"({"choices":[{"message":{"content":"no kernel"},)"
                              R"("finish_reason":"stop"}]})")
              : http_response("404 Not Found", "<html>nothing here</html>")};
  });
  here.write("s.toml", config(server, R"("level1/3")"));
  EXPECT_EQ(here.sweep({"s.toml"}).code, 0);
  works = false;
  for (const char* name : {"a", "b", "c"}) {
    const Outcome outcome = here.sweep({"s.toml", "--run-name", name}, {}, 60);
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("the first 3 requests to m were all refused"));
  }
}

TEST(Limits, APathOrAModelThatIsNotThereSaysWhatToMend) {
  const auto said = [](const std::string& body) {
    const Workspace here;
    RawServer server([&](const std::string&, int) -> RawServer::Answer {
      return {http_response("404 Not Found", body)};
    });
    here.write("s.toml", config(server, R"("level1/3")"));
    return here.sweep({"s.toml"}).out;
  };
  const std::string path = said(R"({"detail":"Not Found"})");
  EXPECT_THAT(path, HasSubstr("api_kind (\"openai_chat\""));
  EXPECT_THAT(path, HasSubstr("see `sweep probe FILE`, then go on with  sweep s.toml"));
  const std::string model = said(R"({"error":{"message":"The model `m` does not exist."}})");
  EXPECT_THAT(model, HasSubstr("check deployment_name: the endpoint has no such model"));
  EXPECT_THAT(model, HasSubstr("see `sweep probe FILE`"));
}

TEST(Limits, AnItemOutlastsARefusalThatIsMended) {
  const Workspace here;
  RawServer server([](const std::string&, int number) {
    return RawServer::Answer{
        number == 0 ? kRefused
                    : http_response("200 OK",
                                    R"({"choices":[{"message":{"content":"no kernel"},)"
                                    R"("finish_reason":"stop"}]})")};
  });
  here.write("s.toml", config(server, R"("level1/3")"));
  const Outcome outcome = here.sweep({"s.toml"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("error 1"));
  EXPECT_THAT(outcome.err, HasSubstr("requests pause and are tried again"));
  EXPECT_EQ(server.requests().size(), 2U);
}

}  // namespace
}  // namespace sweep::e2e

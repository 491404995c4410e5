#include "publish/redact.h"

#include "publish/collect.h"
#include "publish/document.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace sweep::publish {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string redacted(const std::string& text) {
  const Redactor redactor({{"host", "gpunode7", "redacted-host-1"},
                           {"user", "jdoe", "redacted-user-1"},
                           {"endpoint", "http://gpunode7:8000/v1", "redacted-endpoint-1"}});
  Counts counts;
  return redactor.redact(text, counts);
}

TEST(Redactor, TakesNamesAsWordsOfTheirOwn) {
  EXPECT_EQ(redacted("on GPUNODE7: jdoe"), "on redacted-host-1: redacted-user-1");
  EXPECT_EQ(redacted("gpunode71 jdoes"), "gpunode71 jdoes");
  EXPECT_EQ(redacted("POST http://gpunode7:8000/v1/x"), "POST redacted-endpoint-1/x");
  EXPECT_EQ(redacted(R"("http:\/\/gpunode7:8000\/v1")"), "\"redacted-endpoint-1\"");
}

TEST(Redactor, TakesAnEscapeOfAQuotedTextForTheEndOfAWord) {
  EXPECT_EQ(redacted(R"(x\ngpunode7 \t/home/ann/x \nann@x.org \n10.0.0.1)"),
            R"(x\nredacted-host-1 \tredacted-path \nredacted-email \nredacted-address)");
}

TEST(Redactor, LeavesOutWhatEverybodyHas) {
  const Redactor redactor({{"user", "root", "x"}, {"host", "vm", "x"}, {"host", "localhost", "x"}});
  EXPECT_TRUE(redactor.secrets().empty());
}

TEST(Redactor, KnowsPrivateThingsByTheirForm) {
  EXPECT_EQ(redacted("/home/ann/secret project/x"), "redacted-path project/x");
  EXPECT_EQ(redacted("in '/home/ann/a.cu':"), "in 'redacted-path':");
  EXPECT_EQ(redacted("/root/x /data/set1/y /tmp/sweep.1 /scratch/u"),
            "redacted-path redacted-path redacted-path redacted-path");
  EXPECT_EQ(redacted(R"(\/home\/ann\/x")"), R"(redacted-path")");
  EXPECT_EQ(redacted(R"(C:\Users\ann\x, C:\\Users\\ann)"), "redacted-path, redacted-path");
  EXPECT_EQ(redacted("10.0.3.17 192.168.1.2:80"), "redacted-address redacted-address:80");
  EXPECT_EQ(redacted("mail ann.b@lab.example.org now"), "mail redacted-email now");
  EXPECT_EQ(redacted("db1.cluster.internal"), "redacted-host");
  EXPECT_EQ(redacted("box-2.local"), "redacted-host");
  EXPECT_EQ(redacted("GPU-0a1b2c3d-1111-2222-3333-0123456789ab"), "redacted-gpu");
  EXPECT_EQ(redacted("key sk-proj-abcdefghij0123456789"), "key redacted-key");
  EXPECT_EQ(redacted("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nx"),
            "redacted-key\nx");
}

TEST(Redactor, LeavesCodeAndPublicThings) {
  for (const char* text : {"ld.local.u32 %r1, [st.local];",
                           "a / data / b",
                           "x = home/work;",
                           "1.10.0.3 580.95.05.1 8.8.8.8",
                           "@%p1 bra L1;",
                           "@torch.compile",
                           "https://docs.nvidia.com/data/x",
                           "/usr/include/cuda.h",
                           "sk-learn",
                           "/data",
                           "s /home b",
                           "__global__ void f(float* a) { a[0] /= 2; }  // 1/root"}) {
    EXPECT_EQ(redacted(text), text);
  }
}

TEST(Redactor, FindsPeople) {
  EXPECT_THAT(people_in("/home/ann/x /Users/bob-1/y \\/home\\/cy\\/"),
              ElementsAre("ann", "bob-1", "cy"));
}

TEST(Redactor, AnswersAnyBytes) {
  std::string bytes;
  for (int i = 0; i < 4096; ++i) {
    bytes += static_cast<char>(i * 7919 % 256);
    bytes += i % 3 == 0 ? "/home/" : i % 5 == 0 ? "@" : "10.";
  }
  Counts counts;
  const Redactor redactor({});
  const std::string once = redactor.redact(bytes, counts);
  Counts again;
  EXPECT_EQ(redactor.redact(once, again), once);  // nothing is left, nothing new is made
}

TEST(Endpoints, ThatEverybodyCanCallStay) {
  EXPECT_FALSE(is_private_endpoint("https://api.openai.com/v1"));
  EXPECT_FALSE(is_private_endpoint("builtin:good"));
  EXPECT_TRUE(is_private_endpoint("https://api.openai.com.evil.example/v1"));
  EXPECT_TRUE(is_private_endpoint("https://user:pw@api.openai.com/v1"));
  EXPECT_TRUE(is_private_endpoint("http://127.0.0.1:8000/v1"));
  EXPECT_EQ(authority_of("http://u:p@h.lab:80/v1?x"), "h.lab:80");
}

TEST(Document, IsLeftByteForByteWhereNothingIsPrivate) {
  const Redactor redactor({{"host", "gpunode7", "redacted-host-1"}});
  const std::string text = "{ \"b\": 1.50,\n \"a\": \"x\" }";
  const Cleaned clean = cleaned(text, redactor, false);
  EXPECT_EQ(clean.bytes, text);
  EXPECT_TRUE(clean.counts.empty());
}

TEST(Document, RedactsKeysValuesFieldsAndHeaders) {
  const Redactor redactor({{"host", "gpunode7", "redacted-host-1"}});
  const nlohmann::json from = {
      {"gpunode7", 1},
      {"host", "vm"},
      {"gpu_uuid", "short"},
      {"base_url", "http://10.1.1.1/v1"},
      {"headers", {{"Content-Type", "text/plain"}, {"X-Org", "acme"}}},
      {"pairs", {{"headers", nlohmann::json::array({nlohmann::json::array({"X-A", "b"})})}}},
      {"text", "on gpunode7"}};
  Counts counts;
  const nlohmann::json clean = cleaned(from, redactor, false, counts);
  EXPECT_EQ(clean,
            (nlohmann::json{
                {"redacted-host-1", 1},
                {"host", "redacted-host"},
                {"gpu_uuid", "redacted-gpu"},
                {"base_url", "redacted-endpoint"},
                {"headers", {{"Content-Type", "text/plain"}, {"X-Org", "redacted-header"}}},
                {"pairs",
                 {{"headers",
                   nlohmann::json::array({nlohmann::json::array({"X-A", "redacted-header"})})}}},
                {"text", "on redacted-host-1"}}));
}

TEST(Document, NamesNoOtherProgramOfTheGpu) {
  const Redactor redactor({});
  const nlohmann::json from = nlohmann::json::parse(R"({
    "conditions": {"neighbours": [{"pid": 41, "name": "secret_model", "busy": true}, "odd"]},
    "next": "pid 41 (secret_model) computed on the GPU while it was locked for timing: end it",
    "steps": [{"next": "pid controllers are fine"}]})");
  Counts counts;
  const nlohmann::json clean = cleaned(from, redactor, false, counts);
  EXPECT_EQ(clean.dump().find("secret_model"), std::string::npos) << clean;
  EXPECT_EQ(clean.at("conditions").at("neighbours"),
            nlohmann::json::parse(R"([{"name": "redacted-program", "pid": 0, "busy": true},
                                      {"name": "redacted-program", "pid": 0, "busy": false}])"));
  EXPECT_EQ(clean.at("next"), "redacted-program");
  EXPECT_EQ(clean.at("steps").at(0).at("next"), "pid controllers are fine");
  EXPECT_EQ(counts.at("program"), 3U);
}

TEST(Document, MasksHeldOutDrawsUnlessRevealed) {
  const Redactor redactor({});
  const nlohmann::json from = nlohmann::json::parse(R"({"heldout": {"passed": false,
    "calls": [{"shape": "rows", "dims": {"rows": 77}, "draw": 123, "content": "ties",
               "failure": {"verdict": "INCORRECT_VALUE", "text": "y[3] wrong", "at": 3}}]}})");
  Counts counts;
  const nlohmann::json clean = cleaned(from, redactor, false, counts);
  const auto& call = clean["heldout"]["calls"][0];
  EXPECT_EQ(call["draw"], 0);
  EXPECT_EQ(call["dims"], nlohmann::json::object());
  EXPECT_EQ(call["content"], "redacted-held-out");
  EXPECT_EQ(call["failure"]["verdict"], "INCORRECT_VALUE");
  EXPECT_EQ(call["failure"]["text"], "redacted-held-out");
  EXPECT_EQ(call["failure"]["at"], 0);
  EXPECT_EQ(cleaned(from, redactor, true, counts), from);
}

TEST(Document, WithholdsAStreamThatHidesASecretBetweenItsEvents) {
  const Redactor redactor({{"host", "gpunode7", "redacted-host-1"}});
  const std::string stream =
      "data: {\"delta\": \"I am on gpun\", \"n\": 1}\n\ndata: {\"delta\": \"ode7 now\"}\n\n";
  const Cleaned clean = cleaned(stream, redactor, false);
  EXPECT_TRUE(clean.withheld);
  EXPECT_THAT(clean.bytes, Not(HasSubstr("gpun")));
  const Cleaned harmless = cleaned("data: {\"delta\": \"gpun\"}\n\n", redactor, false);
  EXPECT_FALSE(harmless.withheld);
}

}  // namespace
}  // namespace sweep::publish

#include "cli/probe.h"

#include "../../support/raw_server.h"

#include <gmock/gmock.h>

namespace sweep::cli {
namespace {

using test::http_response;
using test::RawServer;
using ::testing::HasSubstr;
using ::testing::Not;

const char* const kKey = "sk-probe-0123456789";

std::string answer(const std::string& message, const std::string& usage) {
  return http_response("200 OK",
                       R"({"id":"c","model":"m","choices":[{"index":0,"finish_reason":"stop",)"
                       R"("message":)" +
                           message + R"(}],"usage":)" + usage + "}");
}

const std::string kUsage = R"({"prompt_tokens":9,"completion_tokens":3})";
const std::string kCall =
    R"({"role":"assistant","content":null,"reasoning_content":"the word is orange","tool_calls":[{"id":"c1","type":"function","function":{"name":"report_word","arguments":"{\"word\":\"orange\"}"}}]})";

// An endpoint that has /models and tools; `last` answers what is neither.
RawServer::Handler good(std::string last) {
  return [last](const std::string& request, int) -> RawServer::Answer {
    if (request.starts_with("GET /v1/models ")) {
      return {http_response("200 OK", R"({"data":[{"id":"m","context_length":8192}]})")};
    }
    const bool tools = request.find("\"tools\"") != std::string::npos;
    const bool second = request.find("\"role\":\"tool\"") != std::string::npos;
    return {tools && !second ? answer(kCall, kUsage) : last};
  };
}

ProbedModel probed(const RawServer& server, ProbeStages stages = {}, const char* name = "m") {
  config::Model model;
  model.name = "shown";
  model.deployment_name = name;
  model.api_kind = config::ApiKind::chat;
  model.base_url = server.url("/v1");
  model.stream = false;
  model.request_timeout_s = 20;
  return probe_model(model, model.base_url, endpoint::Secret(kKey), stages);
}

std::string line(const ProbedModel& model, std::string_view name) {
  constexpr std::string_view states = "owf-";
  for (const ProbeCheck& check : model.checks) {
    if (check.name == name) {
      return std::string(1, states[static_cast<std::size_t>(check.state)]) + " " + check.text +
             " | " + check.next;
    }
  }
  return "(none)";
}

TEST(Probe, AGoodEndpointPassesEveryCheck) {
  RawServer server(good(answer(R"({"role":"assistant","content":"ready"})", kUsage)));
  const ProbedModel model = probed(server);
  EXPECT_TRUE(model.ready());
  EXPECT_THAT(line(model, "model"), HasSubstr("o listed among 1"));
  EXPECT_THAT(line(model, "limits"), HasSubstr("context 8192"));
  EXPECT_THAT(line(model, "answer"), HasSubstr("o \"ready\""));
  EXPECT_THAT(line(model, "tools"), HasSubstr("o called"));
  EXPECT_THAT(line(model, "think"), HasSubstr("sent back in turn 2"));
  EXPECT_THAT(model.url, HasSubstr("/v1/chat/completions"));
  EXPECT_THAT(server.requests().at(0), HasSubstr(std::string("Bearer ") + kKey));
}

TEST(Probe, WhatFailsSaysHowToMendItAndNoKey) {
  RawServer refuses([](const std::string&, int) -> RawServer::Answer {
    return {
        http_response("401 Unauthorized",
                      std::string(R"({"error":{"message":"Incorrect API key: )") + kKey + "\"}}")};
  });
  const ProbedModel model = probed(refuses);
  EXPECT_FALSE(model.ready());
  EXPECT_THAT(line(model, "answer"), HasSubstr("f HTTP 401"));
  EXPECT_THAT(line(model, "answer"), Not(HasSubstr(kKey)));
  EXPECT_THAT(line(model, "tools"), HasSubstr("(none)"));
}

TEST(Probe, AModelThatNeverCallsFailsAndAnUnlistedNameIsWarnedAbout) {
  RawServer server([](const std::string& request, int) -> RawServer::Answer {
    if (request.starts_with("GET ")) {
      return {http_response("200 OK", R"({"data":[{"id":"model-7"}]})")};
    }
    return {answer(R"({"role":"assistant","content":"I would rather talk."})", kUsage)};
  });
  const ProbedModel model = probed(server, {}, "model-8");
  EXPECT_FALSE(model.ready());
  EXPECT_THAT(line(model, "model"), HasSubstr("model-7"));
  EXPECT_THAT(line(model, "tools"), HasSubstr("f no tool call came"));
}

TEST(Probe, SilentTruncationIsFound) {
  const std::string text = R"({"role":"assistant","content":"marigold-417"})";
  ProbeStages stages;
  stages.context = true;
  RawServer whole(good(answer(text, R"({"prompt_tokens":6100,"completion_tokens":3})")));
  EXPECT_THAT(line(probed(whole, stages), "context"), HasSubstr("o 6100 tokens"));
  RawServer cut(good(answer(text, R"({"prompt_tokens":2048,"completion_tokens":3})")));
  EXPECT_THAT(line(probed(cut, stages), "context"), HasSubstr("f "));
  EXPECT_THAT(line(probed(cut, stages), "context"), HasSubstr("2048 tokens counted"));
}

TEST(Probe, StressAndSoakCountFailuresByKind) {
  ProbeStages stages;
  stages.stress = true;
  stages.soak = true;
  stages.concurrency = 3;
  stages.minutes = 0.001;
  RawServer server([&](const std::string& request, int n) -> RawServer::Answer {
    const bool load = request.find("sweep probe 0:") != std::string::npos;
    if (load) {
      return {http_response("429 Too Many Requests", R"({"error":{"message":"slow"}})")};
    }
    return good(answer(R"({"role":"assistant","content":"ready"})", kUsage))(request, n);
  });
  const ProbedModel model = probed(server, stages);
  EXPECT_THAT(line(model, "stress"), HasSubstr("w 3 at once: 5 of 6 answered"));
  EXPECT_THAT(line(model, "stress"), HasSubstr("1 rate_limited"));
  EXPECT_THAT(line(model, "stress"), HasSubstr("max_concurrency"));
  EXPECT_THAT(line(model, "soak"), HasSubstr("rate_limited"));
}

TEST(Probe, AHostThatIsNotThereIsSaid) {
  std::string url;
  {
    const RawServer gone([](const std::string&, int) { return RawServer::Answer{}; });
    url = gone.url("/v1");
  }
  config::Model model;
  model.name = model.deployment_name = "m";
  model.api_kind = config::ApiKind::chat;
  const ProbedModel found = probe_model(model, url, {}, {});
  EXPECT_FALSE(found.ready());
  EXPECT_THAT(line(found, "reach"), HasSubstr("is the server running there?"));
}

}  // namespace
}  // namespace sweep::cli

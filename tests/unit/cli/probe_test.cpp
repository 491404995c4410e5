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

// A call of the tool with this word.
std::string call(const std::string& word) {
  return R"({"role":"assistant","content":null,"reasoning_content":"the word is there",)"
         R"("tool_calls":[{"id":"c1","type":"function","function":{"name":"report_word",)"
         R"("arguments":"{\"word\":\")" +
         word + R"(\"}"}}]})";
}

std::string text(const std::string& content) {
  return R"({"role":"assistant","content":")" + content + "\"}";
}

// The word behind a mark in a request; empty: the mark is not there.
std::string word_behind(const std::string& request, const std::string& mark) {
  const auto at = request.find(mark);
  return at == std::string::npos
             ? std::string()
             : request.substr(at + mark.size(), request.find('.', at) - at - mark.size());
}

// An endpoint that has /models and tools; `last` answers what is neither.
RawServer::Handler good(std::string last) {
  return [last](const std::string& request, int) -> RawServer::Answer {
    if (request.starts_with("GET /v1/models ")) {
      return {http_response("200 OK", R"({"data":[{"id":"m","context_length":8192}]})")};
    }
    if (const auto receipt = word_behind(request, "The receipt is "); !receipt.empty()) {
      return {answer(text("It is **" + receipt + "**."), kUsage)};
    }
    const auto word = word_behind(request, "with the word ");
    return {word.empty() ? last : answer(call(word), kUsage)};
  };
}

config::Model model_at(const RawServer& server, const std::string& path = "/v1") {
  config::Model model;
  model.name = "shown";
  model.deployment_name = "m";
  model.api_kind = config::ApiKind::chat;
  model.base_url = server.url(path);
  model.stream = false;
  model.request_timeout_s = 20;
  return model;
}

ProbedModel probed(const config::Model& model, const char* key = kKey) {
  return probe_model(model, model.base_url, endpoint::Secret(key), {});
}

// Answers every request alike.
RawServer::Handler always(const std::string& status, const std::string& body) {
  return
      [=](const std::string&, int) -> RawServer::Answer { return {http_response(status, body)}; };
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
  EXPECT_THAT(line(model, "reach"), HasSubstr("o HTTP 200"));
  EXPECT_THAT(line(model, "model"), HasSubstr("o listed among 1"));
  EXPECT_THAT(line(model, "limits"), HasSubstr("context 8192"));
  EXPECT_THAT(line(model, "answer"), HasSubstr("o \"ready\""));
  EXPECT_THAT(line(model, "tools"), HasSubstr("o called"));
  EXPECT_THAT(line(model, "key"), HasSubstr("o accepted"));
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
  EXPECT_THAT(
      line(model, "key"),
      HasSubstr("f /models refused the key (HTTP 401), and so did the model's path: HTTP 401"));
  EXPECT_THAT(line(model, "key"), Not(HasSubstr(kKey)));
  EXPECT_THAT(line(model, "answer"), HasSubstr("(none)"));
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

TEST(Probe, AKeyThatModelsRefusesIsSaidAndTheAnswerDecides) {
  const auto all = good(answer(text("ready"), kUsage));
  RawServer server([&](const std::string& request, int n) -> RawServer::Answer {
    return request.starts_with("GET ") ? RawServer::Answer{http_response("403 Forbidden", "{}")}
                                       : all(request, n);
  });
  const ProbedModel model = probed(server);
  EXPECT_TRUE(model.ready());
  EXPECT_THAT(line(model, "key"), HasSubstr("w /models refused the key (HTTP 403), but the model"));
  EXPECT_THAT(line(model, "model"), HasSubstr("- not known: HTTP 403"));
  RawServer broken([&](const std::string& request, int) -> RawServer::Answer {
    return {request.starts_with("GET ") ? http_response("401 Unauthorized", "{}")
                                        : http_response("400 Bad Request", "{}")};
  });
  EXPECT_THAT(line(probed(broken), "key"), HasSubstr("f /models refused the key (HTTP 401)"));
  EXPECT_THAT(line(probed(model_at(broken), ""), "key"), HasSubstr("f /models wants a key"));
}

TEST(Probe, WhatIsNoEndpointIsSaidAtReach) {
  RawServer broken(always("500 Internal Server Error", R"({"error":"boom"})"));
  EXPECT_THAT(line(probed(broken), "reach"), HasSubstr("w HTTP 500 from /models"));
  EXPECT_THAT(line(probed(broken), "model"), HasSubstr("- not known: HTTP 500"));
  RawServer page([](const std::string& request, int) -> RawServer::Answer {
    return {request.starts_with("GET ") ? http_response("200 OK", "<html><body>Hello</body></html>")
                                        : answer(text("ready"), kUsage)};
  });
  EXPECT_THAT(line(probed(page), "reach"), HasSubstr("a web page where JSON belongs"));
  EXPECT_THAT(line(probed(page), "reach"), HasSubstr("w HTTP 200"));
  RawServer moved([](const std::string& request, int) -> RawServer::Answer {
    return {request.starts_with("GET ") ? "HTTP/1.1 302 Found\r\nLocation: https://new.example/" +
                                              std::string(kKey) + "\r\nContent-Length: 0\r\n\r\n"
                                        : answer(text("ready"), kUsage)};
  });
  const std::string said = line(probed(moved), "reach");
  EXPECT_THAT(said, HasSubstr("a redirect to https://new.example/[key]"));
  EXPECT_THAT(said, HasSubstr("write the final address"));
  RawServer all_pages(always("200 OK", "<html><body>Hello</body></html>"));
  EXPECT_THAT(line(probed(all_pages), "reach"),
              ::testing::AllOf(HasSubstr("f HTTP 200"), HasSubstr("| check base_url: it usually")));
  RawServer nothing(always("404 Not Found", R"({"detail":"Not Found"})"));
  const ProbedModel none = probed(nothing);
  EXPECT_THAT(line(none, "reach"), HasSubstr("f HTTP 404 from /models"));
  EXPECT_THAT(line(none, "reach"), HasSubstr("/v1/chat/completions"));
  EXPECT_THAT(line(none, "reach"), HasSubstr("check base_url"));
  EXPECT_THAT(line(none, "reach"), Not(HasSubstr("sweep probe")));
  EXPECT_THAT(line(none, "answer"), HasSubstr("(none)"));
}

TEST(Probe, AnUnknownModelIsSaidAtItsCheck) {
  RawServer server([](const std::string& request, int) -> RawServer::Answer {
    if (request.starts_with("GET ")) {
      return {http_response("200 OK", R"({"data":[{"id":"m2"}]})")};
    }
    return {
        http_response("404 Not Found", R"({"error":{"message":"The model `m` does not exist."}})")};
  });
  const ProbedModel model = probed(server);
  EXPECT_THAT(line(model, "model"), HasSubstr("f HTTP 404 (The model `m` does not exist.)"));
  EXPECT_THAT(line(model, "model"), HasSubstr("did you mean deployment_name = \"m2\"?"));
  EXPECT_THAT(line(model, "reach"), HasSubstr("o HTTP 200"));
}

TEST(Probe, AnotherPathThatAnswersIsNamed) {
  RawServer server([](const std::string& request, int) -> RawServer::Answer {
    return {request.starts_with("POST /v1/chat/completions ")
                ? answer(text("ready"), kUsage)
                : http_response("404 Not Found", R"({"detail":"Not Found"})")};
  });
  config::Model model = model_at(server);
  model.api_kind = config::ApiKind::responses;
  EXPECT_THAT(line(probed(model), "reach"), HasSubstr("| write  api_kind = \"openai_chat\""));
  model = model_at(server, "");
  EXPECT_THAT(line(probed(model), "reach"),
              HasSubstr("| write  base_url = \"" + server.url("/v1") + "\""));
  model.api_kind = config::ApiKind::responses;
  EXPECT_THAT(line(probed(model), "reach"), HasSubstr("/v1\"  and  api_kind = \"openai_chat\""));
}

TEST(Probe, AStreamThatComesWholeIsWarnedAbout) {
  RawServer server(good(answer(text("ready"), kUsage)));
  const ProbedModel whole = probed(server);
  EXPECT_THAT(line(whole, "stream"), HasSubstr("w answered whole although a stream was asked"));
  EXPECT_THAT(line(whole, "stream"), HasSubstr("stream = false"));
  EXPECT_FALSE(whole.first_byte_s);
  const auto all = good(answer(text("ready"), kUsage));
  RawServer streams([&](const std::string& request, int n) -> RawServer::Answer {
    if (request.find("\"stream\":true") == std::string::npos) {
      return all(request, n);
    }
    return {
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":"
        "\"ready " +
        std::string(kKey) +
        "\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,"
        "\"completion_tokens\":1}}\n\ndata: [DONE]\n\n"};
  });
  const std::string streamed = line(probed(streams), "stream");
  EXPECT_THAT(streamed, HasSubstr("o first byte after"));
  EXPECT_THAT(streamed, HasSubstr("no tokens/s: fewer than two tokens came"));
}

TEST(Probe, ToolsAreOkOnlyWhenArgumentAndResultArrive) {
  const std::string ready = answer(text("ready"), kUsage);
  const auto all = good(ready);
  RawServer other([&](const std::string& request, int n) -> RawServer::Answer {
    const bool first = !word_behind(request, "with the word ").empty() &&
                       word_behind(request, "The receipt is ").empty();
    return first ? RawServer::Answer{answer(call("orange"), kUsage)} : all(request, n);
  });
  EXPECT_THAT(line(probed(other), "tools"), HasSubstr("w called with \"orange\" where \"amber-"));
  RawServer deaf([&](const std::string& request, int n) -> RawServer::Answer {
    return word_behind(request, "The receipt is ").empty() ? all(request, n)
                                                           : RawServer::Answer{ready};
  });
  EXPECT_THAT(line(probed(deaf), "tools"),
              HasSubstr("w called, but turn 2 does not repeat \"cedar-"));
  RawServer parserless([&](const std::string& request, int n) -> RawServer::Answer {
    return word_behind(request, "with the word ").empty()
               ? all(request, n)
               : RawServer::Answer{http_response(
                     "400 Bad Request",
                     R"({"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}})")};
  });
  EXPECT_THAT(line(probed(parserless), "tools"),
              HasSubstr("| start vLLM with --enable-auto-tool-choice --tool-call-parser NAME"));
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

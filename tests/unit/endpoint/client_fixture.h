#pragma once

#include "../../support/raw_server.h"
#include "endpoint/client.h"
#include "endpoint/json.h"
#include "util/fake_clock.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

// A client in front of a server that answers as a test says, with a clock that does not wait.
namespace sweep::endpoint::test {

using sweep::test::http_response;
using sweep::test::RawServer;
using sweep::test::sse_response;

inline const std::vector<ToolDefinition> kTools = {
    {"submit_kernel",
     "Submits.",
     R"({"type":"object","properties":{"kernel_code":{"type":"string"}}})"}};

struct Fixture {
  explicit Fixture(RawServer::Handler handler, Api api = Api::chat, bool stream = true)
      : server(std::move(handler)) {
    target.api = api;
    target.base_url = server.url("/v1/");
    target.model = "m";
    target.key = Secret("sk-0123456789abcdef");
    target.stream = stream;
    services.clock = &clock;
  }

  std::variant<Completion, EndpointFailure> ask(Conversation conversation = {
                                                    {Speaker::user, "hi"}}) {
    endpoint = connect(target, retry, services);
    return endpoint->complete(conversation, kTools, settings, progress, &exchange);
  }

  Completion answer() {
    auto result = ask();
    if (auto* failure = std::get_if<EndpointFailure>(&result))
      throw std::runtime_error(failure->text);
    return std::get<Completion>(std::move(result));
  }

  double slept() {
    const auto waits = clock.slept();
    return std::accumulate(waits.begin(), waits.end(), 0.0);
  }

  Json sent(std::size_t number = 0) {
    return *parse_json(RawServer::body_of(server.requests().at(number)));
  }

  RawServer server;
  util::FakeClock clock;
  Target target;
  Retry retry;
  Services services;
  Settings settings;
  OnProgress progress;
  Exchange exchange;
  std::unique_ptr<Endpoint> endpoint;
};

inline RawServer::Handler always(std::string bytes, bool slowly = false) {
  return [bytes = std::move(bytes), slowly](const std::string&, int) {
    return RawServer::Answer{bytes, slowly, false};
  };
}

inline RawServer::Handler in_turn(std::vector<std::string> answers) {
  return [answers = std::move(answers)](const std::string&, int number) {
    return RawServer::Answer{
        answers.at(std::min<std::size_t>(static_cast<std::size_t>(number), answers.size() - 1)),
        false,
        false};
  };
}

inline const std::string kPlain =
    R"({"id":"c1","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hello","refusal":null,"annotations":[],"extra":{"sig":"s"}}}],"usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":6},"completion_tokens_details":{"reasoning_tokens":3}}})";

inline std::string chunk(const std::string& delta, const std::string& rest = "null") {
  return "data: {\"id\":\"c1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":" + delta +
         ",\"finish_reason\":" + rest + "}]}\r\n\r\n";
}

inline std::string full_stream() {
  return ": keep-alive\r\n\r\ndata: "
         "{\"choices\":[],\"id\":\"\",\"model\":\"\",\"prompt_filter_results\":[]}\r\n\r\n" +
         chunk(R"({"role":"assistant","content":""})") +
         chunk(R"({"reasoning_content":"let me "})") + chunk(R"({"reasoning_content":"think"})") +
         chunk("{\"content\":\"\xE2\x82\"}") + chunk("{\"content\":\"\xAC ok\"}") +
         chunk(
             R"({"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"submit_kernel","arguments":""}}]})") +
         chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"kernel_"}}]})") +
         chunk(
             R"({"tool_calls":[{"index":1,"id":"call_b","function":{"name":"submit_kernel","arguments":"{}"}}]})") +
         chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"code\":\"x\"}"}}]})") +
         chunk("{}", "\"tool_calls\"") +
         "data: "
         "{\"id\":\"c1\",\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":9}}"
         "\r\n\r\ndata: [DONE]\r\n\r\n";
}

}  // namespace sweep::endpoint::test

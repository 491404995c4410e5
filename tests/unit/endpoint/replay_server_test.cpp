#include "endpoint/replay_server.h"

#include "client_fixture.h"

#include <gmock/gmock.h>

namespace sweep::endpoint {
namespace {

using test::full_stream;
using test::http_response;
using test::in_turn;
using test::kPlain;
using test::kTools;
using test::sse_response;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two turns recorded in front of a server that fails before it answers.
struct Recorded {
  Recorded() {
    test::Fixture f(in_turn(
        {http_response(
             "429 Too Many Requests", R"({"error":{"message":"slow"}})", "Retry-After: 30\r\n"),
         sse_response(full_stream().substr(0, 200)),
         "",
         sse_response(full_stream()),
         sse_response(full_stream())}));
    conversation = {{Speaker::user, "hi"}};
    endpoint = connect(f.target, f.retry, f.services);
    first = turn(*endpoint);
    second = turn(*endpoint);
    target = f.target;
  }

  Exchange turn(Endpoint& with) {
    Exchange exchange;
    auto answer = with.complete(conversation, kTools, {}, {}, &exchange);
    if (auto* failure = std::get_if<EndpointFailure>(&answer)) {
      text = failure->text;
      return exchange;
    }
    const auto& completion = std::get<Completion>(answer);
    attempts = completion.attempts.size();
    conversation.push_back(completion.message);
    for (const ToolCall& call : completion.message.calls)
      conversation.push_back({Speaker::tool, "done", "", {}, call.id, call.name, ""});
    return exchange;
  }

  // A client in front of `server`, with a clock that does not wait.
  std::unique_ptr<Endpoint> client(const ReplayServer& server) {
    target.instead = server.origin();
    target.key = Secret();
    Services services;
    services.clock = &clock;
    return connect(target, {}, services);
  }

  util::FakeClock clock;
  Conversation conversation;
  std::unique_ptr<Endpoint> endpoint;
  Exchange first, second;
  Target target;
  std::size_t attempts = 0;
  std::string text;
};

TEST(ReplayServer, PlaysEveryTryWithItsFault) {
  Recorded r;
  ASSERT_EQ(r.first.tries.size(), 4U);
  double seconds = -1;
  ReplayServer server([&](double took) { seconds = std::max(seconds, took); });
  server.begin({r.first, r.second});
  const auto client = r.client(server);
  r.conversation = {{Speaker::user, "hi"}};
  const Exchange first = r.turn(*client);
  EXPECT_EQ(r.attempts, 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(first.tries[i].outcome, r.first.tries[i].outcome) << i;
    EXPECT_EQ(first.tries[i].request, r.first.tries[i].request) << i;
    EXPECT_EQ(first.tries[i].response, r.first.tries[i].response) << i;
  }
  (void)r.turn(*client);
  const auto result = server.end();
  EXPECT_THAT(result.differences, IsEmpty());
  EXPECT_EQ(result.played, 5U);
  EXPECT_EQ(result.recorded, 5U);
  EXPECT_GE(seconds, 0);
}

TEST(ReplayServer, AnAnswerThatWasTooLargeIsSoAgain) {
  Recorded r;
  Exchange large = r.first;
  large.tries.resize(1);
  large.tries[0].status = 200;
  large.tries[0].fault = http::name(http::Fault::too_large);
  large.tries[0].response = R"({"choices":[)";
  ReplayServer server(nullptr);
  server.begin({large});
  const auto client = r.client(server);
  auto answer = client->complete({{Speaker::user, "hi"}}, kTools, {}, {}, nullptr);
  EXPECT_EQ(std::get<EndpointFailure>(answer).kind, FailureKind::answer_too_large);
  EXPECT_EQ(std::get<EndpointFailure>(answer).attempts.size(), 1U);
}

TEST(ReplayServer, AMissNamesTheRequestAndWhatDiffers) {
  Recorded r;
  ReplayServer server;
  server.begin({r.first, r.second});
  const auto client = r.client(server);
  r.conversation = {{Speaker::user, "hi"}};
  (void)r.turn(*client);
  r.conversation.back().text = "dome";
  (void)r.turn(*client);
  EXPECT_THAT(r.text, HasSubstr("messages[3].content at character 2"));
  const auto result = server.end();
  ASSERT_THAT(result.differences,
              ElementsAre(HasSubstr("turn 2 (try 1): not recorded: messages[3].content")));
  EXPECT_THAT(result.differences[0], HasSubstr("recorded \"done\", now \"dome\""));
}

TEST(ReplayServer, AskingTooOftenOrTooLittleIsADifference) {
  Recorded r;
  ReplayServer server;
  server.begin({r.second});
  const auto client = r.client(server);
  EXPECT_THAT(server.end().differences, ElementsAre(HasSubstr("not asked for now")));
  server.begin({});
  (void)r.turn(*client);
  EXPECT_THAT(server.end().differences, ElementsAre(HasSubstr("asked nothing more")));
}

TEST(ReplayKey, LeavesOutWhatDecidesNothing) {
  EXPECT_EQ(replay_key("/a", R"({"model":"m","user":"u","n":1})"),
            replay_key("/a", R"({"n":1,"model":"m","metadata":{"x":1},"stream_options":{}})"));
  EXPECT_NE(replay_key("/a", R"({"model":"m"})"), replay_key("/b", R"({"model":"m"})"));
  EXPECT_NE(replay_key("/a", R"({"model":"m"})"), replay_key("/a", R"({"model":"n"})"));
  EXPECT_NE(replay_key("/a", "no json"), replay_key("/a", "no jsom"));
  EXPECT_EQ(first_difference("{}", "{}"), "");
  EXPECT_EQ(first_difference(R"({"a":1})", R"({"b":1})"), "a: not sent now");
  EXPECT_EQ(first_difference(R"({"a":1})", R"({"a":1,"b":1})"), "b: not in the recorded request");
  EXPECT_EQ(first_difference(R"({"a":[1]})", R"({"a":[1,2]})"), "a: recorded 1 entries, now 2");
  EXPECT_EQ(first_difference("[1]", "[1,2]"), "recorded 1 entries, now 2");
  EXPECT_EQ(first_difference(R"({"a":1,"b":2})", R"({"b":2,"a":1})"),
            "the body: keys in another order");
  EXPECT_THAT(first_difference("{\"a\":1}", "{\"a\": 1}"), HasSubstr("the body at character 5"));
}

}  // namespace
}  // namespace sweep::endpoint

#include "../../support/gzip.h"
#include "client_fixture.h"
#include "endpoint/sse.h"

#include <gmock/gmock.h>

// Streams that come in odd pieces, break off, stop or never end: cases F25 to F29, F39 and F48 of
// docs/endpoints.md.
namespace sweep::endpoint {
namespace {

using test::always;
using test::chunk;
using test::Fixture;
using test::full_stream;
using test::http_response;
using test::RawServer;
using test::sse_response;
using testing::HasSubstr;
using Answer = RawServer::Answer;

std::string with_line_ends(const std::string& stream, const std::string& end) {
  std::string out;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    if (stream[i] == '\r')
      continue;
    out += stream[i] == '\n' ? end : std::string(1, stream[i]);
  }
  return out;
}

void expect_full_answer(const Completion& answer) {
  EXPECT_EQ(answer.message.text, "\xE2\x82\xAC ok");
  EXPECT_EQ(answer.message.reasoning, "let me think");
  ASSERT_EQ(answer.message.calls.size(), 2U);
  EXPECT_EQ(answer.message.calls[0].arguments, "{\"kernel_code\":\"x\"}");
  EXPECT_EQ(answer.usage.output, 9);
}

TEST(EndpointFaults, F25CommentsAndPingsAreSkipped) {
  Fixture f([](const std::string&, int) {
    return Answer{sse_response(
        ": hello\n\n: ping\n\nid: 7\n\nretry: 3\n\nevent: ping\ndata: keep\n\n"
        "data: : OPENROUTER PROCESSING\n\n:\n" +
        chunk(R"({"content":"a"})") + ": ping\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n" +
        chunk(R"({"content":"b"})", "\"stop\"") + ":last\n\ndata: [DONE]\n\n")};
  });
  const Completion answer = f.answer();
  EXPECT_EQ(answer.message.text, "ab");
  EXPECT_EQ(answer.attempts.size(), 1U);
}

TEST(EndpointFaults, F26EventsSplitAtAnyByteWithAnyLineEnds) {
  for (const char* end : {"\n", "\r", "\r\n"}) {
    Fixture f([&](const std::string&, int) {
      return Answer{sse_response("\xEF\xBB\xBF" + with_line_ends(full_stream(), end)), true};
    });
    expect_full_answer(f.answer());
  }
  // In two packets, cut between CR and LF.
  const std::string stream = full_stream();
  const auto cut = stream.find("let me") + stream.substr(stream.find("let me")).find('\r') + 1;
  Fixture f([&](const std::string&, int) {
    Answer answer{sse_response(stream.substr(0, cut))};
    answer.rest = {stream.substr(cut)};
    answer.pause_ms = 30;
    return answer;
  });
  expect_full_answer(f.answer());
}

TEST(EndpointFaults, F27CharactersSplitOverReadsAndOverEvents) {
  const std::string stream = chunk("{\"content\":\"\xF0\x9F\"}") +
                             chunk("{\"content\":\"\x98\x80 \xC3\"}") +
                             chunk("{\"content\":\"\xA9 \xFF\"}", "\"stop\"") + "data: [DONE]\n\n";
  for (const bool slowly : {false, true}) {
    Fixture f([&](const std::string&, int) { return Answer{sse_response(stream), slowly}; });
    EXPECT_EQ(f.answer().message.text, "\xF0\x9F\x98\x80 \xC3\xA9 \xEF\xBF\xBD");
  }
}

// The first part of full_stream(), ended in each way in which a connection can end too soon.
Answer cut_answer(int kind) {
  const std::string part = full_stream().substr(0, full_stream().find("call_b"));
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
  Answer answer;
  switch (kind) {
    case 0:
      answer.bytes = sweep::test::kChunkedHead + sweep::test::http_chunk(part) + "9\r\nab";
      break;
    case 1:
      answer.bytes = head + "Content-Length: 99999\r\n\r\n" + part;
      break;
    case 2:
      answer.bytes = sse_response(part);
      break;
    default:
      answer.bytes = sweep::test::kChunkedHead + sweep::test::http_chunk(part);
      answer.reset = true;
  }
  return answer;
}

void expect_cut(const Attempt& attempt) {
  EXPECT_EQ(attempt.outcome, "transport");
  EXPECT_EQ(attempt.status, 200);
  EXPECT_EQ(attempt.partial, "let me think\xE2\x82\xAC ok{\"kernel_");
  EXPECT_GE(attempt.lost_output, static_cast<std::int64_t>(attempt.partial.size() / 4));
  EXPECT_GT(attempt.lost_input, 20);
}

TEST(EndpointFaults, F28CutStreamsAreRetriedAndTheirCostIsKept) {
  for (int kind = 0; kind < 4; ++kind) {
    Fixture f([kind](const std::string&, int number) {
      return number == 0 ? cut_answer(kind) : Answer{sse_response(full_stream())};
    });
    const Completion answer = f.answer();
    expect_full_answer(answer);
    ASSERT_EQ(answer.attempts.size(), 2U) << kind;
    expect_cut(answer.attempts[0]);
    EXPECT_EQ(answer.attempts[1].lost_output, -1);
    EXPECT_EQ(f.sent(0), f.sent(1));
  }
}

TEST(EndpointFaults, F28CutStreamsEndAfterThreeRepeats) {
  Fixture f([](const std::string&, int number) { return cut_answer(number % 4); });
  f.retry.max_attempts = 100;
  const auto result = f.ask();
  const auto& failure = std::get<EndpointFailure>(result);
  EXPECT_EQ(failure.kind, FailureKind::transport);
  ASSERT_EQ(failure.attempts.size(), 4U);
  for (const Attempt& attempt : failure.attempts)
    expect_cut(attempt);
}

TEST(EndpointFaults, F28WhatBreaksAfterTheEndMarkerLosesNothing) {
  Fixture f([](const std::string&, int) {
    Answer answer{sweep::test::kChunkedHead + sweep::test::http_chunk(full_stream())};
    answer.reset = true;
    return answer;
  });
  const Completion answer = f.answer();
  expect_full_answer(answer);
  EXPECT_EQ(answer.attempts.size(), 1U);
}

// A model that says too much is asked once: it would say, and cost, as much again.
TEST(EndpointFaults, F48AnAnswerThatIsTooLargeIsNotAskedForAgain) {
  const std::string text(3000, 'x');
  const std::string document = R"({"model":"m","choices":[{"message":{"content":")" + text;
  for (const std::string& bytes : {sse_response(chunk("{\"content\":\"" + text + "\"}") + text),
                                   http_response("200 OK", document)}) {
    Fixture f(always(bytes));
    f.target.limits.max_body = 3000;
    const auto result = f.ask();
    const auto& failure = std::get<EndpointFailure>(result);
    EXPECT_EQ(failure.kind, FailureKind::answer_too_large);
    EXPECT_FALSE(failure.retry);
    EXPECT_FALSE(failure.configuration);
    EXPECT_EQ(f.server.requests().size(), 1U);
    EXPECT_THAT(failure.text, HasSubstr("larger than 3000 bytes"));
    EXPECT_THAT(failure.text, HasSubstr("max_tokens"));
    EXPECT_GT(failure.attempts.at(0).lost_input, 0);  // it is paid for
  }
}

TEST(EndpointFaults, F48AnEventThatIsTooLargeEndsTheTransfer) {
  RawServer::Answer answer{sse_response("data: {\"x\":\"" + std::string(kMaxEventBytes, 'x'))};
  answer.ping = "x";  // and it goes on
  Fixture f([answer](const std::string&, int) { return answer; });
  const auto result = f.ask();
  const auto& failure = std::get<EndpointFailure>(result);
  EXPECT_EQ(failure.kind, FailureKind::answer_too_large);
  EXPECT_THAT(failure.text, HasSubstr("an event of the stream is larger than 16 MiB"));
  EXPECT_EQ(failure.attempts.size(), 1U);
}

// Of a server that does not stream the whole answer is one piece.
TEST(EndpointFaults, F48ADocumentInPlaceOfAStreamIsNoEvent) {
  const std::string text(kMaxEventBytes + 100, 'x');
  Fixture f(always(http_response(
      "200 OK",
      R"({"model":"m","choices":[{"message":{"content":")" + text +
          R"("},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}})")));
  EXPECT_EQ(f.answer().message.text.size(), text.size());
}

// What somebody serves at a wrong address says nothing about a model.
TEST(EndpointFaults, F48AFileThatIsTooLargeIsNoAnswer) {
  Fixture f(always(http_response("200 OK", std::string(5000, 'x'))));
  f.target.limits.max_body = 3000;
  const auto result = f.ask();
  EXPECT_EQ(std::get<EndpointFailure>(result).kind, FailureKind::protocol);
}

std::string first_detail(Fixture& f) {
  f.retry.max_attempts = 1;
  const auto result = f.ask();
  const auto& failure = std::get<EndpointFailure>(result);
  EXPECT_EQ(failure.kind, FailureKind::transport);
  EXPECT_TRUE(failure.retry);
  return failure.attempts.at(0).detail;
}

TEST(EndpointFaults, F29ConnectClockCoversTheHandshake) {
  Fixture f([](const std::string&, int) { return Answer{}; });
  f.target.base_url = "https://127.0.0.1:" + std::to_string(f.server.port()) + "/v1";
  f.target.limits.connect = std::chrono::milliseconds(200);
  EXPECT_THAT(first_detail(f), HasSubstr("no connection within 0.2"));
}

TEST(EndpointFaults, F29FirstByteClockIsNotEndedByPings) {
  for (const char* ping : {"", ": ping\n\n", "event: ping\ndata: {}\n\n"}) {
    Fixture f([ping](const std::string&, int) {
      Answer answer{sse_response(ping)};
      answer.ping = ping;
      answer.hold = true;
      return answer;
    });
    f.target.limits.first_byte = std::chrono::milliseconds(300);
    EXPECT_THAT(first_detail(f), HasSubstr("no answer within 0.3"));
  }
}

TEST(EndpointFaults, F29OnlyModelOutputRearmsTheProgressClock) {
  for (const char* ping : {"",
                           ": ping\n\n",
                           "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n",
                           "data: {\"choices\":[]}\n\n"}) {
    Fixture f([ping](const std::string&, int) {
      Answer answer{sse_response(chunk(R"({"content":"some"})"))};
      answer.ping = ping;
      answer.hold = true;
      return answer;
    });
    f.target.limits.idle = std::chrono::milliseconds(300);
    EXPECT_THAT(first_detail(f), HasSubstr("no progress for 0.3"));
  }
  // Lifecycle events of Responses.
  Fixture f(
      [](const std::string&, int) {
        Answer answer{
            sse_response("data: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n\n")};
        answer.ping = "data: {\"type\":\"response.in_progress\",\"response\":{}}\n\n";
        return answer;
      },
      Api::responses);
  f.target.limits.idle = std::chrono::milliseconds(300);
  EXPECT_THAT(first_detail(f), HasSubstr("no progress for 0.3"));
}

TEST(EndpointFaults, F29TotalClockEndsEvenALivelyStream) {
  Fixture f([](const std::string&, int) {
    Answer answer{sse_response(chunk(R"({"reasoning_content":"hm "})"))};
    answer.ping = chunk(R"({"reasoning_content":"hm "})");
    return answer;
  });
  f.target.limits.total = std::chrono::milliseconds(400);
  EXPECT_THAT(first_detail(f), HasSubstr("not finished within 0.4"));
}

TEST(EndpointFaults, F29SlowButSteadyOutputIsLeftAlone) {
  Fixture f([](const std::string&, int) {
    Answer answer{sse_response("")};
    for (int i = 0; i < 6; ++i)
      answer.rest.push_back(chunk(R"({"content":"."})"));
    answer.rest.push_back("data: [DONE]\n\n");
    answer.pause_ms = 400;
    return answer;
  });
  f.target.limits.idle = std::chrono::milliseconds(2000);
  EXPECT_EQ(f.answer().message.text, "......");
}

TEST(EndpointFaults, F29EmptyLinesBeforeAWholeAnswerAreNoOutput) {
  const auto waiting = [](int number) {
    Answer answer{"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\n"};
    if (number == 0)
      answer.ping = "\n";
    else
      answer.rest = {"\n\n", test::kPlain};
    return answer;
  };
  Fixture f([&](const std::string&, int number) { return waiting(number); }, Api::chat, false);
  f.target.limits.first_byte = std::chrono::milliseconds(1000);
  const Completion answer = f.answer();
  EXPECT_EQ(answer.message.text, "hello");
  ASSERT_EQ(answer.attempts.size(), 2U);
  EXPECT_THAT(answer.attempts[0].detail, HasSubstr("no answer within 1.0"));
}

TEST(EndpointFaults, F39CompressedAndMislabelledBodies) {
  const std::string packed = sweep::test::gzip_of(full_stream());

  struct Case {
    const char* label;
    std::string body;
    bool twice;
  };

  for (const Case& c : {Case{"Content-Encoding: gzip\r\n", packed, false},
                        Case{"Content-Encoding: gzip\r\n", full_stream(), true},
                        Case{"Content-Encoding: br\r\n", full_stream(), true},
                        Case{"Content-Encoding: zstd\r\n", full_stream(), true},
                        Case{"", packed, true}}) {
    Fixture f([&](const std::string& request, int) {
      const bool plain = request.find("Accept-Encoding: identity\r\n") != std::string::npos;
      // A server that mislabels goes on doing so.
      return Answer{http_response("200 OK", plain ? full_stream() : c.body, c.label)};
    });
    const Completion answer = f.answer();
    expect_full_answer(answer);
    ASSERT_EQ(answer.attempts.size(), c.twice ? 2U : 1U) << c.label;
    if (c.twice) {
      EXPECT_EQ(answer.attempts[0].outcome, "protocol");
    }
    EXPECT_EQ(f.slept(), 0.0);
    // Learnt: the next request asks for plain bodies at once.
    ASSERT_EQ(f.endpoint->complete({{Speaker::user, "x"}}, {}, {}).index(), 0U);
    EXPECT_EQ(f.server.requests().size(), c.twice ? 3U : 2U) << c.label;
  }
}

}  // namespace
}  // namespace sweep::endpoint

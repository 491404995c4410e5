#include "client_fixture.h"
#include "endpoint/failure.h"

#include <gmock/gmock.h>

// Case F34 of docs/endpoints.md: a conversation that is too long, in the words of many servers.
namespace sweep::endpoint {
namespace {

struct Wording {
  const char* id;
  int status;
  const char* body;
};

void PrintTo(const Wording& wording, std::ostream* out) {
  *out << wording.id;
}

class EndpointFaultsF34 : public testing::TestWithParam<Wording> {};

// Through the whole client: the kind, and that it is asked once.
FailureKind asked_once(const Wording& wording) {
  test::Fixture f(
      test::always(test::http_response(std::to_string(wording.status) + " X", wording.body)));
  f.retry.max_rate_limited = 1;
  f.retry.max_attempts = 1;
  const auto result = f.ask();
  EXPECT_EQ(f.server.requests().size(), 1U);
  return result.index() == 0 ? FailureKind::cancelled : std::get<EndpointFailure>(result).kind;
}

TEST_P(EndpointFaultsF34, IsOverflow) {
  EXPECT_EQ(asked_once(GetParam()), FailureKind::context_overflow) << GetParam().body;
}

const Wording kOverflows[] = {
    {"openai_code", 400, R"w({"error":{"message":"too long","code":"context_length_exceeded"}})w"},
    {"openai_chat",
     400,
     R"w({"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens. Please reduce the length of the messages."}})w"},
    {"openai_responses",
     400,
     R"w({"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error"}})w"},
    {"anthropic",
     400,
     R"w({"error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}})w"},
    {"anthropic_sum",
     400,
     R"w({"error":{"message":"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"}})w"},
    {"bedrock", 400, R"w({"message":"Input is too long for requested model."})w"},
    {"gemini",
     400,
     R"w([{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}])w"},
    {"xai",
     400,
     R"w({"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."})w"},
    {"groq",
     400,
     R"w({"error":{"message":"Please reduce the length of the messages or completion."}})w"},
    {"openrouter",
     400,
     R"w({"error":{"code":400,"message":"This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens"}})w"},
    {"llama_cpp",
     400,
     R"w({"error":{"code":400,"message":"request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it","type":"exceed_context_size_error"}})w"},
    {"llama_cpp_500",
     500,
     R"w({"error":{"message":"the request exceeds the available context size. try increasing the context size"}})w"},
    {"lm_studio",
     400,
     R"w({"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough; the prompt is larger than the context length"})w"},
    {"lm_studio_keep",
     400,
     R"w({"error":"The number of tokens to keep from the initial prompt is greater than the context length"})w"},
    {"copilot",
     400,
     R"w({"error":{"message":"prompt token count of 140000 exceeds the limit of 128000"}})w"},
    {"minimax",
     400,
     R"w({"error":{"message":"invalid params, context window exceeds limit (2013)"}})w"},
    {"kimi",
     400,
     R"w({"error":{"message":"Invalid request: Your request exceeded model token limit: 262144 (requested: 270000)"}})w"},
    {"mistral",
     400,
     R"w({"message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"})w"},
    {"glm", 400, R"w({"error":{"code":"1261","message":"Prompt exceeds max length"}})w"},
    {"glm_chinese",
     400,
     "{\"error\":{\"code\":\"1261\",\"message\":\"Prompt \xe8\xb6\x85\xe9\x95\xbf\"}}"},
    {"ollama", 400, R"w({"error":"prompt too long; exceeded max context length by 100 tokens"})w"},
    {"ollama_input", 400, R"w({"error":"the input length exceeds the context length"})w"},
    {"vllm",
     400,
     R"w({"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).","code":400})w"},
    {"vllm_output",
     400,
     R"w({"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 1000 input tokens"}})w"},
    {"vllm_prompt",
     400,
     R"w({"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096."})w"},
    {"vllm_nothing_left", 400, R"w({"message":"max_tokens must be at least 1, got -123."})w"},
    {"sglang",
     400,
     R"w({"message":"The input (40000 tokens) is longer than the model's context length (32768 tokens)."})w"},
    {"sglang_requested",
     400,
     R"w({"message":"Requested token count exceeds the model's maximum context length of 32768 tokens."})w"},
    {"tgi",
     422,
     R"w({"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`"})w"},
    {"tgi_inputs",
     422,
     R"w({"error":"Input validation error: `inputs` must have less than 1024 tokens. Given: 3000"})w"},
    {"deepinfra", 400, R"w({"detail":{"error":"input length 40000 exceeds the limit of 32768"}})w"},
    {"cohere",
     400,
     R"w({"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000."})w"},
    {"dashscope",
     400,
     R"w({"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"}})w"},
    {"fireworks",
     400,
     R"w({"error":{"message":"The prompt is too long: 140000, model maximum context length: 131071"}})w"},
    {"volcengine",
     400,
     R"w({"error":{"message":"Total tokens of image and text exceed max message tokens"}})w"},
    {"stepfun", 400, R"w({"error":{"message":"messages exceed max_tokens limit of model"}})w"},
    {"baidu", 400, R"w({"error_msg":"x","message":"prompt tokens too long"})w"},
    {"nim", 400, R"w({"detail":"the maximum input length of this model is 8192"})w"},
    {"gateway_code", 400, R"w({"error":{"code":"model_context_window_exceeded","message":"x"}})w"},
    {"status_413", 413, "<html><h1>413 Request Entity Too Large</h1></html>"},
    {"inside_a_200", 200, R"w({"error":{"code":400,"message":"maximum context length is 8192"}})w"},
};

INSTANTIATE_TEST_SUITE_P(Wordings,
                         EndpointFaultsF34,
                         testing::ValuesIn(kOverflows),
                         [](const auto& one) { return std::string(one.param.id); });

TEST(EndpointFaults, F34LimitsOfRateAreNoOverflow) {
  for (
      const Wording& wording : {
          Wording{"bedrock",
                  429,
                  R"w({"message":"Too many tokens, please wait before trying again."})w"},
          Wording{"bedrock_400",
                  400,
                  R"w({"message":"ThrottlingException: Too many tokens in the prompt per day"})w"},
          Wording{
              "openai_tpm",
              429,
              R"w({"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced."}})w"},
          Wording{
              "openai_tpm_400",
              400,
              R"w({"error":{"message":"Rate limit reached: input length of your requests exceeds 30000 tokens per min"}})w"},
          Wording{
              "requests",
              429,
              R"w({"error":{"message":"Too many requests: maximum context length of the queue"}})w"},
          Wording{"later",
                  503,
                  R"w({"error":{"message":"input too long in queue, try again later"}})w"},
          Wording{
              "wait",
              400,
              R"w({"error":{"message":"prompt too long for the current load, try again in 20s"}})w"},
          Wording{"other", 400, R"w({"error":{"message":"max_tokens is too large: 99999"}})w"},
          Wording{"parameter", 400, R"w({"error":{"message":"Unknown parameter: 'context'"}})w"},
      })
    EXPECT_NE(asked_once(wording), FailureKind::context_overflow) << wording.id;
}

TEST(EndpointFaults, ARequestLargerThanAMinutesTokensFailsAtOnceWithItsText) {
  test::Fixture f(test::always(test::http_response(
      "429 X",
      R"w({"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.","code":"rate_limit_exceeded"}})w")));
  const auto result = f.ask();
  const auto& failure = std::get<EndpointFailure>(result);
  EXPECT_TRUE(failure.configuration);
  EXPECT_FALSE(failure.retry);
  EXPECT_EQ(failure.attempts.size(), 1U);
  EXPECT_THAT(failure.text, testing::HasSubstr("Limit 30000, Requested 40000"));
  EXPECT_THAT(failure.text, testing::HasSubstr("lower max_tokens"));
}

TEST(EndpointFaults, F34OverflowIsNoConfigurationErrorAndSaysWhatToDo) {
  test::Fixture f(test::always(test::http_response("400 X", kOverflows[0].body)));
  const auto result = f.ask();
  const auto& failure = std::get<EndpointFailure>(result);
  EXPECT_FALSE(failure.configuration);
  EXPECT_FALSE(failure.retry);
  EXPECT_THAT(failure.text, testing::HasSubstr("max_turns"));
}

}  // namespace
}  // namespace sweep::endpoint

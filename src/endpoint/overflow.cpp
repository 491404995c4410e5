#include "endpoint/failure.h"

#include <algorithm>
#include <array>

namespace sweep::endpoint {
namespace {

// A wording is met when all its parts are in the text. In lower case.
struct Wording {
  std::array<std::string_view, 2> parts;
};

// Words of a limit on a span of time, which passes: an error with one of them is no overflow,
// whatever else it says.
constexpr std::array<std::string_view, 14> kPassing = {"per minute",
                                                       "per min ",
                                                       "per second",
                                                       "per day",
                                                       "per hour",
                                                       "/min",
                                                       "(tpm)",
                                                       "please wait",
                                                       "rate limit",
                                                       "rate_limit",
                                                       "too many requests",
                                                       "throttl",
                                                       "try again in ",
                                                       "try again later"};

constexpr std::array<Wording, 38> kOverflow = {{
    {{"context_length_exceeded", ""}},          // OpenAI, Azure and most gateways, as a code
    {{"model_context_window_exceeded", ""}},    // GLM, Anthropic
    {{"maximum context length", ""}},           // OpenAI, vLLM, OpenRouter, Mistral, Fireworks
    {{"exceed", "context window"}},             // OpenAI Responses, MiniMax
    {{"context length", "exceed"}},             // Ollama, SGLang
    {{"exceed", "context limit"}},              // Anthropic: "exceed context limit"
    {{"longer than", "context length"}},        // SGLang, Together
    {{"greater than the context length", ""}},  // LM Studio
    {{"larger than", "context length"}},        // LM Studio
    {{"available context size", ""}},           // llama.cpp
    {{"exceeds the context size", ""}},         // llama.cpp, older
    {{"prompt is too long", ""}},               // Anthropic, Fireworks
    {{"prompt too long", ""}},                  // Ollama
    {{"prompt exceeds max length", ""}},        // GLM
    {{"prompt tokens too long", ""}},           // Baidu
    {{"prompt \xe8\xb6\x85\xe9\x95\xbf", ""}},  // GLM: "Prompt chao chang" (over-long)
    {{"\xe8\xbe\x93\xe5\x85\xa5\xe8\xb6\x85\xe9\x95\xbf",
      ""}},                                      // "shuru chao chang" (over-long input)
    {{"input is too long", ""}},                 // Bedrock
    {{"input too long", ""}},                    //
    {{"input length", "exceed"}},                // Ollama, DeepInfra
    {{"range of input length should be", ""}},   // DashScope
    {{"maximum input length", ""}},              // DeepInfra, NIM
    {{"input token count", "exceeds"}},          // Gemini
    {{"maximum number of tokens allowed", ""}},  // Gemini
    {{"prompt token count", "exceeds"}},         // Copilot
    {{"maximum prompt length", ""}},             // xAI
    {{"maximum model length", ""}},              // vLLM: "longer than the maximum model length"
    {{"max_tokens must be at least 1", ""}},     // vLLM: nothing is left for the answer
    {{"exceeded model token limit", ""}},        // Kimi
    {{"exceed max_tokens limit", ""}},           // StepFun
    {{"exceed max message tokens", ""}},         // Volcengine
    {{"reduce the length", "messages"}},         // Groq, Cerebras
    {{"reduce the length", "prompt"}},           // OpenAI completions
    {{"too many tokens", "prompt"}},             // Cohere
    {{"`inputs` must have less than", ""}},      // TGI
    {{"`inputs` tokens", "must be <="}},         // TGI, Together
    {{"too large for model", "context"}},        // Mistral
    {{"token limit exceeded", ""}},              //
}};

}  // namespace

bool is_overflow(std::string_view words) {
  const auto in_text = [&](std::string_view part) {
    return words.find(part) != std::string_view::npos;
  };
  if (std::any_of(kPassing.begin(), kPassing.end(), in_text))
    return false;
  return std::any_of(kOverflow.begin(), kOverflow.end(), [&](const Wording& wording) {
    return std::all_of(wording.parts.begin(), wording.parts.end(), in_text);
  });
}

}  // namespace sweep::endpoint

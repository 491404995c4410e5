#include "../support/raw_server.h"
#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <thread>

// A key must be nowhere but in the process that sends it.
namespace sweep::e2e {
namespace {

namespace fs = std::filesystem;
using sweep::test::http_response;
using sweep::test::RawServer;
using sweep::test::sse_response;
using ::testing::Not;

// Has characters that URLs and JSON write otherwise.
std::string made_key() {
  std::random_device random;
  std::ostringstream out;
  out << "sk-\"e/2+e\\=" << std::hex << random() << random() << random();
  return out.str();
}

std::string url_encoded(const std::string& text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') {
      out += c;
    } else {
      out += '%';
      out += digits[static_cast<unsigned char>(c) >> 4];
      out += digits[static_cast<unsigned char>(c) & 15];
    }
  }
  return out;
}

// With padding, or `whole` groups of three bytes only: what any longer text that begins alike has.
std::string base64(const std::string& text, bool whole = false) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += 3) {
    const std::size_t have = std::min<std::size_t>(3, text.size() - at);
    if (whole && have < 3) {
      break;
    }
    unsigned group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = (group << 8) | (i < have ? static_cast<unsigned char>(text[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += i <= have ? digits[(group >> (18 - 6 * i)) & 63] : '=';
    }
  }
  return out;
}

// How a key may be written: as it is, in JSON, in a URL, in base64 (whole groups).
std::vector<std::string> forms_of(const std::string& key) {
  const std::string json = nlohmann::json(key).dump();
  return {key, json.substr(1, json.size() - 2), url_encoded(key), base64(key, true)};
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

std::string event(const nlohmann::json& delta, const char* finish = nullptr) {
  nlohmann::json choice{{"index", 0}, {"delta", delta}, {"finish_reason", nullptr}};
  if (finish != nullptr) {
    choice["finish_reason"] = finish;
  }
  return "data: " +
         nlohmann::json{{"id", "c"}, {"model", "m"}, {"choices", nlohmann::json::array({choice})}}
             .dump() +
         "\n\n";
}

std::string text_of(const fs::path& file) {
  std::ostringstream out;
  out << std::ifstream(file, std::ios::binary).rdbuf();
  return out.str();
}

// An endpoint that says the key back wherever it can.
RawServer::Handler echo(const std::string& key) {
  return [key](const std::string& request, int) -> RawServer::Answer {
    const std::string headers = "Content-Type: application/json\r\nX-Debug: Bearer " + key +
                                "\r\nX-Url: /?key=" + url_encoded(key) + "\r\n";
    if (request.find("\"refused\"") != std::string::npos) {
      return {http_response("401 Unauthorized",
                            R"({"error":{"message":)" +
                                quoted("Incorrect API key provided: " + key + " (" + base64(key) +
                                       ", " + url_encoded(key) + ")") +
                                "}}",
                            headers)};
    }
    static std::atomic<int> number{0};
    if (number++ == 0) {
      return {http_response("429 Too Many Requests",
                            R"({"error":{"message":)" + quoted("slow down, " + key) + "}}",
                            headers + "Retry-After: 0\r\n")};
    }
    // Split over deltas of text, of reasoning and of a tool call's arguments.
    const std::string a = key.substr(0, 9);
    const std::string b = key.substr(9);
    // A kernel that is compiled and run.
    const std::string kernel = text_of(SWEEP_SOURCE_DIR "/seeds/level1/3_csr_spmm.cu");
    const std::string arguments =
        nlohmann::json{{"kernel_code", "// " + key + "\n" + kernel}}.dump();
    const std::size_t half = arguments.find("e/2") + 1;
    nlohmann::json first{
        {"index", 0},
        {"id", "call_1"},
        {"type", "function"},
        {"function", {{"name", "submit_kernel"}, {"arguments", arguments.substr(0, half)}}}};
    nlohmann::json second{{"index", 0}, {"function", {{"arguments", arguments.substr(half)}}}};
    return {sse_response(event({{"role", "assistant"}, {"reasoning_content", "env says " + a}}) +
                         event({{"reasoning_content", b + " and " + base64(key)}}) +
                         event({{"content", "it is " + a}}) + event({{"content", b}}) +
                         event({{"tool_calls", nlohmann::json::array({first})}}) +
                         event({{"tool_calls", nlohmann::json::array({second})}}) +
                         event(nlohmann::json::object(), "tool_calls") + "data: [DONE]\n\n")};
  };
}

void expect_clean(const std::string& text, const std::string& key, const std::string& where) {
  for (const std::string& form : forms_of(key)) {
    EXPECT_EQ(text.find(form), std::string::npos) << where << " holds the key as " << form;
  }
}

// Looks through /proc as long as it lives: which processes have the key in their environment?
class Watch {
 public:
  explicit Watch(std::string key) : key_(std::move(key)), thread_([this] { look(); }) {}

  std::vector<std::string> stop() {
    done_ = true;
    thread_.join();
    return found_;
  }

  [[nodiscard]] int seen() const { return seen_; }

 private:
  void look() {
    while (!done_) {
      std::error_code error;
      for (const auto& entry : fs::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) {
          continue;
        }
        const std::string command = text_of(entry.path() / "cmdline");
        const std::array roles = {"__run", "__judge", "__compile", "cc1plus"};
        const bool child = std::ranges::any_of(
            roles, [&](const char* role) { return command.find(role) != std::string::npos; });
        if (!child) {
          continue;
        }
        // Most have an empty one; that it can be read is what counts.
        std::ifstream file(entry.path() / "environ");
        const std::string environment{std::istreambuf_iterator<char>(file), {}};
        seen_ += file.is_open() && !file.bad() ? 1 : 0;
        if (environment.find(key_) != std::string::npos) {
          found_.push_back(command);
        }
      }
    }
  }

  std::string key_;
  std::atomic<bool> done_{false};
  std::atomic<int> seen_{0};
  std::vector<std::string> found_;
  std::thread thread_;
};

std::string config(const std::string& url) {
  return R"([run]
name = "r"
problems = ["level1/3"]
device = "cpu"
num_correct_trials = 1
submit_num_correct_trials = 1
[report]
serve = false
[[models]]
name = "echo"
deployment_name = "m"
api_kind = "openai_chat"
base_url = ")" +
         url + R"("
api_key_env = "E2E_KEY"
[[models]]
name = "refused"
deployment_name = "refused"
api_kind = "openai_chat"
base_url = ")" +
         url + R"("
api_key_env = "E2E_KEY"
)";
}

void expect_no_key(const Workspace& here, const Outcome& outcome, const std::string& key) {
  expect_clean(outcome.out, key, "standard output");
  expect_clean(outcome.err, key, "standard error");
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(here.folder())) {
    if (entry.is_regular_file() && entry.path().filename() != ".env") {
      expect_clean(text_of(entry.path()), key, entry.path().string());
      ++files;
    }
  }
  EXPECT_GT(files, 10);
}

TEST(Secrets, AKeyThatTheEndpointEchoesIsInNoFileAndNoChild) {
  const std::string key = made_key();
  RawServer server(echo(key));
  const Workspace here;
  here.write("s.toml", config(server.url("/v1")));
  Watch watch(key);
  const Outcome run = here.sweep({"s.toml"}, {"E2E_KEY=" + key});
  const int seen = watch.seen();
  EXPECT_THAT(watch.stop(), ::testing::IsEmpty());
  EXPECT_GT(seen, 0) << "no child that runs or compiles model code was seen";
  EXPECT_EQ(run.code, 3) << run.out << run.err;  // one model is refused
  // It was sent.
  EXPECT_NE(server.requests().at(0).find("Bearer " + key), std::string::npos);
  // What was echoed was seen and taken out.
  std::string all;
  for (const auto& entry : fs::directory_iterator(here.folder() / "runs/r/artifacts")) {
    all += text_of(entry.path());
  }
  EXPECT_NE(all.find("it is [key]"), std::string::npos);
  EXPECT_NE(all.find("Incorrect API key provided: [key] ([key]"), std::string::npos);
  expect_no_key(here, run, key);
}

TEST(Secrets, AProbeAndADotenvFileTellNoKeyEither) {
  const std::string key = made_key();
  RawServer server(echo(key));
  const Workspace here;
  here.write("s.toml", config(server.url("/v1")));
  here.write(".env", "E2E_KEY='" + key + "'\n");
  Watch watch(key);
  const Outcome run = here.sweep({"s.toml", "--only", "**echo**"});
  EXPECT_THAT(watch.stop(), ::testing::IsEmpty());
  expect_no_key(here, run, key);
  for (const char* form : {"--quiet", "--json"}) {
    const Outcome probe = here.sweep({"probe", "s.toml", form});
    EXPECT_EQ(probe.code, 3);
    expect_clean(probe.out, key, "the probe's output");
    expect_clean(probe.err, key, "the probe's errors");
  }
}

}  // namespace
}  // namespace sweep::e2e

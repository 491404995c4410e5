#include "peer.h"
#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

// Servers that others wrote: what our own fault server believes of the protocol, they need not.
namespace sweep::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> kKey = {"PEER_KEY=sk-peer-0123456789abcdef"};

// A port that was free a moment ago, for a server that must be told one.
int free_port() {
  const util::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(socket.get(), raw, size), 0);
  EXPECT_EQ(::getsockname(socket.get(), raw, &size), 0);
  return ntohs(address.sin_port);
}

std::string model(const std::string& name,
                  const std::string& deployment,
                  const std::string& api,
                  const std::string& url,
                  const std::string& more = {}) {
  return "[[models]]\nname = \"" + name + "\"\ndeployment_name = \"" + deployment +
         "\"\napi_kind = \"" + api + "\"\nbase_url = \"" + url +
         "\"\napi_key_env = \"PEER_KEY\"\n" + more;
}

std::string head(int turns) {
  return R"([run]
name = "r"
problems = ["level1/3"]
device = "cpu"
num_correct_trials = 1
submit_num_correct_trials = 1
[agent]
max_turns = )" +
         std::to_string(turns) + R"(
[report]
serve = false
)";
}

// Everything about a sweep of models whose kernels are worthless.
void sweeps(const Workspace& here, const std::vector<std::string>& items) {
  const Outcome run = here.sweep({"s.toml"}, kKey);
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, Not(HasSubstr("infra_error")));
  EXPECT_EQ(here.sweep({"verify", "r"}).code, 0);
  // What others answer can be played again without them.
  const Outcome again = here.sweep({"replay", "r", "--no-judge"});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  for (const std::string& item : items) {
    EXPECT_THAT(again.out, HasSubstr("same    custom/" + item + "/level1/3"));
  }
}

TEST(Peers, AimockInBothFormats) {
  if (const std::string why = no_peers(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const int port = free_port();
  const Peer peer({"node_modules/@copilotkit/aimock/dist/cli.js",
                   "-p",
                   std::to_string(port),
                   "-f",
                   SWEEP_SOURCE_DIR "/tests/peers/aimock.json"},
                  std::to_string(port));
  ASSERT_TRUE(peer.up()) << peer.text();
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/v1";
  const Workspace here;
  here.write("s.toml",
             head(4) + model("chat", "gpt-4o", "openai_chat", url) +
                 model("whole", "gpt-4o", "openai_chat", url, "stream = false\n") +
                 model("responses", "gpt-4o", "openai", url));
  const Outcome probe = here.sweep({"probe", "s.toml", "--json"}, kKey);
  EXPECT_EQ(probe.code, 0) << probe.out << probe.err;
  const nlohmann::json rows = nlohmann::json::parse(probe.out).at("models");
  ASSERT_EQ(rows.size(), 3U);
  for (const nlohmann::json& row : rows) {
    EXPECT_TRUE(row.at("ok").get<bool>()) << row.dump(1);
    for (const nlohmann::json& check : row.at("checks")) {
      if (check.at("check") == "answer" || check.at("check") == "stream") {
        EXPECT_EQ(check.at("state"), "ok") << check.dump();
      }
      // A mock has no words but its own.
      if (check.at("check") == "tools") {
        EXPECT_EQ(check.at("state"), "warn") << check.dump();
        EXPECT_THAT(check.at("text").get<std::string>(), HasSubstr("called with \"orange\""));
      }
    }
  }
  sweeps(here, {"chat", "whole", "responses"});
}

TEST(Peers, ARealEngineOverNoise) {
  if (const std::string why = no_peers(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const Workspace here;
  const std::string gguf = (here.folder() / "tiny.gguf").string();
  const std::string peers = SWEEP_PEERS;
  ASSERT_EQ(
      here.command({util::find_program("node")->string(), peers + "/tiny_model.mjs", gguf}).code,
      0);
  const Peer peer({"tiny_llm.mjs", gguf}, "\n");
  ASSERT_TRUE(peer.up()) << peer.text();
  const int port = std::atoi(peer.text().c_str());
  ASSERT_GT(port, 0) << peer.text();
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/v1";
  here.write("s.toml",
             head(2) + model("tiny", "tiny", "openai_chat", url) +
                 model("whole", "tiny", "openai_chat", url, "stream = false\n"));
  const Outcome probe = here.sweep({"probe", "s.toml", "--json"}, kKey);
  EXPECT_EQ(probe.code, 0) << probe.out << probe.err;
  EXPECT_THAT(probe.out, HasSubstr("declared: context 512 tokens"));
  sweeps(here, {"tiny", "whole"});
}

}  // namespace
}  // namespace sweep::e2e

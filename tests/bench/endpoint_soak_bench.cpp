// Conversations of several turns with tool calls, most of them disturbed, for the length of a long
// sweep: none may lose a turn, and memory and open files may not grow. Exit 1 when one does.
// usage: bench_endpoint_soak [CONVERSATIONS]
#include "../support/peer_process.h"
#include "endpoint/client.h"
#include "util/clock.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace sweep;
using test::http_chunk;
using test::PeerProcess;
using test::RawServer;

constexpr int kWorkers = 16;
constexpr int kPerClient = 40;     // conversations before a worker makes a new client
constexpr double kMostGrowth = 8;  // MiB, from a fifth of the way to the end
const std::string kPadding(2000, 'p');

int turns_of(int conversation) {
  return 2 + conversation % 4;
}

std::string number_in(const std::string& body, const std::string& before) {
  const auto at = body.find(before);
  return at == std::string::npos ? "" : body.substr(at + before.size(), 6);
}

int count(const std::string& body, const std::string& what) {
  int out = 0;
  for (auto at = body.find(what); at != std::string::npos; at = body.find(what, at + what.size()))
    ++out;
  return out;
}

std::string six(int number) {
  std::string digits = std::to_string(number);
  return std::string(6 - std::min<std::size_t>(digits.size(), 6), '0') + digits;
}

// The answer due in a conversation, as bytes of an HTTP response.
struct Due {
  bool stream = false, responses = false;
  std::string bytes;
};

std::string chunked(const std::vector<std::string>& events) {
  std::string out = sweep::test::kChunkedHead;
  for (const std::string& event : events)
    out += http_chunk("data: " + event + "\n\n");
  return out + "0\r\n\r\n";
}

std::string document(const std::string& json) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(json.size()) + "\r\n\r\n" + json;
}

std::string call_json(const std::string& id, const std::string& arguments, bool responses) {
  return responses ? R"({"type":"function_call","call_id":")" + id +
                         R"(","name":"step","arguments":")" + arguments + "\"}"
                   : R"({"index":0,"id":")" + id +
                         R"(","type":"function","function":{"name":"step","arguments":")" +
                         arguments + "\"}}";
}

Due due(const std::string& body) {
  Due out;
  out.stream = body.find("\"stream\":true") != std::string::npos;
  out.responses = body.find("\"input\":") != std::string::npos;
  const std::string id = number_in(body, "conversation ");
  const int turn = count(body, out.responses ? "\"function_call_output\"" : "\"role\":\"tool\"");
  const bool last = turn >= turns_of(std::atoi(id.c_str()));
  const std::string arguments = "{\\\"turn\\\":" + std::to_string(turn) + "}";
  const std::string call =
      call_json("c" + id + "_" + std::to_string(turn), arguments, out.responses);
  const std::string text = "done " + id;
  if (out.responses) {
    const std::string item =
        last ? R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":")" +
                   text + "\"}]}"
             : call;
    out.bytes = chunked(
        {R"({"type":"response.created","response":{}})",
         R"({"type":"response.output_text.delta","delta":"x"})",
         R"({"type":"response.completed","response":{"status":"completed","model":"m","output":[)" +
             item + R"(],"usage":{"input_tokens":9,"output_tokens":3}}})"});
  } else if (out.stream) {
    const std::string head = R"({"model":"m","choices":[{"index":0,"delta":)";
    out.bytes = chunked(
        {head + R"({"reasoning_content":")" + kPadding + "\"}}]}",
         head + (last ? R"({"content":")" + text + "\"}" : R"({"tool_calls":[)" + call + "]}") +
             R"(,"finish_reason":"stop"}]})",
         "[DONE]"});
  } else {
    out.bytes = document(
        R"({"model":"m","choices":[{"finish_reason":"stop","message":{"role":"assistant",)" +
        (last ? R"("content":")" + text + "\"" : R"("content":null,"tool_calls":[)" + call + "]") +
        R"(}}],"usage":{"prompt_tokens":9,"completion_tokens":3}})");
  }
  return out;
}

// What goes wrong in place of `due`; kinds 9 and above: nothing.
RawServer::Answer disturbed(int kind, const Due& due) {
  RawServer::Answer answer;
  const std::string part = due.bytes.substr(0, due.bytes.size() * 2 / 3);
  const auto refuse = [](const std::string& status, const std::string& headers = "") {
    return sweep::test::http_response(status, R"({"error":{"message":"scripted"}})", headers);
  };
  switch (kind) {
    case 0:
      answer.bytes = refuse("503 Service Unavailable");
      break;
    case 1:
      answer.bytes = refuse("429 Too Many Requests", "Retry-After: 2\r\n");
      break;
    case 2:
      answer.bytes = part;  // the announced end never comes
      break;
    case 3:
      answer.bytes = part;
      answer.reset = true;
      break;
    case 4:
      break;  // closed without a byte
    case 5:
      answer.bytes = sweep::test::http_response("502 Bad Gateway", "<html>no</html>");
      break;
    case 6:
      answer.bytes = document(R"({"error":{"code":"server_error","message":"died"}})");
      answer.keep = true;
      break;
    case 7:
      answer.bytes = sweep::test::sse_response("data: {\"model\":\"m\",\"choi");
      break;
    case 8:
      answer.bytes = document(R"({"choices":[]})");
      answer.keep = true;
      break;
    default:
      answer.bytes = due.bytes;
      answer.keep = true;
      answer.byte_by_byte = kind == 9;
  }
  return answer;
}

// Every turn of a conversation is disturbed at most once, each in its own way.
class Disturber {
 public:
  RawServer::Answer operator()(const std::string& request) {
    const std::string body = RawServer::body_of(request);
    const Due answer = due(body);
    const std::size_t hash = std::hash<std::string>()(body);
    int kind = static_cast<int>(hash % 16);
    if (kind < 9) {
      const std::lock_guard lock(mutex_);
      if (!seen_.insert(hash).second)
        kind = 15;
    }
    return disturbed(kind, answer);
  }

 private:
  std::mutex mutex_;
  std::set<std::size_t> seen_;
};

// Waits take no time.
class HurriedClock final : public util::Clock {
 public:
  double monotonic() override { return real_.monotonic(); }

  double wall() override { return real_.wall(); }

  void sleep(double) override { std::this_thread::yield(); }

 private:
  util::RealClock real_;
};

struct Counts {
  std::atomic<int> next{0}, lost{0};
  std::atomic<long> turns{0}, tries{0};
};

const std::vector<endpoint::ToolDefinition> kTools = {
    {"step", "One step.", R"({"type":"object","properties":{"turn":{"type":"integer"}}})"}};

// False where a turn is lost: no answer, or not the one that was due.
bool converse(endpoint::Endpoint& end, int number, Counts& counts) {
  endpoint::Conversation conversation = {
      {endpoint::Speaker::system, "s"},
      {endpoint::Speaker::user, "conversation " + six(number) + " " + kPadding}};
  for (int turn = 0; turn <= turns_of(number); ++turn) {
    endpoint::Exchange exchange;
    const auto result = end.complete(conversation, kTools, {}, {}, &exchange);
    const auto* answer = std::get_if<endpoint::Completion>(&result);
    if (answer == nullptr) {
      std::printf("LOST %s turn %d: %s\n",
                  six(number).c_str(),
                  turn,
                  std::get<endpoint::EndpointFailure>(result).text.c_str());
      return false;
    }
    ++counts.turns;
    counts.tries += static_cast<long>(answer->attempts.size());
    const auto& message = answer->message;
    const bool last = turn == turns_of(number);
    const std::string id = "c" + six(number) + "_" + std::to_string(turn);
    const bool right =
        last ? message.text == "done " + six(number)
             : message.calls.size() == 1 && message.calls[0].id == id &&
                   message.calls[0].arguments == "{\"turn\":" + std::to_string(turn) + "}";
    if (!right) {
      std::printf("WRONG %s turn %d\n", six(number).c_str(), turn);
      return false;
    }
    conversation.push_back(message);
    if (!last)
      conversation.push_back({endpoint::Speaker::tool, kPadding, "", {}, id, "step", ""});
  }
  return true;
}

void work(const std::string& url, int conversations, Counts& counts) {
  HurriedClock clock;
  for (;;) {
    const int first = counts.next.fetch_add(kPerClient);
    if (first >= conversations)
      return;
    endpoint::Target target;
    target.base_url = url + "/v1";
    target.model = "m";
    target.key = endpoint::Secret("sk-0123456789abcdef");
    target.api = first / kPerClient % 3 == 2 ? endpoint::Api::responses : endpoint::Api::chat;
    target.stream = first / kPerClient % 3 != 1;
    endpoint::Services services;
    services.clock = &clock;
    const auto end = endpoint::connect(std::move(target), {}, std::move(services));
    for (int i = first; i < std::min(first + kPerClient, conversations); ++i)
      counts.lost += converse(*end, i, counts) ? 0 : 1;
  }
}

int open_files() {
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++files;
  return files;
}

int run(int conversations) {
  const auto disturber = std::make_shared<Disturber>();
  const PeerProcess peer(
      [disturber](const std::string& request, int) { return (*disturber)(request); });
  Counts counts;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> workers;
  for (int i = 0; i < kWorkers; ++i)
    workers.emplace_back([&] { work(peer.url(), conversations, counts); });
  double early = 0;
  int early_files = 0;
  for (double told = 0.2; told < 1.0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const double share = static_cast<double>(counts.next) / conversations;
    if (share < told)
      continue;
    if (early_files == 0) {
      early = test::resident_mib();
      early_files = open_files();
    }
    std::printf("%3.0f%%: %.1f MiB resident, %d files open\n",
                std::min(share, 1.0) * 100,
                test::resident_mib(),
                open_files());
    std::fflush(stdout);
    told = share + 0.2;
  }
  const double late = test::resident_mib();
  for (std::thread& worker : workers)
    worker.join();
  const int files = open_files();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf(
      "soak: %d conversations, %ld turns, %ld tries in %.0f s; %d lost; %+.1f MiB from 20%% "
      "on (goal %.0f); %d files open at the end\n",
      conversations,
      counts.turns.load(),
      counts.tries.load(),
      seconds,
      counts.lost.load(),
      late - early,
      kMostGrowth,
      files);
  return counts.lost > 0 || late - early > kMostGrowth || files > 8 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 10'000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_endpoint_soak: %s\n", error.what());
    return 3;
  }
}

// What the endpoint client costs beside the network, against a server of its own in a child
// process: memory and CPU time of 200 streams at once, time beside curl alone for whole answers,
// and time to send a long history. usage: bench_endpoint
#include "../support/peer_process.h"
#include "endpoint/client.h"
#include "stats/stats.h"
#include "util/clock.h"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace sweep;
using test::PeerProcess;
using test::RawServer;
using Steady = std::chrono::steady_clock;

constexpr int kStreams = 200;
constexpr int kEvents = 100;
constexpr int kPaceMs = 50;
constexpr int kWhole = 2000;

const std::string kDocument =
    R"({"id":"c","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hello"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}})";

std::string event(const std::string& delta, const std::string& finish = "null") {
  return sweep::test::http_chunk(
      R"(data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":)" +
      delta + ",\"finish_reason\":" + finish + "}]}\n\n");
}

// Streams to those who ask for one, a document to the others.
RawServer::Answer answer_to(const std::string& request, int) {
  RawServer::Answer answer;
  answer.keep = true;
  if (request.find("\"stream\":true") == std::string::npos) {
    answer.bytes = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                   std::to_string(kDocument.size()) + "\r\n\r\n" + kDocument;
    return answer;
  }
  answer.bytes = sweep::test::kChunkedHead;
  answer.rest.assign(kEvents, event(R"({"content":"int i = blockIdx.x; "})"));
  answer.rest.push_back(event("{}", "\"stop\"") + sweep::test::http_chunk("data: [DONE]\n\n") +
                        "0\r\n\r\n");
  answer.pause_ms = kPaceMs;
  return answer;
}

double seconds_since(Steady::time_point begin) {
  return std::chrono::duration<double>(Steady::now() - begin).count();
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void print(const char* what, double figure, const char* goal) {
  std::printf("%-58s %9.3f  %s\n", what, figure, goal);
  std::fflush(stdout);
}

std::unique_ptr<endpoint::Endpoint> client(const PeerProcess& peer,
                                           bool stream,
                                           util::Clock& clock) {
  endpoint::Target target;
  target.base_url = peer.url() + "/v1";
  target.model = "m";
  target.key = endpoint::Secret("sk-0123456789abcdef");
  target.stream = stream;
  endpoint::Services services;
  services.clock = &clock;
  return endpoint::connect(std::move(target), {}, std::move(services));
}

// False: an answer was lost.
bool streams(const PeerProcess& peer) {
  util::RealClock clock;
  std::atomic<int> good{0};
  std::atomic<long> batches{0};
  std::atomic<bool> done{false};
  double most = 0;
  const double before = cpu_seconds();
  std::vector<std::thread> threads;
  for (int i = 0; i < kStreams; ++i)
    threads.emplace_back([&] {
      const auto one = client(peer, true, clock);
      const auto result =
          one->complete({{endpoint::Speaker::user, "go"}}, {}, {}, [&](const auto&) { ++batches; });
      const auto* answer = std::get_if<endpoint::Completion>(&result);
      good += answer != nullptr && answer->message.text.size() == kEvents * 20 ? 1 : 0;
    });
  std::thread watch([&] {
    while (!done) {
      most = std::max(most, test::resident_mib());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  for (std::thread& thread : threads)
    thread.join();
  done = true;
  watch.join();
  const double cpu = cpu_seconds() - before;
  if (good != kStreams)
    std::printf("LOST: %d of %d streams\n", kStreams - good.load(), kStreams);
  print("200 streams at once, resident memory, MiB", most, "200");
  print("200 streams at once, client CPU per event batch, ms",
        1e3 * cpu / static_cast<double>(std::max(batches.load(), 1L)),
        "1");
  return good == kStreams;
}

std::size_t drop(char*, std::size_t size, std::size_t count, void*) {
  return size * count;
}

// Seconds of one request with nothing around libcurl.
double plain_curl(CURL* curl, const std::string& body) {
  const auto begin = Steady::now();
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
  if (curl_easy_perform(curl) != CURLE_OK)
    throw std::runtime_error("curl alone failed");
  return seconds_since(begin);
}

void whole_answers(const PeerProcess& peer) {
  util::RealClock clock;
  const auto one = client(peer, false, clock);
  const endpoint::Conversation conversation = {{endpoint::Speaker::system, std::string(4000, 's')},
                                               {endpoint::Speaker::user, std::string(8000, 'u')}};
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(), &curl_easy_cleanup);
  const std::string url = peer.url() + "/v1/chat/completions";
  curl_slist* headers = curl_slist_append(nullptr, "Expect:");
  headers = curl_slist_append(headers, "Content-Type: application/json");
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &drop);
  endpoint::Exchange exchange;
  std::vector<double> ours, theirs;
  std::string body;
  for (int i = 0; i < kWhole; ++i) {
    const auto begin = Steady::now();
    if (one->complete(conversation, {}, {}, {}, &exchange).index() != 0)
      throw std::runtime_error("a whole answer failed");
    ours.push_back(seconds_since(begin));
    body = exchange.request;
    theirs.push_back(plain_curl(curl.get(), body));
  }
  curl_slist_free_all(headers);
  print("whole answer, median, ms", 1e3 * stats::median(ours), "");
  print("the same by curl alone, median, ms", 1e3 * stats::median(theirs), "");
  print("whole answer beside curl alone, ms",
        1e3 * (stats::median(ours) - stats::median(theirs)),
        "2");
}

void long_history(const PeerProcess& peer) {
  util::RealClock clock;
  const auto one = client(peer, false, clock);
  endpoint::Conversation conversation;
  for (int i = 0; i < 160; ++i)
    conversation.push_back({endpoint::Speaker::user, std::string(std::size_t{64} << 10, 'x')});
  std::vector<double> all;
  for (int i = 0; i < 5; ++i) {
    endpoint::Exchange exchange;
    const auto begin = Steady::now();
    if (one->complete(conversation, {}, {}, {}, &exchange).index() != 0)
      throw std::runtime_error("a long history failed");
    all.push_back(seconds_since(begin));
  }
  print("history of 10 MiB, median, s", stats::median(all), "1 (no wait for 100-continue)");
}

}  // namespace

int main() {
  try {
    const PeerProcess peer(answer_to);
    std::printf("%-58s %9s  %s\n", "endpoint client", "measured", "target");
    const bool whole = streams(peer);
    whole_answers(peer);
    long_history(peer);
    return whole ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_endpoint: %s\n", error.what());
    return 3;
  }
}

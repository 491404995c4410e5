#pragma once

#include "endpoint/client.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::endpoint {

// What makes two requests the same one: path and JSON body without members that decide nothing
// (metadata, user, prompt_cache_key, stream_options), keys sorted. A body that is no JSON stands
// for itself.
[[nodiscard]] std::string replay_key(std::string_view path, std::string_view body);

// Where two request bodies differ first, for a person: "messages[3].content at character 12:
// recorded \"abc\", now \"abd\"". Empty: they are the same bytes.
[[nodiscard]] std::string first_difference(std::string_view recorded, std::string_view now);

// An HTTP server on a loopback port that answers with the recorded tries of one conversation at a
// time, faults included. A request is looked up by its replay_key and the number of equal requests
// before it; one that was not recorded gets status 400 with the code "replay_miss". Whatever comes
// is bounded: 64 KiB of headers, 64 MiB of body.
class ReplayServer {
 public:
  // `played` is told the seconds that each answered try once took; called on the server's thread.
  // InfraError E_BUILTIN_START when no port opens.
  explicit ReplayServer(std::function<void(double seconds)> played = {});
  ReplayServer(const ReplayServer&) = delete;
  ReplayServer& operator=(const ReplayServer&) = delete;
  ~ReplayServer();

  // "http://127.0.0.1:PORT", for Target::instead.
  [[nodiscard]] std::string origin() const;

  // The conversation that is played from now on.
  void begin(const std::vector<Exchange>& conversation);

  struct Result {
    std::size_t played = 0;                // tries that were answered
    std::size_t recorded = 0;              // tries in all
    std::vector<std::string> differences;  // "turn 3 (try 1): ...", misses included
  };

  // Since begin(); tries that nobody asked for are differences as well.
  [[nodiscard]] Result end();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sweep::endpoint

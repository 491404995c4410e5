#pragma once

#include "endpoint/failure.h"
#include "endpoint/protocol.h"
#include "http/client.h"
#include "record/item_services.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::endpoint {

// One try's end.
struct Outcome {
  std::optional<Completion> completion;
  FailureKind kind = FailureKind::protocol;
  int status = 0;
  WireError error;
  std::optional<double> asked;       // Retry-After
  std::optional<bool> should_retry;  // x-should-retry
  bool cut = false;                  // an answer had begun and broke off
  std::optional<std::size_t> lost;   // bytes of output that came of an answer that does not count
  std::string partial;               // model output of an answer that did not count
  bool paused = false;               // the limits hold this request until the endpoint is mended
  bool bad_encoding = false;         // the body was not as its Content-Encoding says
  int os_error = 0;                  // errno of a connection that could not be made; 0: none
};

// What a response means. `stream`: a stream was asked for; `asked`: what the request held;
// `wall_now` in seconds since 1970.
[[nodiscard]] Outcome judge(const Protocol& protocol,
                            const http::Response& response,
                            bool stream,
                            const Asked& asked,
                            double wall_now);

// The same for those who keep the limits. `place`: host and port, for people.
[[nodiscard]] record::TryEnd end_of(const Outcome& outcome,
                                    bool first_try,
                                    const std::string& place);

// Model output (text, reasoning, arguments, in the order in which they came) in the body of an
// answer that did not count.
[[nodiscard]] std::string partial_output(std::string_view body);

}  // namespace sweep::endpoint

#pragma once

#include "record/trajectory.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::record {

// A finished request or tool call of an item, as its ledger row tells it; the texts are artifacts.
struct Finished {
  std::int64_t index = 0;    // requests and tool calls are counted apart, each from 0
  std::string key_sha256;    // what was asked: hash of the request body without secrets, or of tool
                             // name and arguments
  std::string input_sha256;  // artifact: prompt, or tool arguments
  std::string output_sha256;  // artifact: response, or result; empty: failed without one
  nlohmann::json facts = nlohmann::json::object();  // status, usage, cost, latency, error, success:
                                                    // enough to go on without asking again
};

// A judgement that this run has already.
struct Judged {
  std::string output_sha256;  // artifact: the tool's result
  std::string item;           // whose
};

struct Progress {
  std::int64_t turn = 0;
  std::string state;        // "waiting", "model", "compile_kernel", "submit_kernel", "rate limited"
  std::string event;        // one line worth showing, or empty
  std::int64_t tokens = 0;  // spent by the item so far
  std::optional<double> cost_usd;  // likewise
  double next_try = -1;  // seconds until `state` ends and a request is tried; < 0: no wait
};

// The end of what the model has said so far in a turn, while its answer still comes.
struct Stream {
  std::int64_t turn = 0;  // turn_id
  std::string reasoning;  // at most 64 KiB each
  std::string text;
  std::int64_t reasoning_bytes = 0;  // in all
  std::int64_t text_bytes = 0;
};

// What one request will use, as far as it can be told before.
struct Need {
  std::int64_t prompt_tokens = 0;
  std::optional<std::int64_t> max_output_tokens{};  // unset: the endpoint's own limit
};

// What a request may use of a run's budget.
struct Spend {
  std::int64_t tokens = 0;
  std::int64_t nano_usd = 0;
};

// How one try ended, for those who keep the limits.
struct TryEnd {
  enum class Result {
    answered,
    throttled,  // 429
    transient,  // the endpoint, or the way to it, failed
    refused,    // the key, the account or the address is wrong: no other request does better
    other,      // the request was wrong, or nobody wants it any more
  };
  Result result = Result::other;
  bool began = false;               // something of an answer came
  std::int64_t tokens = -1;         // prompt and answer; -1: unknown
  std::int64_t output_tokens = -1;  // of the answer
  double retry_after = 0;           // seconds the endpoint asks for
  bool first_try = true;            // of this request
  bool reached = true;              // false: nothing of an answer came, not even a status
  std::string text{};               // what happened, for people; empty: it was answered
};

// What the runner of one item may ask of the queue; the queue's worker implements it over its
// channel to the supervisor, tests implement it in memory. All calls block; InfraError when the
// supervisor is gone or the disk fails.
class ItemServices {
 public:
  virtual ~ItemServices() = default;

  // Stores bytes in the run's artifacts and returns their hash.
  [[nodiscard]] virtual std::string put_artifact(std::string_view bytes) = 0;
  [[nodiscard]] virtual std::string get_artifact(const std::string& sha256) = 0;

  // Finished work of an interrupted item, in order. Replay: before asking for request `index`, take
  // it if present and its key equals; if the key differs, stop replaying (the rest is abandoned)
  // and ask anew.
  [[nodiscard]] virtual std::optional<Finished> finished_request(std::int64_t index) = 0;
  [[nodiscard]] virtual std::optional<Finished> finished_tool(std::int64_t index) = 0;

  // Appends the terminal row; returns its hash once it is fsynced.
  virtual std::string record_request(const Finished& request) = 0;
  virtual std::string record_tool(const Finished& tool) = 0;

  // What the run already has under one of these keys: rows of tool calls with one of them in their
  // facts' `keys`. Waits while another item's call is at work on it. None: nobody has it, and it is
  // for this item to judge and record; or the sweep stops.
  [[nodiscard]] virtual std::optional<Judged> judged(const std::vector<std::string>& /*keys*/) {
    return std::nullopt;
  }

  // Atomically rewrites the item's trajectory file (and kernel file).
  virtual void save(const Trajectory& trajectory) = 0;

  // The right to send one request; given back by its destructor.
  class Permit {
   public:
    virtual ~Permit() = default;

    // Told once, how the try ended. True: the endpoint is paused for everybody; ask for another
    // permit, which comes when it may be tried again, and send the same request.
    virtual bool settle(const TryEnd& /*end*/) { return false; }
  };

  // Waits until the model's limits allow a request. Ask for every try, and hold none during
  // back-off. Null: the wait was given up; leave the item in_progress and return.
  [[nodiscard]] virtual std::unique_ptr<Permit> permit(const Need& need) = 0;

  // Told while the item waits for what others use (a device, a compiler), and with an empty text
  // when it goes on.
  virtual void held(const std::string& /*why*/) {}

  // Seconds that the item has waited for permits, others' money and what held() told of; no part of
  // its time.
  [[nodiscard]] virtual double waited() { return 0; }

  virtual void progress(const Progress& progress) = 0;

  // For people who watch; nothing rests on it. At most about once a second.
  virtual void streaming(const Stream& /*so_far*/) {}

  // Asked before each request, with what it may use at most; held for it until its row is recorded.
  // Waits while others' requests may use what is left. False once it would exceed the run's budget:
  // ask nothing more, leave the item in_progress and return; it goes on when the budget is raised.
  [[nodiscard]] virtual bool within_budget(const Spend& most) = 0;

  // True once the sweep stops: finish writes, leave the item in_progress and return.
  [[nodiscard]] virtual bool stopping() = 0;
};

}  // namespace sweep::record

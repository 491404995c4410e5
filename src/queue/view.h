#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sweep::queue {

// What the live view shows; plain values, kept by the supervisor.
struct ModelRow {
  std::string name;
  std::size_t items = 0, done = 0, correct = 0;
  std::vector<double> speedups;  // of correct, timed kernels
  std::int64_t tokens = 0;
  double cost = 0;
  bool price_known = true;
  std::string state;               // "ok", "unreachable"
  std::optional<double> next_try;  // of a state that lasts: when a request is tried, as `seconds`
};

struct LaneRow {
  std::string item;                // "level1/3 gpt-5.5"
  std::string state;               // "turn 2 submit_kernel"
  std::optional<double> next_try;  // as of a model
  std::string id{};                // config::WorkItem::id(); empty: no item
};

struct ViewState {
  std::string run;
  std::string url;  // of the live report; empty: none
  double seconds = 0;
  std::vector<ModelRow> models;
  std::vector<LaneRow> lanes;
  std::map<std::string, std::size_t> outcomes;
  std::vector<std::string> events;  // newest last
  double wasted = 0;                // dollars for answers that were lost, estimated
  std::optional<double> budget;
  bool stopping = false;

  [[nodiscard]] std::size_t items() const;
  [[nodiscard]] std::size_t done() const;
};

// "about 4 min left", as a range once five items are done; empty before.
[[nodiscard]] std::string time_left(const ViewState& state);

// One screen, `width` columns at most; lines without colour.
[[nodiscard]] std::vector<std::string> screen(const ViewState& state, std::size_t width);

// Terminal rows that lines of these columns take on a terminal that is `width` columns wide now:
// one that was made narrower wraps what was drawn before.
[[nodiscard]] std::size_t rows_taken(const std::vector<std::size_t>& columns, std::size_t width);

// At most `height` lines, the first and the last of them; what is left out is said in one.
[[nodiscard]] std::vector<std::string> fitted(std::vector<std::string> lines, std::size_t height);

// One line for pipes and logs: "12/40 done, 7 correct, ...".
[[nodiscard]] std::string plain_line(const ViewState& state);

// Draws on standard error: in place on a terminal, else a line at each event and every 30 s. Quiet:
// nothing.
class View {
 public:
  explicit View(bool quiet);
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View();

  // Shows an event line at once.
  void event(const std::string& line);
  // Redraws when due.
  void update(const ViewState& state);
  // Removes the live screen.
  void finish();

 private:
  void erase();

  bool quiet_;
  bool terminal_;
  std::vector<std::size_t> drawn_;  // columns of the lines on the screen that are ours
  double last_ = -1e9;
};

}  // namespace sweep::queue

#include "campaign.h"

#include "util/clock.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace sweep::torture {

namespace fs = std::filesystem;

namespace {

// No session takes as long; one that does hangs. Under a load of 17 on two cores 300 s were cut
// off.
constexpr double kSessionSeconds = 1800;
constexpr double kDyingSeconds = 30;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

constexpr std::string_view kFixer = R"(model = "fixer"
[[conversation]]
problem = "*"
[[conversation.turn]]
pace_ms = 40
calls = [{ tool = "compile_kernel", kernel = "broken.cu" }]
[[conversation.turn]]
delay_ms = 300
calls = [{ tool = "run_correctness", kernel = "good.cu" }]
[[conversation.turn]]
delay_ms = 300
calls = [{ tool = "submit_kernel", kernel = "good.cu" }]
)";

constexpr std::string_view kWrong = R"(model = "wrong"
[[conversation]]
problem = "*"
[[conversation.turn]]
delay_ms = 400
calls = [{ tool = "submit_kernel", kernel = "wrong.cu" }]
)";

// Hands in the same text as `fixer`, through faults.
constexpr std::string_view kFlaky = R"(model = "flaky"
[[conversation]]
problem = "*"
[[conversation.turn]]
faults = [{ status = 429, retry_after = "0" }, { cut = 0.5 }]
calls = [{ tool = "compile_kernel", kernel = "good.cu" }]
[[conversation.turn]]
calls = [{ tool = "submit_kernel", kernel = "good.cu" }]
)";

std::string config(const std::string& url) {
  std::string toml = R"([run]
name = "r"
problems = ["test/affine"]
device = "cpu"
num_correct_trials = 1
submit_num_correct_trials = 1
[parallelism]
agents_per_gpu = 3
[report]
serve = false
)";
  for (const char* model : {"fixer", "wrong", "flaky"}) {
    toml += fmt::format(
        "[[models]]\nname = \"{}\"\napi_kind = \"openai_chat\"\nbase_url = \"{}\"\n", model, url);
  }
  return toml;
}

constexpr std::string_view kTable =
    "fixer correct\n"
    "flaky correct\n"
    "wrong incorrect\n";

// Requests of the undisturbed run: three, one and two, and two that its faults spoil.
constexpr std::size_t kRequests = 8;

std::string text(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool ended_for_good(const std::string& outcome) {
  return outcome != "infra_error" && outcome != "in_progress" && !outcome.empty();
}

}  // namespace

void Asked::note(const std::string& body) {
  const std::lock_guard lock(mutex_);
  hashes_.push_back(util::sha256_hex(body));
}

std::size_t Asked::size() const {
  const std::lock_guard lock(mutex_);
  return hashes_.size();
}

std::vector<std::string> Asked::from(std::size_t first) const {
  const std::lock_guard lock(mutex_);
  return {hashes_.begin() + static_cast<std::ptrdiff_t>(std::min(first, hashes_.size())),
          hashes_.end()};
}

Campaign::Campaign(unsigned number) {
  const fs::path problem = fs::path(SWEEP_SOURCE_DIR) / "tests/data/problems/test/affine";
  const std::string good =
      text_of(problem / "seed.cu") + fmt::format("// campaign {} of {}\n", number, ::getpid());
  std::string wrong = good;
  wrong.replace(wrong.find("sum += y[i]"), 11, "sum -= y[i]");
  std::string broken = good;
  broken.replace(broken.find("float sum"), 9, "float tum");
  place_.write("scripts/good.cu", good);
  place_.write("scripts/wrong.cu", wrong);
  place_.write("scripts/broken.cu", broken);
  place_.write("scripts/fixer.toml", std::string(kFixer));
  place_.write("scripts/wrong.toml", std::string(kWrong));
  place_.write("scripts/flaky.toml", std::string(kFlaky));
  server_ = std::make_unique<endpoint::ScriptServer>(
      place_.folder() / "scripts", [this](const std::string& body) { asked_.note(body); });
  place_.write("s.toml", config(server_->base_url()));
}

Campaign::~Campaign() {
  if (sweep_) {
    kill_all();
  }
  server_.reset();
  if (::testing::Test::HasFailure()) {
    const fs::path kept = place_.folder().string() + "-failed";
    std::error_code error;
    fs::rename(place_.folder(), kept, error);
    std::printf("%s %s\n", error ? "not kept:" : "kept:", kept.c_str());
  }
}

std::vector<std::string> Campaign::variables() const {
  const char* cache = std::getenv("SWEEP_CACHE_DIR");
  return {"HOME=" + place_.folder().string(),
          std::string("SWEEP_CACHE_DIR=") + (cache != nullptr ? cache : SWEEP_TEST_CACHE),
          "SWEEP_LOCK_DIR=" + (place_.folder() / "locks").string(),
          "SWEEP_PROBLEMS=" + (fs::path(SWEEP_SOURCE_DIR) / "tests/data/problems").string()};
}

std::vector<std::string> Campaign::answers() const {
  std::vector<std::string> hashes;
  for (const nlohmann::json& row : rows()) {
    if (text(row, "kind") == "request") {
      hashes.push_back(text(row["data"], "output"));
    }
  }
  return hashes;
}

void Campaign::start() {
  if (sweep_) {
    return;
  }
  ++session_;
  const fs::path log = place_.folder() / fmt::format("session-{}.log", session_);
  const util::Fd out = util::open_file(log.string(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  util::SpawnSpec spec;
  std::string program = SWEEP_BINARY;
  spec.argv = {"sweep", "s.toml"};
  if (!before.empty()) {
    spec.argv = before;
    spec.argv.insert(spec.argv.end(), {program, "s.toml"});
    program = before.front();
  }
  spec.env = variables();
  spec.env.insert(spec.env.begin(), {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"});
  spec.env.insert(spec.env.end(), environment.begin(), environment.end());
  spec.work_folder = place_.folder();
  spec.deadline = kSessionSeconds;
  spec.fds = {{out.get(), 1}, {out.get(), 2}};
  sweep_.emplace(util::Process::start_program(program, spec));
}

std::optional<int> Campaign::ended(double seconds) {
  const auto status = sweep_ ? sweep_->wait_for(seconds) : std::nullopt;
  if (!status) {
    return std::nullopt;
  }
  sweep_.reset();
  EXPECT_FALSE(status->timed_out) << "a session ran past " << kSessionSeconds << " s";
  return status->signal != 0 ? 128 + status->signal : status->code;
}

std::vector<test::Running> Campaign::tree() const {
  return sweep_ ? test::descendants(sweep_->pid()) : std::vector<test::Running>();
}

bool Campaign::kill_one(const std::string& role, std::mt19937& random) {
  if (!sweep_) {
    return false;
  }
  if (role.empty()) {
    kill_all();
    return true;
  }
  std::vector<test::Running> list = tree();
  std::erase_if(
      list, [&](const test::Running& one) { return one.command.find(role) == std::string::npos; });
  if (list.empty()) {
    return false;
  }
  return ::kill(list[random() % list.size()].pid, SIGKILL) == 0;
}

void Campaign::kill_all() {
  std::vector<test::Running> left = tree();
  sweep_->send_signal(SIGKILL);
  (void)sweep_->wait();
  sweep_.reset();
  // The kernel ends them on its own time.
  util::RealClock clock;
  for (const double until = clock.monotonic() + kDyingSeconds;
       !left.empty() && clock.monotonic() < until;) {
    clock.sleep(0.02);
    const std::vector<test::Running> now = test::processes();
    std::erase_if(left, [&](const test::Running& one) { return !std::ranges::count(now, one); });
  }
  for (const test::Running& one : left) {
    ADD_FAILURE() << "outlives its sweep: " << one.pid << ' ' << one.command;
  }
}

std::vector<nlohmann::json> Campaign::rows() const {
  std::vector<nlohmann::json> list;
  std::istringstream in(text_of(run() / "ledger.jsonl"));
  for (std::string line; std::getline(in, line);) {
    const nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
    if (row.is_object()) {
      list.push_back(row);
    }
  }
  return list;
}

void Campaign::forget_files() {
  kept_.clear();
  forgotten_ = rows().size();
}

// What ended once stays as it is for ever.
void Campaign::keep_finished(const std::vector<nlohmann::json>& rows) {
  for (std::size_t i = std::min(forgotten_, rows.size()); i < rows.size(); ++i) {
    const nlohmann::json& row = rows[i];
    if (text(row, "kind") != "item_end" || !ended_for_good(text(row.at("data"), "outcome"))) {
      continue;
    }
    const std::string file = text(row.at("data"), "file");
    kept_.try_emplace(file, text(row.at("data"), "trajectory_sha256"));
    std::string kernel = file;
    kernel.replace(kernel.rfind("_trajectory.json"), std::string::npos, "_kernel.cu");
    if (fs::exists(run() / kernel)) {
      kept_.try_emplace(kernel, util::sha256_hex(text_of(run() / kernel)));
    }
  }
  for (const auto& [file, hash] : kept_) {
    EXPECT_EQ(util::sha256_hex(text_of(run() / file)), hash) << file << " changed";
  }
}

// Nothing whose answer was in the ledger has been asked since.
void Campaign::check_asked(const std::vector<nlohmann::json>& rows) {
  for (const std::string& hash : asked_.from(seen_)) {
    EXPECT_FALSE(finished_.contains(hash)) << "asked again: " << hash;
  }
  for (const nlohmann::json& row : rows) {
    if (text(row, "kind") == "request" && !text(row["data"], "output").empty()) {
      finished_.insert(text(row["data"], "input"));
    }
  }
  seen_ = asked_.size();
}

void Campaign::check() {
  const std::vector<nlohmann::json> list = rows();
  check_asked(list);
  keep_finished(list);
}

void Campaign::finish() {
  // Items that a kill cost their judge twice go on in another session.
  constexpr int kSessions = 4;
  std::optional<int> code = 3;
  for (int i = 0; i < kSessions && code == 3; ++i) {
    start();
    code = ended(kSessionSeconds);
    for (const test::Running& one : tree()) {
      ADD_FAILURE() << "still runs after " << kSessionSeconds << " s: " << one.pid << ' '
                    << one.command;
    }
    check();
  }
  EXPECT_EQ(code, 0) << text_of(place_.folder() / fmt::format("session-{}.log", session_));
  const e2e::Outcome again = place_.sweep({"s.toml", "--json"}, variables());
  const nlohmann::json last = nlohmann::json::parse(again.out, nullptr, false);
  ASSERT_TRUE(last.is_object()) << again.out << again.err;
  std::set<std::string> table;
  for (const nlohmann::json& item : last.value("items", nlohmann::json::array())) {
    table.insert(text(item, "model") + " " + text(item, "outcome") + "\n");
  }
  std::string told;
  for (const std::string& line : table) {
    told += line;
  }
  EXPECT_EQ(told, kTable) << last.dump(1);
  const e2e::Outcome verified = place_.sweep({"verify", "r"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  check();
}

std::size_t Campaign::lost_requests() const {
  return asked_.size() - std::min(asked_.size(), kRequests);
}

}  // namespace sweep::torture

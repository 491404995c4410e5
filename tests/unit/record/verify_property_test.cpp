// Whatever one changes in a run, verify finds it and names the file.
#include "record/artifacts.h"
#include "record/verify.h"
#include "util/file.h"
#include "util/sha256.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace sweep::record {
namespace {

namespace fs = std::filesystem;

enum class Edit { flip, erase, insert, swap_bytes, swap_lines, double_line, cut, remove };

constexpr Edit kEdits[] = {Edit::flip,
                           Edit::erase,
                           Edit::insert,
                           Edit::swap_bytes,
                           Edit::swap_lines,
                           Edit::double_line,
                           Edit::cut,
                           Edit::remove};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line + (in.eof() ? "" : "\n"));
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line;
  }
  return text;
}

// The text after one edit; the same where this edit changes nothing.
std::string edited(std::string text, Edit edit, std::mt19937& random) {
  const std::size_t at = random() % text.size();
  std::vector<std::string> lines = lines_of(text);
  const std::size_t line = random() % lines.size();
  switch (edit) {
    case Edit::flip:
      text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
      return text;
    case Edit::erase:
      return text.erase(at, 1);
    case Edit::insert:
      return text.insert(at, 1, static_cast<char>(random() % 256));
    case Edit::swap_bytes:
      std::swap(text[at], text[random() % text.size()]);
      return text;
    case Edit::swap_lines:
      std::swap(lines[line], lines[random() % lines.size()]);
      return joined(lines);
    case Edit::double_line:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(line), lines[line]);
      return joined(lines);
    case Edit::cut:
      return text.substr(0, at);
    case Edit::remove:
      break;
  }
  return text;
}

// Two finished items, one with a kernel that is cut in its trajectory, an exchange, a plan and a
// configuration: all kinds of files that a run has.
class VerifyProperty : public ::testing::Test {
 protected:
  VerifyProperty() {
    run_.create();
    const std::string identity = R"({"config":{"name":"r"},"schema":1})";
    const std::string hash = artifacts().put(identity);
    write_whole(run_.config_file(), identity + "\n");
    Ledger ledger(run_.ledger_file());
    (void)ledger.append(
        kind::run_start,
        "",
        {{"identity_sha256", hash}, {"items_sha256", artifacts().put("[]")}, {"policy", kPolicy}});
    add_item(ledger, "3");
    add_item(ledger, "4");
    (void)ledger.append(kind::run_end, "", {{"outcomes", {{"correct", 2}}}});
  }

  [[nodiscard]] Artifacts artifacts() const { return Artifacts(run_.artifacts_folder()); }

  void add_item(Ledger& ledger, const std::string& problem) {
    const ItemName name{"v", "m", "1", problem, 1};
    const std::string id = "v/m/level1/" + problem;
    const std::string kernel = "__global__ void k" + problem + "() {}\n";
    Trajectory trajectory;
    trajectory.outcome = "correct";
    trajectory.final_result.emplace().kernel_sha256 = artifacts().put(kernel);
    Turn& turn = trajectory.turns.emplace_back();
    turn.submitted_kernel = kernel;
    turn.tool_calls.emplace_back().kernel_sha256 = artifacts().put("long " + kernel);
    run_.save(name, trajectory);
    const std::string body = artifacts().put("asked " + problem);
    const nlohmann::json exchange{
        {"tries", {{{"request", body}, {"response", artifacts().put("said " + problem)}}}}};
    const fs::path file = run_.trajectory_file(name);
    const std::string relative = file.lexically_relative(run_.folder()).generic_string();
    (void)ledger.append(kind::item_start, id, {{"file", relative}});
    (void)ledger.append(kind::request,
                        id,
                        {{"input", body},
                         {"output", artifacts().put("answer " + problem)},
                         {"facts", {{"exchange", artifacts().put(exchange.dump())}}}});
    (void)ledger.append(kind::item_end,
                        id,
                        {{"file", relative},
                         {"outcome", "correct"},
                         {"trajectory_sha256", util::sha256_hex(read_whole(file))}});
  }

  // Everything but the lock, which says nothing of results.
  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> list;
    for (const auto& entry : fs::recursive_directory_iterator(run_.folder())) {
      if (entry.is_regular_file()) {
        list.push_back(entry.path());
      }
    }
    std::ranges::sort(list);
    return list;
  }

  static void put(const fs::path& file, const std::string& bytes) {
    fs::remove(file);
    std::ofstream(file, std::ios::binary) << bytes;
  }

  util::TempDir dir_;
  RunDir run_{dir_.path() / "run"};
};

bool names(const RunVerification& found, const fs::path& file) {
  const std::string name = file.filename().string();
  return found.ledger.problem.find(name) != std::string::npos ||
         std::ranges::any_of(found.broken, [&](const std::string& line) {
           return line.find(name) != std::string::npos;
         });
}

TEST_F(VerifyProperty, EveryEditOfEveryFileIsFoundAndNamed) {
  ASSERT_TRUE(verify_run(run_).intact());
  const std::size_t rows = verify_run(run_).ledger.rows;
  std::mt19937 random(11);
  int tried = 0;
  std::set<std::string> kinds;
  for (const fs::path& file : files()) {
    const std::string before = read_whole(file);
    const bool ledger = file == run_.ledger_file();
    kinds.insert(file.extension().string());
    for (const Edit edit : kEdits) {
      for (int round = 0; round < (edit == Edit::remove ? 1 : ledger ? 60 : 6); ++round) {
        const std::string after = edited(before, edit, random);
        if (edit == Edit::remove) {
          fs::remove(file);
        } else if (after == before) {
          continue;
        } else {
          put(file, after);
        }
        ++tried;
        if (ledger && edit == Edit::remove) {
          EXPECT_ANY_THROW((void)verify_run(run_));
        } else {
          const RunVerification found = verify_run(run_);
          // Rows lost at the end leave a chain: their number and the head that was published tell.
          const bool shorter = ledger && before.starts_with(after) && found.ledger.rows < rows;
          EXPECT_TRUE(shorter || !found.intact()) << file << " edit " << static_cast<int>(edit);
          EXPECT_TRUE(shorter || found.ledger.torn_bytes > 0 || names(found, file))
              << file << " edit " << static_cast<int>(edit);
        }
        put(file, before);
      }
    }
  }
  EXPECT_TRUE(verify_run(run_).intact());
  EXPECT_GT(tried, 600);
  EXPECT_EQ(kinds.size(), 4U) << "artifacts, .json, .jsonl and .cu";
}

TEST_F(VerifyProperty, AnAddedFileIsNamed) {
  const fs::path model = run_.folder() / "v" / "m";
  for (const char* name : {"artifacts/more",
                           "v/m/level_1_problem_9_trajectory.json",
                           "v/m/level_1_problem_9_kernel.cu",
                           "v/m/notes.txt"}) {
    const fs::path file = run_.folder() / name;
    put(file, "x");
    EXPECT_TRUE(names(verify_run(run_), file)) << name;
    fs::remove(file);
  }
  // What a killed writer left is none.
  put(model / ".level_1_problem_3_trajectory.json.a1B2c3", "{");
  EXPECT_TRUE(verify_run(run_).intact());
}

TEST_F(VerifyProperty, AMissingFolderOfArtifactsIsNamedAndNotMade) {
  fs::remove_all(run_.artifacts_folder());
  const RunVerification found = verify_run(run_);
  EXPECT_FALSE(found.intact());
  EXPECT_GT(found.broken.size(), 8U) << "each artifact that a row names";
  EXPECT_FALSE(fs::exists(run_.artifacts_folder()));
}

TEST_F(VerifyProperty, ARowsBytesMayNotBeReordered) {
  // The hash is moved behind the item: the same members, another text.
  std::string text = read_whole(run_.ledger_file());
  const std::size_t at = text.find(",\"hash\":\"");
  const std::string entry = text.substr(at, 9 + 64 + 1);
  text.erase(at, entry.size());
  text.insert(text.find(",\"kind\":", at), entry);
  put(run_.ledger_file(), text);
  const Verification found = verify_ledger(run_.ledger_file());
  EXPECT_FALSE(found.intact);
  EXPECT_NE(found.problem.find("canonical"), std::string::npos) << found.problem;
}

}  // namespace
}  // namespace sweep::record

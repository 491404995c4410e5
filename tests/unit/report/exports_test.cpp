#include "report/exports.h"

#include "record/run_dir.h"
#include "report/export_pieces.h"
#include "util/error.h"
#include "util/file.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include <fmt/format.h>

namespace sweep::report {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Row export_row(const std::string& problem, const std::string& model, const std::string& outcome) {
  Row row;
  row.item = "custom/" + model + "/" + problem;
  row.run = "r";
  row.variant = "custom";
  row.model = model;
  row.level = "level1";
  row.problem = problem;
  row.title = "Sparse product";
  row.harness = "default";
  row.page = "t/custom/m/level_1_problem_3.html";
  row.outcome = outcome;
  row.finished_at = "2026-01-31T12:00:00.000Z";
  row.has_result = true;
  row.host = "secret-host";
  row.base_url = "http://secret-endpoint/v1";
  row.deployment = "secret-deployment";
  row.device = "cuda:0";
  row.gpu = "NVIDIA H200";
  row.version = "0.1.0";
  row.cost_usd = 0.5;
  row.input_tokens = 100;
  row.output_tokens = 20;
  row.tools["run_correctness"] = {2, 1};
  row.stages.push_back({"stress", true, outcome == "correct", "30 shapes", 0.5, 30, 30});
  RowTurn turn;
  turn.turn = 1;
  turn.calls = {{"run_correctness", "native", false, "INCORRECT_VALUE", 1, 2}};
  row.series.push_back(turn);
  turn.turn = 2;
  turn.calls = {{"submit_kernel", "native", outcome == "correct", "PASS_FASTER", 3, 4}};
  row.series.push_back(turn);
  if (outcome == "correct") {
    row.verdict = "PASS_FASTER";
    row.compiled = row.correct = true;
    row.speedup = record::Interval{2, 1.9, 2.1};
    row.runtime_us = 10;
    row.seed_us = 20;
    row.timings.push_back({"rows=4", 20, 10, record::Interval{2, 1.9, 2.1}, 0.5, 5, 20});
    row.metrics = {{"energy_per_call", "rows=4", 0.002, "J"}, {"launch_ratio", "rows=4", 3, ""}};
  }
  return row;
}

struct Exported {
  Exported()
      : rows{export_row("level1/3", "m", "correct"),
             export_row("level1/4", "m", "rejected"),
             export_row("level1/3", "=cmd|'/c'!A1", "infra_error")} {
    for (const Row& row : rows) {
      pointers.push_back(&row);
    }
    source.run = "r";
    source.version = "0.1.0";
    source.ledger_head = std::string(64, 'a');
    source.ledger_rows = 7;
  }

  std::vector<std::string> write(const fs::path& folder) const {
    return write_exports(folder, source, pointers);
  }

  std::vector<Row> rows;
  RowPointers pointers;
  Source source;
};

TEST(Exports, HaveEveryTableInEveryFormAndASchemaOfEachColumn) {
  const util::TempDir folder;
  const Exported from;
  const auto names = from.write(folder.path() / "data");
  const auto schema = nlohmann::json::parse(record::read_whole(folder.path() / "data/schema.json"));
  EXPECT_EQ(schema.at("kind"), "sweep export");
  EXPECT_EQ(schema.at("ledger_head"), from.source.ledger_head);
  EXPECT_EQ(schema.at("tables").size(), 13U);
  for (const auto& [name, table] : schema.at("tables").items()) {
    for (const char* ending : {".csv", ".json", ".md", ".tex"}) {
      EXPECT_THAT(names, Contains(name + ending));
    }
    // The head of the CSV is what the schema says, and every column is described.
    std::string head;
    for (const auto& column : table.at("columns")) {
      EXPECT_NE(column.at("description"), "") << name << " " << column.at("key");
      for (const auto& field : column.at("csv")) {
        head += field.get<std::string>() + ",";
      }
    }
    const std::string csv = record::read_whole(folder.path() / "data" / (name + ".csv"));
    EXPECT_THAT(csv, StartsWith(head + "missing\r\n"));
    const auto json =
        nlohmann::json::parse(record::read_whole(folder.path() / "data" / (name + ".json")));
    EXPECT_EQ(json.at("columns"), table.at("columns"));
    EXPECT_EQ(json.at("rows").size(),
              static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) - 1);
  }
}

TEST(Exports, HoldNoHostNoEndpointAndNoFormula) {
  const util::TempDir folder;
  const Exported from;
  for (const std::string& name : from.write(folder.path() / "data")) {
    const std::string text = record::read_whole(folder.path() / "data" / name);
    EXPECT_THAT(text, Not(HasSubstr("secret-"))) << name;
    if (name.ends_with(".csv")) {
      EXPECT_THAT(text, Not(HasSubstr(",=cmd"))) << name;
      EXPECT_THAT(text, Not(HasSubstr("\n=cmd"))) << name;
    }
  }
}

TEST(Exports, ReplaceTheirOwnFilesAndNoOthers) {
  const util::TempDir folder;
  Exported from;
  const fs::path data = folder.path() / "data";
  (void)from.write(data);
  const auto before = fs::last_write_time(data / "models.csv");
  (void)from.write(data);
  EXPECT_EQ(fs::last_write_time(data / "models.csv"), before);  // unchanged: left alone
  std::ofstream(folder.path() / "mine.txt") << "mine";
  EXPECT_THROW((void)from.write(folder.path()), util::UsageError);
  fs::create_directory_symlink(data, folder.path() / "link");
  EXPECT_THROW((void)from.write(folder.path() / "link"), util::UsageError);
}

// What pieces make, and make again after a change, is what is made in one.
TEST(Exports, InPiecesAreAsIfMadeInOne) {
  const util::TempDir folder;
  std::vector<Row> rows;
  for (int i = 0; i < 600; ++i) {
    rows.push_back(
        export_row(fmt::format("level1/{}", i), "m", i % 3 == 0 ? "rejected" : "correct"));
    rows.back().digest = digest_of(rows.back());
  }
  const auto write = [&](const char* name, bool anew) {
    RowPointers pointers;
    for (const Row& row : rows) {
      pointers.push_back(&row);
    }
    const fs::path data = folder.path() / name;
    if (anew) {
      fs::remove_all(data);
    }
    std::map<std::string, std::string> out;
    for (const std::string& file : write_exports(data, Source{}, pointers)) {
      out[file] = record::read_whole(data / file);
    }
    EXPECT_EQ(out.at("items.csv"), csv(items_table(pointers)));
    EXPECT_EQ(out.at("turns.json"), json_text(turns_table(pointers)));
    EXPECT_EQ(nlohmann::json::parse(out.at("popcorn_results.json")), popcorn_json(pointers));
    EXPECT_EQ(out.at("popcorn_results.csv"), popcorn_csv(pointers));
    return out;
  };
  (void)write("data", false);
  rows[300].title = "another, and longer";
  rows[300].series.clear();
  rows[300].digest = digest_of(rows[300]);
  EXPECT_EQ(write("data", false), write("anew", true));
  rows.erase(rows.begin(), rows.begin() + 250);
  EXPECT_EQ(write("data", false), write("anew", true));
  const FileStamp before = stamp_of(folder.path() / "data/items.csv");
  (void)write("data", false);
  EXPECT_EQ(stamp_of(folder.path() / "data/items.csv"), before);
  // A file that somebody changed is taken no piece from.
  std::ofstream(folder.path() / "data/items.csv", std::ios::app) << "more";
  EXPECT_EQ(write("data", false), write("anew", true));
  rows.clear();
  EXPECT_EQ(write("data", false), write("anew", true));
}

TEST(PiecedText, StaysWhereANewPieceSaysTheSame) {
  const util::TempDir dir;
  const fs::path file = dir.path() / "table.csv";
  const PieceFrame frame = {"head\n", "first\n", "next\n", "end\n", "none\n"};
  PiecedText fresh(file, frame, {});
  fresh.add("1", "one\n", 1);
  fresh.add("2", "two\n", 1);
  fresh.add("3", "three\n", 1);
  const PiecedFile before = fresh.put();
  ASSERT_EQ(record::read_whole(file), "head\nfirst\none\nnext\ntwo\nnext\nthree\nend\n");
  const auto again = [&](const PiecedFile& known, const char* digest, const char* text) {
    PiecedText one(file, frame, known);
    one.take("1");
    one.add(digest, text, 1);
    one.take("3");
    return one.put();
  };
  const PiecedFile same = again(before, "2b", "two\n");
  EXPECT_EQ(same.stamp, before.stamp);
  EXPECT_EQ(same.stamp, stamp_of(file));
  const PiecedFile changed = again(same, "2c", "owt\n");  // as long as before
  EXPECT_NE(changed.stamp, before.stamp);
  EXPECT_EQ(record::read_whole(file), "head\nfirst\none\nnext\nowt\nnext\nthree\nend\n");
  (void)again(changed, "2d", "");  // the third piece moves
  EXPECT_EQ(record::read_whole(file), "head\nfirst\none\nnext\nnext\nthree\nend\n");
}

TEST(Exports, TakeNothingFromAnIndexThatIsNone) {
  const util::TempDir folder;
  Exported from;
  for (Row& row : from.rows) {
    row.digest = digest_of(row);
  }
  const fs::path data = folder.path() / "data";
  (void)from.write(data);
  const std::string items = record::read_whole(data / "items.csv");
  const std::string good = record::read_whole(data / ".pieces");
  PieceIndex wrong = read_pieces(data);
  ASSERT_EQ(wrong.at("items.csv").pieces.size(), 1U);
  wrong.at("items.csv").pieces[0].bytes = std::uint64_t{1} << 62U;
  wrong.at("items.csv").pieces[0].digest = "other";
  for (const std::string& bad : {std::string(),
                                 std::string("[]"),
                                 std::string("{}"),
                                 std::string(R"({"maker":7,"files":[]})"),
                                 good.substr(0, 50)}) {
    std::ofstream(data / ".pieces", std::ios::trunc) << bad;
    EXPECT_TRUE(read_pieces(data).empty());
    (void)from.write(data);
    EXPECT_EQ(record::read_whole(data / "items.csv"), items);
  }
  write_pieces(data, wrong);
  (void)from.write(data);
  EXPECT_EQ(record::read_whole(data / "items.csv"), items);
  EXPECT_EQ(record::read_whole(data / ".pieces"), good);
}

TEST(Exports, SumModelsUpWithIntervals) {
  const Exported from;
  const auto json = to_json(models_table(from.pointers));
  const auto& m = json.at("rows")[0];
  EXPECT_EQ(m["judged"], 2);  // the rejected one counts as a failure
  EXPECT_EQ(m["correct"], 1);
  EXPECT_NEAR(m["correct_rate"]["low"].get<double>(), 0.0945, 1e-3);  // Wilson, 1 of 2
  EXPECT_EQ(m["geometric_mean"], 2);
  EXPECT_EQ(m["left_out"], 1);
  EXPECT_EQ(m["cost_usd"], 1.0);
  const auto& lost = json.at("rows")[1];
  EXPECT_EQ(lost["judged"], 0);  // infrastructure is nobody's failure
  EXPECT_EQ(lost["missing"]["correct_rate"], "no item was judged");
}

TEST(PopcornExport, HasItsColumnsItsWordsAndItsMinusOnes) {
  const Exported from;
  const std::string csv = popcorn_csv(from.pointers);
  EXPECT_THAT(
      csv,
      StartsWith("folder,set_id,mode,task,problem_id,level,model_raw,model,correct,outcome,speedup,"
                 "dram_util,compute_pct,power_w,energy_mj,fusion,occupancy,sol_score,timeout_"
                 "recovered,total_turns,first_correct_step,wall_clock_s,llm_total_tokens\r\n"
                 "r,custom,default,Sparse product,3,1,m,m,True,correct,2,,,200,2,3,,,False,0,2.0,0,"
                 "120\r\n"));
  EXPECT_THAT(csv, HasSubstr(",4,1,m,m,False,incorrect,,"));
  EXPECT_THAT(csv, HasSubstr(",False,error,,"));
  const auto json = popcorn_json(from.pointers);
  EXPECT_EQ(json[0]["problem_id"], 3);
  EXPECT_EQ(json[0]["final_result"]["runtime"], 10.0);
  EXPECT_EQ(json[1]["final_result"]["runtime"], -1);
  EXPECT_EQ(json[1]["outcome"], "incorrect");
}

TEST(SummaryPage, IsOneFileWithoutALinkOut) {
  Exported from;
  from.rows[0].model = "</script><img src=x onerror=alert(1)>";
  const std::string page = summary_page(from.source, from.pointers);
  // The script spells tags of its own; what the browser reads as HTML is before it.
  const std::string html = page.substr(0, page.find("<script>"));
  EXPECT_THAT(html, HasSubstr("</main>"));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("href=")));
  EXPECT_THAT(html, Not(HasSubstr("src=\"")));
  EXPECT_THAT(html, Not(HasSubstr("url(http")));
  // One script and one style, which end once.
  const auto count = [&](const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) {
      ++n;
    }
    return n;
  };
  EXPECT_EQ(count("<script>"), 1U);
  EXPECT_EQ(count("</script>"), 1U);
  EXPECT_EQ(count("</style>"), 1U);
  EXPECT_THAT(page, HasSubstr(from.source.ledger_head));
  EXPECT_THAT(page, HasSubstr("seed kernel"));
}

}  // namespace
}  // namespace sweep::report

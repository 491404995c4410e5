#include "publish/bundle.h"

#include "evaluate/salt.h"
#include "publish/check.h"
#include "record/ledger.h"
#include "report/build.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace sweep::publish {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kSalt(32, 's');

// Everything that must not leave, as planted below.
const std::vector<std::string> kPlanted = {"gpunode7",
                                           "jdoe",
                                           "supersecret",
                                           "sk-live-abcdefghij0123456789",
                                           "acme-corp",
                                           "10.20.3.4",
                                           "/home/jdoe",
                                           "project-x",
                                           "GPU-0a1b2c3d-1111-2222-3333-0123456789ab",
                                           "box9",
                                           "wordfromuser"};

std::string everything() {
  return "host gpunode7 user jdoe at http://gpunode7.acme-corp.internal:8000/v1 model supersecret "
         "key sk-live-abcdefghij0123456789 from 10.20.3.4 in /home/jdoe/project-x/a.cu on "
         "GPU-0a1b2c3d-1111-2222-3333-0123456789ab publisher box9 and wordfromuser";
}

// A small run with all of it planted everywhere, but its ledger's rows when `rows` is false.
class PlantedRun {
 public:
  explicit PlantedRun(bool rows)
      : run(folder.path() / "runs" / "first"), artifacts(run.artifacts_folder()) {
    run.create();
    record::Ledger ledger(run.ledger_file());
    const std::string identity = artifacts.put(nlohmann::json{
        {"config",
         {{"models",
           {{"m",
             {{"base_url", "http://gpunode7.acme-corp.internal:8000/v1"},
              {"deployment_name", "supersecret"},
              {"api_key_env", "SWEEP_TEST_KEY"}}}}}}},
        {"note", everything()}}.dump());
    ledger.append(
        record::kind::run_start,
        "",
        {{"identity_sha256", identity},
         {"toml_sha256", artifacts.put("# " + everything())},
         {"held_out", {{"epoch", 3}, {"salt_commitment", evaluate::salt_commitment(kSalt)}}}});
    ledger.append(record::kind::item_start,
                  "custom/m/level1/3",
                  {{"file", "custom/m/level_1_problem_3_trajectory.json"}});
    const std::string stream = "data: {\"d\": \"" + everything() +
                               "\"}\n\ndata: {\"d\": \" gpuno\"}\n\ndata: {\"d\": \"de7\"}\n\n";
    ledger.append(
        record::kind::request,
        "custom/m/level1/3",
        {{"input", artifacts.put(nlohmann::json{{"messages", {everything()}}}.dump())},
         {"output", artifacts.put(stream)},
         {"facts",
          {{"exchange",
            artifacts.put(nlohmann::json{{"tries",
                                          {{{"request", artifacts.put("{}")},
                                            {"response", artifacts.put(everything())},
                                            {"headers", {{"X-Request-Org", "acme-corp"}}}}}}}
                              .dump())},
           {"detail", rows ? everything() : std::string("fine")}}}});
    record::Trajectory t = trajectory();
    save(t);
    ledger.append(record::kind::item_end,
                  "custom/m/level1/3",
                  {{"file", "custom/m/level_1_problem_3_trajectory.json"},
                   {"outcome", t.outcome},
                   {"trajectory_sha256", util::sha256_file(file())}});
    ledger.append(record::kind::run_end, "", {{"interrupted", false}});
    std::ofstream(run.config_file()) << nlohmann::json{{"where", everything()}}.dump();
    // What a killed worker left, and an earlier build of the report.
    std::ofstream(record::RunDir::stream_beside(file())) << everything();
    (void)report::build(run);
  }

  [[nodiscard]] fs::path file() const {
    return run.folder() / "custom/m/level_1_problem_3_trajectory.json";
  }

  [[nodiscard]] Published publish(const std::string& name) const {
    return publish::publish(run,
                            folder.path() / name,
                            {{"box9"}, {"jdoe"}, {run.folder().string()}},
                            {{"wordfromuser"}, false},
                            "0.1.0");
  }

  util::TempDir folder;
  record::RunDir run;
  record::Artifacts artifacts;

 private:
  void save(const record::Trajectory& t) const {
    run.save({t.variant, t.model_name, "1", t.problem_id, t.attempt}, t);
  }

  record::Trajectory trajectory() const {
    record::Trajectory t;
    t.item_id = "custom/m/level1/3";
    t.run_name = "first";
    t.model_name = "m";
    t.variant = "custom";
    t.level = "1";
    t.problem_id = "3";
    t.outcome = "incorrect";
    t.finished_at = "2026-01-31T12:00:00.000Z";
    t.stop_reason = "submitted";
    t.error = everything();
    t.provenance.host = "gpunode7";
    t.provenance.base_url = "http://gpunode7.acme-corp.internal:8000/v1";
    t.provenance.deployment_name = "supersecret";
    t.provenance.gpu_uuid = "GPU-0a1b2c3d-1111-2222-3333-0123456789ab";
    t.provenance.device = "cpu";
    record::Turn turn;
    turn.text = turn.reasoning = everything();
    turn.messages_in = nlohmann::json{{{"content", everything()}}};
    record::ToolCall call;
    call.tool_name = "compile_kernel";
    call.result_text = everything();
    call.args = {{"kernel_code", "// " + everything()}, {everything(), 1}};
    turn.tool_calls = {call};
    turn.submitted_kernel = "// " + everything();
    t.turns = {turn};
    t.final_result = record::FinalResult{};
    t.final_result->reason = everything();
    t.final_result->kernel_sha256 = artifacts.put(*turn.submitted_kernel);
    return t;
  }
};

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      out.push_back(entry.path());
    }
  }
  return out;
}

TEST(Publish, NothingThatWasPlantedIsInTheBundle) {
  const PlantedRun planted(true);
  const Published published = planted.publish("out");
  const fs::path out = planted.folder.path() / "out";
  const auto files = files_of(out);
  EXPECT_GT(files.size(), 10U);
  for (const fs::path& file : files) {
    std::string text = record::read_whole(file);
    std::transform(text.begin(), text.end(), text.begin(), ::tolower);
    for (std::string secret : kPlanted) {
      std::transform(secret.begin(), secret.end(), secret.begin(), ::tolower);
      EXPECT_EQ(text.find(secret), std::string::npos) << file << ": " << secret;
    }
  }
  // It says what was taken out and how.
  const auto json = nlohmann::json::parse(record::read_whole(out / "publication.json"));
  for (const auto& rule : json.at("rules")) {
    for (const char* name : {"host", "user", "endpoint", "deployment", "path", "key", "given"}) {
      if (rule.at("rule") == name) {
        EXPECT_GT(rule.at("applied"), 0) << name;
      }
    }
  }
  EXPECT_EQ(published.cite, util::sha256_file(out / "publication.json"));
  EXPECT_TRUE(fs::exists(out / "report/index.html"));
  EXPECT_TRUE(fs::exists(out / "report/data/summary.html"));
  EXPECT_TRUE(fs::exists(planted.run.report_folder() / ".rows"));
  EXPECT_FALSE(fs::exists(out / "report/.rows"));
  EXPECT_FALSE(fs::exists(out / "report/data/.pieces"));
  EXPECT_TRUE(fs::exists(record::RunDir::stream_beside(planted.file())));
  EXPECT_THAT(
      files,
      testing::Each(testing::ResultOf([](const fs::path& file) { return file.filename().string(); },
                                      testing::Not(testing::EndsWith("_stream.json")))));
  EXPECT_FALSE(fs::exists(planted.folder.path() / "out.partial"));
}

TEST(Publish, TheBundleVerifiesAndSaysWhatIsRedacted) {
  const PlantedRun planted(false);
  (void)planted.publish("out");
  const BundleCheck checked = check_bundle(planted.folder.path() / "out", "");
  EXPECT_THAT(checked.broken, IsEmpty());
  EXPECT_TRUE(checked.publication.redacted_rows.empty());
  EXPECT_GT(checked.redacted, 3U);
  EXPECT_EQ(checked.bound, 0U);  // its host is not
  EXPECT_THAT(proves_before(checked.publication), Contains(HasSubstr("Not proved")));
}

TEST(Publish, ARedactedRowKeepsItsPlaceInTheChain) {
  const PlantedRun planted(true);
  (void)planted.publish("out");
  const BundleCheck checked = check_bundle(planted.folder.path() / "out", "");
  EXPECT_THAT(checked.broken, IsEmpty());
  EXPECT_EQ(checked.publication.redacted_rows, std::vector<std::int64_t>{2});
}

TEST(Publish, EveryChangeOfTheBundleIsFound) {
  const PlantedRun planted(true);
  (void)planted.publish("out");
  const fs::path out = planted.folder.path() / "out";
  for (const fs::path& file : files_of(out)) {
    if (file.filename() == "publication.json") {
      continue;
    }
    const std::string before = record::read_whole(file);
    fs::permissions(file, fs::perms::owner_all);
    std::ofstream(file, std::ios::app) << " ";
    EXPECT_FALSE(check_bundle(out, "").intact()) << file;
    std::ofstream(file, std::ios::trunc) << before;
  }
  EXPECT_TRUE(check_bundle(out, "").intact());
  std::ofstream(out / "extra") << "x";
  EXPECT_THAT(check_bundle(out, "").broken, Contains(HasSubstr("was not published")));
}

TEST(Publish, ALedgerThatWasMadeUpIsFoundAlsoWithItsHashMended) {
  const PlantedRun planted(false);
  (void)planted.publish("out");
  const fs::path out = planted.folder.path() / "out";
  std::string ledger = record::read_whole(out / "ledger.jsonl");
  ledger.replace(ledger.find("incorrect"), 9, "correct  ");
  fs::permissions(out / "ledger.jsonl", fs::perms::owner_all);
  std::ofstream(out / "ledger.jsonl", std::ios::trunc) << ledger;
  auto json = nlohmann::json::parse(record::read_whole(out / "publication.json"));
  for (auto& file : json["files"]) {
    if (file["path"] == "ledger.jsonl") {
      file["sha256"] = util::sha256_hex(ledger);
    }
  }
  std::ofstream(out / "publication.json", std::ios::trunc) << json.dump();
  EXPECT_THAT(check_bundle(out, "").broken, Contains(HasSubstr("the chain breaks here")));
}

TEST(Publish, TellsTheSaltThatTheLedgerCommittedTo) {
  const PlantedRun planted(true);
  const Published published = planted.publish("out");
  EXPECT_EQ(published.publication.held_out.epochs, std::vector<std::int64_t>{3});
  const fs::path out = planted.folder.path() / "out";
  EXPECT_FALSE(check_bundle(out, "").salt_known.has_value());
  EXPECT_EQ(check_bundle(out, kSalt).salt_known, true);
  const BundleCheck other = check_bundle(out, std::string(32, 't'));
  EXPECT_EQ(other.salt_known, false);
  EXPECT_FALSE(other.intact());
}

TEST(Publish, OverwritesNothingAndRefusesARunThatIsAtWork) {
  const PlantedRun planted(true);
  fs::create_directory(planted.folder.path() / "there");
  EXPECT_THROW((void)planted.publish("there"), util::UsageError);
  EXPECT_TRUE(fs::is_empty(planted.folder.path() / "there"));
  const record::RunLock lock(planted.run);
  EXPECT_THROW((void)planted.publish("out"), util::UsageError);
  EXPECT_FALSE(fs::exists(planted.folder.path() / "out"));
  EXPECT_FALSE(fs::exists(planted.folder.path() / "out.partial"));
}

TEST(Publication, RefusesHostileOnes) {
  const auto read = [](const std::string& text) {
    return publication_from_json(nlohmann::json::parse(text));
  };
  EXPECT_THROW((void)read("{}"), util::InfraError);
  Publication good;
  good.files.push_back({"a", std::string(64, 'a'), "", false, false, {}});
  EXPECT_EQ(publication_from_json(to_json(good)).files.size(), 1U);
  good.files.front().path = "../../etc/passwd";
  EXPECT_THROW((void)publication_from_json(to_json(good)), util::InfraError);
}

TEST(Salt, CommitmentIsAsDocumented) {
  // Made with Python's hashlib.
  EXPECT_EQ(evaluate::salt_commitment(kSalt),
            "418e5ac4cdb88ddcbffe833e6a2338d7be9cb4d82256c6b6da2620ccb322f706");
}

}  // namespace
}  // namespace sweep::publish

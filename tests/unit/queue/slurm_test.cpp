#include "queue/slurm.h"

#include "queue/share.h"
#include "util/file.h"
#include "util/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include <sys/stat.h>

namespace sweep::queue {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

SlurmJob job(const fs::path& folder) {
  SlurmJob out;
  out.program = folder / "it's sweep";
  out.config = folder / "a b.toml";
  out.run = folder / "runs" / "100%25";
  out.name = "my run;rm";
  out.tasks = 3;
  out.arguments = {"--only", "$(touch x)"};
  return out;
}

void write_program(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
  fs::permissions(file, fs::perms::owner_all);
}

// Runs the array's script with `signal` sent to it while its sweep works, as Slurm would.
util::Captured run_script(const fs::path& folder, const std::string& signal) {
  // A sweep that ends with 130 when it is asked to.
  write_program(folder / "it's sweep",
                "#!/bin/bash\ntrap 'echo stopped; exit 130' TERM\necho \"$@\" > arguments\n"
                "touch begun\nfor i in $(seq 600); do sleep 0.05; done\n");
  write_program(folder / "scontrol", "#!/bin/bash\necho \"$@\" > requeued\n");
  write_program(folder / "array.sh", array_script(job(folder)));
  write_program(folder / "drive.sh",
                "#!/bin/bash\n./array.sh & p=$!\nuntil [ -e begun ]; do sleep 0.05; done\n"
                "sleep 0.2; kill -" +
                    signal + " $p; wait $p\n");
  util::SpawnSpec spec;
  spec.argv = {"bash", (folder / "drive.sh").string()};
  spec.env = {"PATH=" + folder.string() + ":/usr/bin:/bin",
              "SLURM_ARRAY_JOB_ID=12",
              "SLURM_ARRAY_TASK_ID=3"};
  spec.work_folder = folder;
  spec.deadline = 60;
  return util::run_program("/bin/bash", spec);
}

TEST(Slurm, ScriptsQuoteWhatComesFromOutside) {
  const std::string script = array_script(job("/d"));
  EXPECT_THAT(script, HasSubstr("'/d/it'\\''s sweep' '/d/a b.toml' --task"));
  EXPECT_THAT(script, HasSubstr("'--only' '$(touch x)'"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --job-name=sweep-my_run_rm\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --gres=gpu:1\n"));
  EXPECT_THAT(script, HasSubstr("--output=\"/d/runs/100%%25/slurm/%A_%a.log\"\n"));
  const std::string join = join_script(job("/d"));
  EXPECT_THAT(join, HasSubstr("join '/d/runs/100%25' --wait 180\n"));
  EXPECT_THAT(join, Not(HasSubstr("--array")));
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Slurm, ATaskThatIsAskedToEndEndsWithItsSweepsCode) {
  const util::TempDir folder("sweep-slurm");
  const util::Captured done = run_script(folder.path(), "TERM");
  EXPECT_EQ(done.status.code, 130) << done.err;
  EXPECT_THAT(done.out, HasSubstr("stopped"));
  EXPECT_FALSE(fs::exists(folder.path() / "requeued"));
  EXPECT_THAT(util::read_file(folder.path() / "arguments", 1000),
              HasSubstr("--task 12_3 --tasks 3 --lease 120 --yes --only $(touch x)"));
  EXPECT_FALSE(fs::exists(folder.path() / "x"));
}

TEST(Slurm, NearItsTimeLimitATaskGoesBackToTheQueue) {
  const util::TempDir folder("sweep-slurm");
  const util::Captured done = run_script(folder.path(), "USR1");
  EXPECT_EQ(done.status.code, 130) << done.err;
  EXPECT_EQ(util::read_file(folder.path() / "requeued", 100), "requeue 12_3\n");
}

TEST(Share, LimitsAreDividedButForServersOfEachNode) {
  config::SweepConfig config;
  config.models.resize(2);
  config.models[0].name = "far";
  config.models[0].base_url = "https://example.invalid/v1";
  config.models[0].rpm = 60;
  config.models[0].tpm = 100000;
  config.models[0].max_concurrency = 8;
  config.models[1].name = "near";
  config.models[1].base_url = "http://127.0.0.1:8000/v1";
  config.models[1].rpm = 1;
  config.parallelism.llm_global_concurrency = 9;
  const auto most = most_tasks(config);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->tasks, 8);
  EXPECT_EQ(most->limit, "models.far max_concurrency = 8");
  divide_limits(config, 4);
  EXPECT_EQ(config.models[0].rpm, 15);
  EXPECT_EQ(config.models[0].tpm, 25000);
  EXPECT_EQ(config.models[0].max_concurrency, 2);
  EXPECT_EQ(config.models[1].rpm, 1);
  EXPECT_EQ(config.parallelism.llm_global_concurrency, 2);
}

}  // namespace
}  // namespace sweep::queue

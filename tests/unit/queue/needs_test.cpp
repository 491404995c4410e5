#include "queue/needs.h"

#include "util/file.h"

#include <gmock/gmock.h>

#include <sys/stat.h>

namespace sweep::queue {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

// A run of one problem that names instructions.
struct World {
  World() {
    installation.folders["example/port"] =
        fs::path(SWEEP_SOURCE_DIR) / "tests/data/problems/example/port";
    config::WorkItem item;
    item.level = "example";
    item.problem = "port";
    plan.chosen = {item};
    plan.config.run.device = "cuda:0";
    plan.config.run.isa_policy = "gate";
    search.toolkit = folder.path();
    search.use_path = false;
  }

  std::optional<util::Message> missing() {
    return missing_disassembler(plan, installation, search);
  }

  util::TempDir folder;
  Plan plan;
  Installation installation;
  profile::ToolSearch search;
};

TEST(Needs, AGateWithoutADisassemblerIsRefusedWithItsCure) {
  World w;
  const auto missing = w.missing();
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->where, "example/port");
  EXPECT_THAT(missing->what, HasSubstr("nvdisasm was not found"));
  EXPECT_THAT(missing->next, HasSubstr("set CUDA_HOME"));
  EXPECT_THAT(missing->next, HasSubstr("isa_policy = \"warn\""));
}

TEST(Needs, EitherDisassemblerWillDo) {
  for (const char* tool : {"nvdisasm", "cuobjdump"}) {
    World w;
    fs::create_directories(w.folder.path() / "bin");
    const fs::path program = w.folder.path() / "bin" / tool;
    util::write_file_atomic(program, "#!/bin/sh\n");
    ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
    EXPECT_FALSE(w.missing()) << tool;
  }
}

TEST(Needs, NobodyElseNeedsOne) {
  World w;
  w.plan.config.run.isa_policy = "warn";
  EXPECT_FALSE(w.missing());
  w.plan.config.run.isa_policy = "problem";  // the problem itself only wishes for them
  EXPECT_FALSE(w.missing());
  w.plan.config.run.isa_policy = "gate";
  w.plan.config.run.device = "cpu";
  EXPECT_FALSE(w.missing());
  w.plan.config.run.device = "cuda:0";
  w.plan.chosen.clear();
  EXPECT_FALSE(w.missing());
}

}  // namespace
}  // namespace sweep::queue

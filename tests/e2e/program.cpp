#include "program.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace sweep::e2e {

namespace fs = std::filesystem;

Workspace::Workspace() {
  std::string name = (fs::temp_directory_path() / "sweep-e2e-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("mkdtemp failed for " + name);
  }
  folder_ = name;
}

Workspace::~Workspace() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

fs::path Workspace::write(const std::string& name, const std::string& text) const {
  const fs::path file = folder_ / name;
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

Outcome Workspace::sweep(const std::vector<std::string>& arguments,
                         const std::vector<std::string>& env,
                         double seconds) const {
  std::vector<std::string> argv{"sweep"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return start(SWEEP_BINARY, argv, env, seconds);
}

Outcome Workspace::command(const std::vector<std::string>& argv, double seconds) const {
  return start(argv.at(0), argv, {}, seconds);
}

Outcome Workspace::sweep_without(const std::vector<std::string>& what,
                                 const std::vector<std::string>& arguments) const {
  std::vector<std::string> command{SWEEP_BINARY};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_without(what, command);
}

Outcome Workspace::run_without(const std::vector<std::string>& what,
                               const std::vector<std::string>& command) const {
  std::vector<std::string> argv{"without"};
  argv.insert(argv.end(), what.begin(), what.end());
  argv.insert(argv.end(), command.begin(), command.end());
  return start(SWEEP_WITHOUT, argv, {}, 240);
}

Outcome Workspace::start(const std::string& program,
                         const std::vector<std::string>& argv,
                         const std::vector<std::string>& env,
                         double seconds) const {
  const char* cache = std::getenv("SWEEP_CACHE_DIR");
  util::SpawnSpec spec;
  spec.argv = argv;
  spec.env = {"PATH=/usr/local/bin:/usr/bin:/bin",
              "LANG=C.UTF-8",
              "HOME=" + folder_.string(),
              std::string("SWEEP_CACHE_DIR=") + (cache != nullptr ? cache : SWEEP_TEST_CACHE)};
  for (const std::string& entry : env) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    std::erase_if(spec.env, [&](const std::string& old) { return old.starts_with(name); });
    spec.env.push_back(entry);
  }
  spec.work_folder = folder_;
  spec.deadline = seconds;
  const util::Captured done = util::run_program(program, spec, {}, std::size_t{8} << 20);
  EXPECT_FALSE(done.status.timed_out) << argv.at(0) << " ran past " << seconds << " s\n"
                                      << done.err;
  return {done.status.code, done.out, done.err};
}

nlohmann::json Workspace::sweep_json(std::vector<std::string> arguments) const {
  arguments.emplace_back("--json");
  const Outcome outcome = sweep(arguments);
  const nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << outcome.out << outcome.err;
  return json;
}

int Workspace::rows(const std::string& run, const std::string& kind) const {
  std::ifstream file(folder_ / run / "ledger.jsonl");
  EXPECT_TRUE(file) << "no ledger in " << run;
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
    count += row.is_object() && row.value("kind", "") == kind ? 1 : 0;
  }
  return count;
}

}  // namespace sweep::e2e

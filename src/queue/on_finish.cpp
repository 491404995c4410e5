#include "queue/on_finish.h"

#include "util/error.h"
#include "util/process.h"
#include "util/text.h"

namespace sweep::queue {

std::string run_on_finish(const std::string& command,
                          const std::filesystem::path& run,
                          int status) {
  util::SpawnSpec spec;
  for (const std::string_view part : util::split(command, ' ')) {
    if (!part.empty()) {
      spec.argv.emplace_back(part);
    }
  }
  if (spec.argv.empty()) {
    return {};
  }
  const auto program = util::find_program(spec.argv[0]);
  if (!program) {
    return "on_finish: no program '" + util::printable(spec.argv[0]) + "' on PATH";
  }
  spec.env = util::basic_environment();
  spec.env.push_back("SWEEP_RUN=" + std::filesystem::absolute(run).string());
  spec.env.push_back("SWEEP_STATUS=" + std::to_string(status));
  spec.deadline = 60;
  try {
    const util::Captured done = util::run_program(*program, spec);
    return done.status.ok() ? std::string() : "on_finish: " + done.status.text();
  } catch (const util::Error& error) {
    return std::string("on_finish: ") + error.what();
  }
}

}  // namespace sweep::queue

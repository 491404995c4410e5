#include "cli/installation.h"

#include "util/error.h"
#include "util/text.h"

#include <cstdlib>

namespace sweep::cli {

namespace fs = std::filesystem;

fs::path program_path() {
  return fs::read_symlink("/proc/self/exe");
}

fs::path data_root() {
  fs::path folder = program_path().parent_path();
  for (int up = 0; up <= 3; ++up) {
    if (fs::is_directory(folder / "problems") && fs::is_directory(folder / "seeds")) {
      return folder;
    }
    folder = folder.parent_path();
  }
  throw util::UsageError(
      {program_path().string(),
       "no problems/ and seeds/ beside the program or up to three folders above it",
       "keep the program in its tree or make a relocatable folder with scripts/bundle"},
      "E_INSTALL_DATA");
}

fs::path corpus_folder() {
  return data_root() / "tests";
}

problem::Catalog open_catalog(const std::vector<fs::path>& extra) {
  return problem::Catalog(
      problem::default_roots(extra, program_path(), std::getenv("SWEEP_PROBLEMS")));
}

evaluate::Services evaluation_services() {
  evaluate::Services services;
  services.problems = data_root() / "problems";
  services.seeds = data_root() / "seeds";
  services.golden = corpus_folder() / "golden";
  services.program = program_path();
  if (const char* folders = std::getenv("SWEEP_PROBLEMS")) {
    for (const std::string_view part : util::split(folders, ':')) {
      if (!part.empty()) {
        services.more_problems.push_back(fs::absolute(part));
      }
    }
  }
  return services;
}

}  // namespace sweep::cli

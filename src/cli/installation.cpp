#include "cli/installation.h"

#include "util/error.h"

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

problem::Catalog open_catalog(const std::vector<fs::path>& extra) {
  return problem::Catalog(
      problem::default_roots(extra, program_path(), std::getenv("SWEEP_PROBLEMS")));
}

fs::path seed_path(const problem::Entry& entry) {
  const fs::path level = entry.id.substr(0, entry.id.find('/'));
  fs::path path = data_root() / "seeds" / level / (entry.folder.filename().string() + ".cu");
  if (!fs::exists(path)) {
    throw util::UsageError(
        {path.string(), entry.id + " has no seed kernel", "write it: it is the problem's 1.0x"},
        "E_PROBLEM_NO_SEED");
  }
  return path;
}

}  // namespace sweep::cli

#include "profile/tools.h"

#include "util/process.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <system_error>

#include <unistd.h>

namespace sweep::profile {
namespace {

namespace fs = std::filesystem;

// More folders of versions than this are no installation.
constexpr std::size_t kMostVersions = 64;

bool is_program(const fs::path& path) {
  std::error_code error;
  return path.is_absolute() && fs::is_regular_file(path, error) &&
         ::access(path.c_str(), X_OK) == 0;
}

// Numbers count as numbers: 2025.10.0 is newer than 2025.3.1.
bool older(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  const auto digit = [](const std::string& s, std::size_t at) {
    return at < s.size() && std::isdigit(static_cast<unsigned char>(s[at])) != 0;
  };
  while (i < a.size() && j < b.size()) {
    if (!digit(a, i) || !digit(b, j)) {
      if (a[i] != b[j]) {
        return a[i] < b[j];
      }
      ++i;
      ++j;
      continue;
    }
    std::string left;
    std::string right;
    for (; digit(a, i); ++i) {
      left += a[i];
    }
    for (; digit(b, j); ++j) {
      right += b[j];
    }
    left.insert(0, std::max(left.size(), right.size()) - left.size(), '0');
    right.insert(0, std::max(left.size(), right.size()) - right.size(), '0');
    if (left != right) {
      return left < right;
    }
  }
  return a.size() - i < b.size() - j;
}

// VERSION/ncu below `folder`, the newest first.
std::vector<fs::path> nsight_programs(const fs::path& folder) {
  std::vector<std::string> versions;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end;
       !error && at != end && versions.size() < kMostVersions;
       at.increment(error)) {
    versions.push_back(at->path().filename().string());
  }
  std::ranges::sort(versions, [](const auto& a, const auto& b) { return older(b, a); });
  std::vector<fs::path> programs;
  for (const std::string& version : versions) {
    programs.push_back(folder / version / "ncu");
  }
  return programs;
}

std::vector<fs::path> candidates(Tool tool, const ToolSearch& search) {
  std::vector<fs::path> all;
  for (const fs::path& root : {search.cuda_home, search.toolkit}) {
    if (root.empty()) {
      continue;
    }
    all.push_back(root / "bin" / name(tool));
    if (tool == Tool::compute_sanitizer) {
      all.push_back(root / "compute-sanitizer" / name(tool));
      all.push_back(root / "extras" / "compute-sanitizer" / name(tool));
    }
  }
  if (tool == Tool::ncu && !search.nsight.empty()) {
    const std::vector<fs::path> more = nsight_programs(search.nsight);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace

std::string name(Tool tool) {
  switch (tool) {
    case Tool::nvdisasm:
      return "nvdisasm";
    case Tool::cuobjdump:
      return "cuobjdump";
    case Tool::compute_sanitizer:
      return "compute-sanitizer";
    case Tool::ncu:
      return "ncu";
  }
  return {};
}

ToolSearch default_search() {
  ToolSearch search;
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && home[0] == '/') {
    search.cuda_home = home;
  }
  return search;
}

Result<fs::path> find_tool(Tool tool, const ToolSearch& search) {
  for (const fs::path& path : candidates(tool, search)) {
    if (is_program(path)) {
      return path;
    }
  }
  if (search.use_path) {
    if (const auto found = util::find_program(name(tool))) {
      return *found;
    }
  }
  const bool nsight = tool == Tool::ncu;
  return Unavailable{name(tool) + " was not found in $CUDA_HOME, " + search.toolkit.string() +
                         (nsight ? ", " + search.nsight.string() : "") + " or $PATH",
                     nsight ? "install Nsight Compute, or set CUDA_HOME to a toolkit that has it"
                            : "install the CUDA toolkit, or set CUDA_HOME to one that has it"};
}

}  // namespace sweep::profile

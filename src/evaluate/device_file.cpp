#include "evaluate/device_file.h"

#include "compile/cache.h"

namespace sweep::evaluate {
namespace {

std::string safe_file_name(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, 100)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.';
    out += plain ? c : '_';
  }
  return out;
}

}  // namespace

std::filesystem::path device_file(const std::filesystem::path& cache,
                                  const std::string& kind,
                                  const device::Info& info) {
  return (cache.empty() ? compile::default_cache_folder() : cache) / kind /
         (safe_file_name(info.uuid) + (info.driver.empty() ? "" : "-") +
          safe_file_name(info.driver) + ".json");
}

bool has_other_driver(const std::filesystem::path& folder, const device::Info& info) {
  constexpr int kMostFiles = 1000;
  std::error_code error;
  int seen = 0;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().filename().string().starts_with(safe_file_name(info.uuid) + "-")) {
      return true;
    }
    if (++seen >= kMostFiles) {
      break;
    }
  }
  return false;
}

}  // namespace sweep::evaluate

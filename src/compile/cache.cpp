#include "compile/cache.h"

#include "compile/protocol.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdlib>

#include <sys/stat.h>
#include <unistd.h>

namespace sweep::compile {
namespace {

constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kMaxEntry = kMaxBlob + (std::size_t{16} << 20);

// hash of the rest, newline, length of the JSON, newline, JSON, blobs
std::string encode(const Outcome& outcome) {
  const std::string json = to_json(outcome).dump();
  const std::string rest = std::to_string(json.size()) + "\n" + json + blobs_of(outcome);
  return util::sha256_hex(rest) + "\n" + rest;
}

std::optional<Outcome> decode(std::string_view text) {
  if (text.size() < kHashDigits + 1) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(kHashDigits + 1);
  if (util::sha256_hex(rest) != text.substr(0, kHashDigits)) {
    return std::nullopt;
  }
  const std::size_t line = rest.find('\n');
  std::size_t length = 0;
  if (line == std::string_view::npos ||
      std::from_chars(rest.data(), rest.data() + line, length).ptr != rest.data() + line ||
      length > rest.size() - line - 1) {
    return std::nullopt;
  }
  const auto body = wire::parse_object(std::string(rest.substr(line + 1, length)), "compile cache");
  return outcome_from_json(body, rest.substr(line + 1 + length));
}

}  // namespace

std::filesystem::path Cache::file(const std::string& key) const {
  return folder_ / "compiled" / key.substr(0, 2) / key;
}

std::optional<Outcome> Cache::find(const std::string& key) const {
  try {
    return decode(util::read_file(file(key), kMaxEntry));
  } catch (const util::Error&) {
    return std::nullopt;
  }
}

void Cache::store(const std::string& key, const Outcome& outcome) const {
  try {
    const auto path = file(key);
    util::make_folders(path.parent_path());
    chmod(folder_.c_str(), S_IRWXU);
    util::write_file_atomic(path, encode(outcome), 0600);
  } catch (const util::Error&) {
    return;
  }
}

std::filesystem::path default_cache_folder() {
  for (const auto& [name, below] : {std::pair("SWEEP_CACHE_DIR", ""),
                                    std::pair("XDG_CACHE_HOME", "sweep"),
                                    std::pair("HOME", ".cache/sweep")}) {
    const char* value = std::getenv(name);
    if (value != nullptr && value[0] == '/') {
      return below[0] == '\0' ? std::filesystem::path(value) : std::filesystem::path(value) / below;
    }
  }
  return "/tmp/sweep-cache-" + std::to_string(getuid());
}

}  // namespace sweep::compile

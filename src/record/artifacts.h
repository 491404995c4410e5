#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace sweep::record {

// Content-addressed, write-once files: artifacts/<sha256 in 64 lower hex digits>. Safe with several
// processes.
class Artifacts {
 public:
  enum class Use { write, read };

  // `folder` is made if absent, unless nothing will be put there. InfraError E_RUN_WRITE.
  explicit Artifacts(std::filesystem::path folder, Use use = Use::write);

  // Stores the bytes (whole, fsynced, mode 0444) unless already there; returns their hash.
  // InfraError E_RUN_WRITE.
  [[nodiscard]] std::string put(std::string_view bytes) const;

  // The bytes; InfraError E_ARTIFACT_MISSING, E_ARTIFACT_CORRUPT when they no longer hash to their
  // name, or E_ARTIFACT_NAME.
  [[nodiscard]] std::string get(const std::string& sha256,
                                std::size_t max_bytes = std::size_t{256} << 20) const;

  [[nodiscard]] bool has(const std::string& sha256) const;
  [[nodiscard]] std::filesystem::path path(const std::string& sha256) const;

 private:
  std::filesystem::path folder_;
};

// True for 64 lower-case hex digits.
[[nodiscard]] bool is_sha256(std::string_view text);

// True for a name that put() gives a file until it is whole: ".<sha256>.XXXXXX". A kill leaves it.
[[nodiscard]] bool is_unfinished(std::string_view name);

}  // namespace sweep::record

#pragma once

#include "record/claims.h"

#include <optional>
#include <string>
#include <string_view>

// The files of claims, one system call or two at a time; for claims.cpp and its like.
namespace sweep::record {

inline constexpr const char* kResult = ".result";
inline constexpr const char* kKernel = ".kernel";

struct FileState {
  std::string text;  // its first 4 KiB; empty: not written yet
  double changed = 0;
  std::int64_t changed_ns = 0;
  bool readable = true;  // false: there, but a link, a folder, or it cannot be read now
};

// None, with errno: not there, or it cannot be asked for.
[[nodiscard]] std::optional<FileState> look(const std::filesystem::path& file);

// Makes a file that was not there and writes it durably; false: it is there.
[[nodiscard]] bool write_new(const std::filesystem::path& file, std::string_view text);

// Sets the time of change to the file server's now and returns it; none, with errno.
[[nodiscard]] std::optional<double> touch(const std::filesystem::path& file);

// Sets the time of change to 1970; errors are ignored.
void expire(const std::filesystem::path& file);

// A hard link; one that is there already is fine when it is the same file. InfraError.
void link_file(const std::filesystem::path& from, const std::filesystem::path& to);

[[nodiscard]] std::string sign_name(std::string_view task);
// JSON with a nonce.
[[nodiscard]] std::string sign_text(const TaskSign& sign, const std::string& item = {});
// Seconds that a claim's text states, 1 to 86,400; kLease where it states none.
[[nodiscard]] double lease_of(const std::string& text);

}  // namespace sweep::record

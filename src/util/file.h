#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace sweep::util {

// Whole content of a regular file. UsageError "E_FILE_MISSING" when it does not exist,
// "E_FILE_DENIED" when it may not be read, "E_FILE_SIZE" above `max_bytes`, "E_FILE_KIND" for
// anything but a regular file (a FIFO must not block); InfraError else. Links::refuse: a path whose
// last part is a symbolic link is "E_FILE_KIND", for files that a hostile child left.
enum class Links { follow, refuse };
[[nodiscard]] std::string read_file(const std::filesystem::path& path,
                                    std::size_t max_bytes,
                                    Links links = Links::follow);

// Replaces `path` in one step: readers see the old or the new content, also after a power cut.
// A temporary file beside it is written, fsynced and renamed, then the folder is fsynced. The
// folder must exist.
void write_file_atomic(const std::filesystem::path& path,
                       std::string_view bytes,
                       unsigned mode = 0644);

// Appends with one write where possible and fsyncs; makes the file (mode 0644) when it is missing.
void append_durable(const std::filesystem::path& path, std::string_view bytes);

// fsync of a folder, so that names made in it survive a power cut.
void sync_folder(const std::filesystem::path& folder);

// Makes the folder and its parents. InfraError naming the folder.
void make_folders(const std::filesystem::path& folder);

// True when `path` names something below a root: not empty, not absolute, no '..' part, no NUL
// byte.
[[nodiscard]] bool is_inside_path(std::string_view path);

// root / path. UsageError "E_PATH" when !is_inside_path(path). Symbolic links are not looked at.
[[nodiscard]] std::filesystem::path join_inside(const std::filesystem::path& root,
                                                std::string_view path);

// A fresh folder (mode 0700) that is removed with its content at the end.
class TempDir {
 public:
  // Below `parent`, else $TMPDIR, else /tmp.
  explicit TempDir(std::string_view prefix = "sweep", const std::filesystem::path& parent = {});
  ~TempDir();
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  void remove() noexcept;

  std::filesystem::path path_;
};

}  // namespace sweep::util

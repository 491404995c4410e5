#pragma once

#include "util/fd.h"

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace sweep::util {

// A fresh folder (mode 0700) for a role's files, removed with its content at the end. While it is
// alive it is locked (flock, which the kernel drops when the process dies), so that a folder whose
// maker was killed can be told from one in use, also from within other containers.
class WorkFolder {
 public:
  // PREFIX-XXXXXX below `parent`, else $TMPDIR, else /tmp.
  explicit WorkFolder(std::string_view prefix, const std::filesystem::path& parent = {});
  ~WorkFolder();
  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&& other) = delete;
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  Fd lock_;
};

// Removes folders PREFIX-XXXXXX of WorkFolder below `parent` (as above) whose maker is gone: those
// of this user, or for root of any, that nobody locks. Links are not followed. What cannot be
// removed is left. Says how many were removed.
std::size_t remove_abandoned(std::string_view prefix, const std::filesystem::path& parent = {});

}  // namespace sweep::util

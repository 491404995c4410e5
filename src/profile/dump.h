#pragma once

#include "util/fd.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::profile {

// A folder that a user named for everything about one evaluation.
class DumpFolder {
 public:
  // Makes the folder (mode 0755), or takes an empty one. util::UsageError "E_DUMP_FOLDER" where it
  // has something in it, is no folder or is a symbolic link, or where its parent is missing.
  explicit DumpFolder(const std::filesystem::path& path);

  // A new file; `name` is one path part of [A-Za-z0-9._-]. Symbolic links are never followed,
  // nothing is replaced: util::InfraError where such a name is there already.
  void write(const std::string& name, std::string_view bytes);

  struct Written {
    std::string name;
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] const std::vector<Written>& written() const { return written_; }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  util::Fd folder_;
  std::vector<Written> written_;
};

}  // namespace sweep::profile

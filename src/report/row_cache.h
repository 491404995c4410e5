#pragma once

#include "record/ledger.h"
#include "report/row.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sweep::report {

// Which file this is and in which state: a change of its bytes changes the stamp, since nobody can
// set the time of the last change of an inode.
struct FileStamp {
  std::int64_t size = -1;  // -1: no regular file
  std::int64_t modified_ns = 0, changed_ns = 0;
  std::int64_t inode = 0;

  bool operator==(const FileStamp&) const = default;
};

// Of the file itself; a symbolic link is none.
[[nodiscard]] FileStamp stamp_of(const std::filesystem::path& file);

// What a build made of one trajectory file.
struct CachedRow {
  FileStamp trajectory;
  FileStamp page;
  std::string made_with;  // whatever else the page was made from
  Row row;
};

// By the trajectory's path in the run.
using RowCache = std::map<std::string, CachedRow>;

// What a build made of rows.
struct CachedPage {
  FileStamp file;
  std::string made_from;  // digest of what its body was made from
  std::string frame;      // digest of its head and foot
};

// By the page's path in the report folder.
using PageCache = std::map<std::string, CachedPage>;

// What a build leaves for the next one.
struct Saved {
  record::LedgerDigest ledger;
  RowCache rows;
  PageCache pages;
};

// 32 bytes that differ where any field of the row but Row::digest does.
[[nodiscard]] std::string digest_of(const Row& row);

// One file's bytes and back. `maker` names the program that made it. The reader takes only what the
// same maker wrote whole (SHA-256 over all of it), within bounds, and nothing of anything else:
// then all is made anew. The hash finds damage; who can write the report's folder can forge the
// file just as he can the pages beside it, so nothing but the report rests on it.
[[nodiscard]] std::string to_bytes(const Saved& saved, std::string_view maker);
[[nodiscard]] std::optional<Saved> saved_from(std::string_view bytes, std::string_view maker);

// This program's file: size and times.
[[nodiscard]] std::string this_program();

}  // namespace sweep::report

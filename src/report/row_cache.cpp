#include "report/row_cache.h"

#include "record/json.h"
#include "report/row_fields.h"
#include "util/sha256.h"

#include <nlohmann/json.hpp>

#include <bit>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>
#include <sys/stat.h>

namespace sweep::report {

namespace {

constexpr std::string_view kMagic = "sweep rows 2\n";
constexpr std::size_t kHash = 64;

template <class V, record::Is<FileStamp> T>
void fields(V& v, T& x) {
  v("size", x.size);
  v("modified_ns", x.modified_ns);
  v("changed_ns", x.changed_ns);
  v("inode", x.inode);
}

template <class V, record::Is<CachedRow> T>
void fields(V& v, T& x) {
  v("trajectory", x.trajectory);
  v("page", x.page);
  v("made_with", x.made_with);
  v("row", x.row);
  v("digest", x.row.digest);
}

template <class V, record::Is<CachedPage> T>
void fields(V& v, T& x) {
  v("file", x.file);
  v("made_from", x.made_from);
  v("frame", x.frame);
}

template <class V, record::Is<record::LedgerDigest> T>
void fields(V& v, T& x) {
  v("bytes", x.bytes);
  v("sha256", x.sha256);
  v("rows", x.rows);
  v("head", x.head);
  v("last_time", x.last_time);
  v("run_rows", x.run_rows);
}

// Of a row of the ledger, what its reader is asked for.
template <class V, record::Is<record::Row> T>
void fields(V& v, T& x) {
  v("seq", x.seq);
  v("time", x.time);
  v("kind", x.kind);
  v("data", x.data);
}

template <class V, record::Is<Saved> T>
void fields(V& v, T& x) {
  v("ledger", x.ledger);
  v("rows", x.rows);
  v("pages", x.pages);
}

// Numbers as 8 bytes, lists and texts after their length, what may be unset after a byte. Read by
// the program that wrote it on the machine that it ran on, so in its byte order.
class ByteWriter {
 public:
  std::string out;

  template <class T>
  void operator()(const char* /*name*/, const T& value) {
    put(value);
  }

  void put(const std::string& value) {
    put(static_cast<std::int64_t>(value.size()));
    out += value;
  }

  void put(const nlohmann::json& value) { put(record::canonical(value)); }

  void put(bool value) { out.push_back(value ? '\1' : '\0'); }

  void put(double value) { put(std::bit_cast<std::int64_t>(value)); }

  void put(std::int64_t value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out.append(bytes, sizeof value);
  }

  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) {
      put(*value);
    }
  }

  template <class T>
  void put(const std::vector<T>& value) {
    put(static_cast<std::int64_t>(value.size()));
    for (const T& one : value) {
      put(one);
    }
  }

  template <class T>
  void put(const std::map<std::string, T>& value) {
    put(static_cast<std::int64_t>(value.size()));
    for (const auto& [name, one] : value) {
      put(name);
      put(one);
    }
  }

  template <class T>
  requires std::is_class_v<T>

  void put(const T& value) { fields(*this, value); }
};

// Sets `good` to false, and reads nothing more, at the first thing that is not as written.
class ByteReader {
 public:
  explicit ByteReader(std::string_view from) : from_(from) {}

  [[nodiscard]] bool good() const { return good_; }

  [[nodiscard]] bool done() const { return good_ && from_.empty(); }

  template <class T>
  void operator()(const char* /*name*/, T& value) {
    get(value);
  }

  void get(std::string& value) { value = take(length(1)); }

  void get(nlohmann::json& value) {
    std::string text;
    get(text);
    value = nlohmann::json::parse(text, nullptr, false);
    good_ = good_ && value.is_object();
  }

  void get(bool& value) {
    const std::string_view byte = take(1);
    good_ = good_ && (byte[0] == '\0' || byte[0] == '\1');
    value = good_ && byte[0] == '\1';
  }

  void get(double& value) {
    std::int64_t bits = 0;
    get(bits);
    value = std::bit_cast<double>(bits);
  }

  void get(std::int64_t& value) {
    const std::string_view bytes = take(sizeof value);
    if (good_) {
      std::memcpy(&value, bytes.data(), sizeof value);
    }
  }

  template <class T>
  void get(std::optional<T>& value) {
    bool there = false;
    get(there);
    value.reset();
    if (there) {
      get(value.emplace());
    }
  }

  template <class T>
  void get(std::vector<T>& value) {
    const std::size_t count = length(8);
    value.clear();
    for (std::size_t i = 0; i < count && good_; ++i) {
      get(value.emplace_back());
    }
  }

  template <class T>
  void get(std::map<std::string, T>& value) {
    value.clear();
    const std::size_t count = length(8);
    for (std::size_t i = 0; i < count && good_; ++i) {
      std::string name;
      get(name);
      get(value[std::move(name)]);
    }
  }

  template <class T>
  requires std::is_class_v<T>

  void get(T& value) { fields(*this, value); }

 private:
  std::string_view take(std::size_t bytes) {
    if (!good_ || bytes > from_.size()) {
      good_ = false;
      return "\2";
    }
    const std::string_view taken = from_.substr(0, bytes);
    from_.remove_prefix(bytes);
    return taken;
  }

  // Of a list whose elements take at least `least` bytes each: no more than can be there.
  std::size_t length(std::size_t least) {
    std::int64_t count = 0;
    get(count);
    if (count < 0 || static_cast<std::uint64_t>(count) > from_.size() / least) {
      good_ = false;
      return 0;
    }
    return static_cast<std::size_t>(count);
  }

  std::string_view from_;
  bool good_ = true;
};

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

FileStamp stamp_from(const struct stat& found) {
  return {static_cast<std::int64_t>(found.st_size),
          nanoseconds(found.st_mtim),
          nanoseconds(found.st_ctim),
          static_cast<std::int64_t>(found.st_ino)};
}

}  // namespace

FileStamp stamp_of(const std::filesystem::path& file) {
  struct stat found {};

  return ::lstat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode) ? stamp_from(found)
                                                                      : FileStamp{};
}

std::string this_program() {
  struct stat found {};

  if (::stat("/proc/self/exe", &found) != 0) {
    return {};
  }
  const FileStamp stamp = stamp_from(found);
  return fmt::format("{} {} {}", stamp.size, stamp.modified_ns, stamp.inode);
}

std::string digest_of(const Row& row) {
  ByteWriter writer;
  writer.put(row);
  const util::Digest digest = util::sha256(writer.out);
  return {digest.begin(), digest.end()};
}

std::string to_bytes(const Saved& saved, std::string_view maker) {
  constexpr std::size_t kRowBytes = 4096;  // more than most take; what is not used costs no memory
  ByteWriter writer;
  writer.out.reserve(kRowBytes * (1 + saved.rows.size()));
  writer.out = kMagic;
  writer.out.resize(kMagic.size() + kHash);
  writer.put(std::string(maker));
  writer.put(saved);
  const std::string_view body = std::string_view(writer.out).substr(kMagic.size() + kHash);
  writer.out.replace(kMagic.size(), kHash, util::sha256_hex(body));
  return std::move(writer.out);
}

std::optional<Saved> saved_from(std::string_view bytes, std::string_view maker) {
  if (maker.empty() || !bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + kHash) {
    return std::nullopt;
  }
  const std::string_view hash = bytes.substr(kMagic.size(), kHash);
  const std::string_view body = bytes.substr(kMagic.size() + kHash);
  if (util::sha256_hex(body) != hash) {
    return std::nullopt;
  }
  ByteReader reader(body);
  std::string made_by;
  reader.get(made_by);
  Saved saved;
  if (!reader.good() || made_by != maker) {
    return std::nullopt;
  }
  reader.get(saved);
  return reader.done() ? std::optional(std::move(saved)) : std::nullopt;
}

}  // namespace sweep::report

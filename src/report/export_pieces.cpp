#include "report/export_pieces.h"

#include "record/run_dir.h"
#include "report/page_file.h"
#include "util/error.h"
#include "util/fd.h"
#include "util/sha256.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace sweep::report {

namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr std::size_t kMostIndex = std::size_t{64} << 20U;

json stamp_json(const FileStamp& stamp) {
  return {stamp.size, stamp.modified_ns, stamp.changed_ns, stamp.inode};
}

FileStamp stamp_from_json(const json& from) {
  return {from.at(0).get<std::int64_t>(),
          from.at(1).get<std::int64_t>(),
          from.at(2).get<std::int64_t>(),
          from.at(3).get<std::int64_t>()};
}

PiecedFile file_from_json(const json& from) {
  PiecedFile out{stamp_from_json(from.at("stamp")), from.at("frame").get<std::string>(), {}};
  for (const json& piece : from.at("pieces")) {
    out.pieces.push_back({piece.at(0).get<std::string>(),
                          piece.at(1).get<std::uint64_t>(),
                          piece.at(2).get<std::uint64_t>()});
  }
  return out;
}

// Whether all of these bytes of the file were there to read.
bool read_at(int fd, char* into, std::size_t bytes, std::size_t at) {
  while (bytes > 0) {
    const ssize_t size = ::pread(fd, into, bytes, static_cast<off_t>(at));
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return false;
    }
    into += size;
    at += static_cast<std::size_t>(size);
    bytes -= static_cast<std::size_t>(size);
  }
  return true;
}

}  // namespace

PieceIndex read_pieces(const fs::path& folder) {
  PieceIndex out;
  const fs::path file = folder / kPiecesFile;
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error))) {
    return out;
  }
  try {
    const json from = json::parse(record::read_whole(file, kMostIndex));
    if (from.at("maker") != this_program() || this_program().empty()) {
      return out;
    }
    for (const auto& [name, one] : from.at("files").items()) {
      out.emplace(name, file_from_json(one));
    }
  } catch (const json::exception&) {
    return {};
  } catch (const util::Error&) {
    return {};
  }
  return out;
}

void write_pieces(const fs::path& folder, const PieceIndex& index) {
  json files = json::object();
  for (const auto& [name, file] : index) {
    json pieces = json::array();
    for (const Piece& piece : file.pieces) {
      pieces.push_back({piece.digest, piece.bytes, piece.rows});
    }
    files[name] = {{"stamp", stamp_json(file.stamp)}, {"frame", file.frame}, {"pieces", pieces}};
  }
  (void)write_page(folder / kPiecesFile,
                   json{{"maker", this_program()}, {"files", std::move(files)}}.dump());
}

std::string PieceFrame::digest() const {
  util::Sha256 hash;
  for (const std::string* part : {&head, &first, &next, &some_end, &no_end}) {
    hash.update(util::sha256_hex(*part));
  }
  return util::to_hex(hash.finish());
}

PiecedText::PiecedText(fs::path file, PieceFrame frame, PiecedFile known)
    : file_(std::move(file)), frame_(std::move(frame)), known_(std::move(known)) {
  usable_ =
      known_.stamp.size >= 0 && known_.stamp == stamp_of(file_) && known_.frame == frame_.digest();
  if (usable_) {
    find_places();
  }
  add_text(frame_.head);
}

void PiecedText::find_places() {
  std::size_t at = frame_.head.size();
  bool any = false;
  const auto size = static_cast<std::size_t>(known_.stamp.size);
  for (const Piece& piece : known_.pieces) {
    if (piece.rows > 0) {
      at += (any ? frame_.next : frame_.first).size();
      any = true;
    }
    if (at > size || piece.bytes > size - at) {
      usable_ = false;  // no such file was written
      places_.clear();
      return;
    }
    if (!piece.digest.empty()) {
      places_[piece.digest] = {at, piece};
    }
    at += piece.bytes;
  }
}

bool PiecedText::is_current(const std::vector<std::string>& digests) const {
  return usable_ && std::equal(digests.begin(),
                               digests.end(),
                               known_.pieces.begin(),
                               known_.pieces.end(),
                               [](const std::string& digest, const Piece& piece) {
                                 return !digest.empty() && digest == piece.digest;
                               });
}

bool PiecedText::has(const std::string& digest) const {
  return places_.contains(digest);
}

void PiecedText::take(const std::string& digest) {
  const Place& place = places_.at(digest);
  begin_piece(place.piece);
  if (place.piece.bytes > 0) {
    parts_.push_back({place.at, place.piece.bytes, {}});
    size_ += place.piece.bytes;
  }
}

void PiecedText::add(const std::string& digest, std::string_view text, std::uint64_t rows) {
  begin_piece({digest, text.size(), rows});
  add_text(text);
}

void PiecedText::add_text(std::string_view text) {
  if (parts_.empty() || parts_.back().kept > 0) {
    parts_.emplace_back();
  }
  parts_.back().text += text;
  size_ += text.size();
}

void PiecedText::begin_piece(const Piece& piece) {
  if (piece.rows > 0) {
    add_text(rows() > 0 ? frame_.next : frame_.first);
  }
  pieces_.push_back(piece);
}

std::uint64_t PiecedText::rows() const {
  std::uint64_t out = 0;
  for (const Piece& piece : pieces_) {
    out += piece.rows;
  }
  return out;
}

bool PiecedText::is_in_place(int old) const {
  bool same = usable_ && old >= 0 && size_ == static_cast<std::size_t>(known_.stamp.size);
  std::string there;
  std::size_t at = 0;
  for (std::size_t i = 0; same && i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.kept > 0) {
      same = part.at == at;
    } else {
      there.resize(part.text.size());
      same = read_at(old, there.data(), there.size(), at) && there == part.text;
    }
    at += part.kept + part.text.size();
  }
  return same;
}

std::string PiecedText::whole(int old) const {
  std::string out;
  out.reserve(size_);
  std::string step(std::size_t{1} << 16U, '\0');
  for (const Part& part : parts_) {
    out += part.text;
    for (std::size_t done = 0; done < part.kept;) {
      const std::size_t size = std::min(step.size(), part.kept - done);
      if (old < 0 || !read_at(old, step.data(), size, part.at + done)) {
        throw util::InfraError(
            {file_.string(), "changed while it was read", "write the export once more"},
            "E_EXPORT_CHANGED");
      }
      out.append(step, 0, size);
      done += size;
    }
  }
  return out;
}

PiecedFile PiecedText::put() {
  add_text(rows() > 0 ? frame_.some_end : frame_.no_end);
  const util::Fd old(usable_ ? ::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                             : -1);
  if (is_in_place(old.get())) {
    return {known_.stamp, frame_.digest(), pieces_};
  }
  (void)write_page(file_, whole(old.get()));
  return {stamp_of(file_), frame_.digest(), pieces_};
}

}  // namespace sweep::report

#pragma once

#include "report/row_cache.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::report {

// The rows of some items in a data file.
struct Piece {
  std::string digest;  // of what they were made from; empty: not known
  std::uint64_t bytes = 0;
  std::uint64_t rows = 0;
};

// How an earlier export wrote a file.
struct PiecedFile {
  FileStamp stamp;
  std::string frame;  // digest of what stands around the pieces
  std::vector<Piece> pieces;
};

// By name.
using PieceIndex = std::map<std::string, PiecedFile>;

// The index that an earlier export of the same program left in `folder`. Hostile file: empty where
// it is none.
[[nodiscard]] PieceIndex read_pieces(const std::filesystem::path& folder);
void write_pieces(const std::filesystem::path& folder, const PieceIndex& index);

// Its name there.
inline constexpr std::string_view kPiecesFile = ".pieces";

// What stands around the pieces of a file. Pieces without rows leave no trace.
struct PieceFrame {
  std::string head;
  std::string first, next;       // before the first piece; before each other one
  std::string some_end, no_end;  // after the pieces; where there are none

  [[nodiscard]] std::string digest() const;
};

// A data file that is put together from pieces, old ones taken from the file as it is.
class PiecedText {
 public:
  // `known`: what the index says of the file.
  PiecedText(std::filesystem::path file, PieceFrame frame, PiecedFile known);

  // Whether the file holds just these pieces, so that nothing is to be done.
  [[nodiscard]] bool is_current(const std::vector<std::string>& digests) const;

  // Whether the file has a piece of this digest to take.
  [[nodiscard]] bool has(const std::string& digest) const;

  // Adds the next piece: one that has() finds, or a new one.
  void take(const std::string& digest);
  void add(const std::string& digest, std::string_view text, std::uint64_t rows);

  // Rows of all pieces so far.
  [[nodiscard]] std::uint64_t rows() const;

  // Writes the file, unless all of it stands there already, and says what the index is to say of
  // it. InfraError on disk trouble.
  [[nodiscard]] PiecedFile put();

 private:
  struct Place {
    std::size_t at = 0;
    Piece piece;
  };

  // Of the new file: a part of the old one, or a text.
  struct Part {
    std::size_t at = 0, kept = 0;  // bytes of the old file; kept 0: a text
    std::string text;
  };

  void find_places();
  void begin_piece(const Piece& piece);
  void add_text(std::string_view text);
  // Whether the old file, open as `old`, has these parts at their places already.
  [[nodiscard]] bool is_in_place(int old) const;
  [[nodiscard]] std::string whole(int old) const;

  std::filesystem::path file_;
  PieceFrame frame_;
  PiecedFile known_;
  bool usable_ = false;                  // the file is as the index says
  std::map<std::string, Place> places_;  // its pieces
  std::vector<Part> parts_;
  std::size_t size_ = 0;  // of all parts
  std::vector<Piece> pieces_;
};

}  // namespace sweep::report

#include "profile/csv.h"

namespace sweep::profile {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, const CsvLimits& limits) : text_(text), limits_(limits) {}

  Csv read() {
    while (at_ < text_.size() && !full_) {
      const char c = text_[at_++];
      if (quoted_) {
        inside(c);
      } else if (c == '"' && cell_.empty() && !touched_) {
        quoted_ = true;
        touched_ = true;
      } else if (c == ',') {
        end_cell();
      } else if (c == '\n') {
        end_row();
      } else if (c != '\r') {
        add(c);
      }
    }
    csv_.complete = csv_.complete && !quoted_ && !full_;
    if (!full_) {
      end_row();
    }
    return std::move(csv_);
  }

 private:
  void inside(char c) {
    if (c != '"') {
      add(c);
    } else if (at_ < text_.size() && text_[at_] == '"') {
      ++at_;
      add('"');
    } else {
      quoted_ = false;
    }
  }

  void add(char c) {
    if (cell_.size() < limits_.cell) {
      cell_ += c;
    } else {
      csv_.complete = false;
    }
  }

  void end_cell() {
    if (row_.size() < limits_.columns && cells_ < limits_.cells) {
      row_.push_back(std::move(cell_));
      ++cells_;
    } else {
      csv_.complete = false;
    }
    cell_.clear();
    touched_ = false;
  }

  void end_row() {
    if (row_.empty() && cell_.empty() && !touched_) {
      return;
    }
    end_cell();
    if (csv_.rows.size() == limits_.rows || cells_ >= limits_.cells) {
      full_ = true;
      return;
    }
    csv_.rows.push_back(std::move(row_));
    row_.clear();
  }

  std::string_view text_;
  const CsvLimits& limits_;
  Csv csv_;
  std::vector<std::string> row_;
  std::string cell_;
  std::size_t at_ = 0;
  std::size_t cells_ = 0;
  bool quoted_ = false;
  bool touched_ = false;  // the cell began with a quote: "" is a cell, too
  bool full_ = false;
};

}  // namespace

Csv parse_csv(std::string_view text, const CsvLimits& limits) {
  return CsvReader(text, limits).read();
}

}  // namespace sweep::profile

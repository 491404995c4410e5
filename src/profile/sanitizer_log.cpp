#include "profile/sanitizer_log.h"

#include "util/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

namespace sweep::profile {
namespace {

constexpr std::size_t kMostField = 512;
constexpr std::string_view kMark = "=========";

std::string bounded(std::string_view text) {
  return util::printable(util::trim(text).substr(0, kMostField));
}

// The first whole number in a text; -1: none.
std::int64_t first_number(std::string_view text) {
  const std::size_t at = text.find_first_of("0123456789");
  std::int64_t value = -1;
  if (at != std::string_view::npos) {
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    value = error == std::errc() ? value : -1;
  }
  return value;
}

// What lies between `begin` and the next `end`, with both; empty if it is not there.
std::string_view between(std::string_view text, std::string_view begin, char end) {
  const std::size_t from = text.find(begin);
  if (from == std::string_view::npos) {
    return {};
  }
  const std::size_t to = text.find(end, from + begin.size());
  return to == std::string_view::npos ? std::string_view() : text.substr(from, to + 1 - from);
}

// "scale(float *, int)+0x90 in k.cu:12" or "0x90 in scale(float*)".
void read_place(std::string_view text, Finding& finding) {
  if (text.starts_with("0x")) {
    const std::size_t in = text.find(" in ");
    finding.offset = "+" + bounded(text.substr(0, in));
    if (in != std::string_view::npos) {
      finding.kernel = bounded(text.substr(in + 4));
    }
    return;
  }
  const std::size_t plus = text.rfind("+0x");
  finding.kernel = bounded(text.substr(0, plus));
  if (plus != std::string_view::npos) {
    const std::string_view rest = text.substr(plus);
    finding.offset = bounded(rest.substr(0, rest.find(' ')));
  }
}

// "by thread (96,0,0) in block (3,0,0)"
void read_thread(std::string_view text, Finding& finding) {
  const std::size_t block = text.find(" in block ");
  finding.thread = bounded(between(text.substr(0, block), "(", ')'));
  if (block != std::string_view::npos) {
    finding.block = bounded(between(text.substr(block), "(", ')'));
  }
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

class LogReader {
 public:
  void line(std::string_view line) {
    if (!line.starts_with(kMark)) {
      return;
    }
    line.remove_prefix(kMark.size());
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view text = util::trim(line);
    if (text.empty()) {
      flush();
    } else if (indent <= 1) {
      flush();
      head(text);
    } else if (open_) {
      detail(text);
    }
  }

  SanitizerLog finish() {
    flush();
    return std::move(log_);
  }

 private:
  void note(std::string_view text) {
    if (log_.notes.size() < kMostNotes) {
      log_.notes.push_back(bounded(text));
    }
  }

  // A line that begins something: the tool's own words, or a finding.
  void head(std::string_view text) {
    const bool race = contains_any(text, {"Race reported", "Potential ", " hazard "});
    if (text.starts_with("COMPUTE-SANITIZER")) {
      return;
    }
    if (text.find(" SUMMARY:") != std::string_view::npos) {
      if (!text.starts_with("LEAK")) {
        log_.reported = std::max<std::int64_t>(log_.reported, first_number(text));
      }
      return;
    }
    if (!race && (text.starts_with("Error:") || text.starts_with("Warning:") ||
                  contains_any(text,
                               {"Target application",
                                "Internal Sanitizer",
                                "Internal Error",
                                "not supported",
                                "No CUDA",
                                "Insufficient",
                                "Failed to",
                                "Unable to",
                                "process didn't",
                                "No attachable",
                                "--help"}))) {
      note(text);
      return;
    }
    open_.emplace();
    counted_ = false;
    const std::size_t at = race ? text.find(" at ") : std::string_view::npos;
    open_->kind = bounded(text.substr(0, at));
    if (at != std::string_view::npos) {
      read_place(text.substr(at + 4), *open_);
    }
  }

  void detail(std::string_view text) {
    if (text.starts_with("at ") && open_->kernel.empty()) {
      read_place(text.substr(3), *open_);
    } else if (text.starts_with("by thread ") && open_->thread.empty()) {
      read_thread(text, *open_);
    } else if (contains_any(text, {"Host Frame", "host backtrace", "Device Frame"})) {
      return;
    } else {
      if (text.starts_with("Address ") && open_->address.empty()) {
        const std::string_view rest = text.substr(8);
        open_->address = bounded(rest.substr(0, rest.find(' ')));
      }
      if (const std::string_view hazards = between(text, "[", ']');
          hazards.ends_with(" hazards]") || hazards.ends_with(" hazard]")) {
        // One access may race with several others, each on a line of its own.
        constexpr std::int64_t kMost = std::int64_t{1} << 40U;
        const std::int64_t more = std::clamp<std::int64_t>(first_number(hazards), 1, kMost);
        open_->count = std::min(kMost, std::exchange(counted_, true) ? open_->count + more : more);
      }
      if (open_->detail.size() < kMostField) {
        open_->detail += (open_->detail.empty() ? "" : "; ") + bounded(text);
      }
    }
  }

  void flush() {
    if (!open_) {
      return;
    }
    const auto same = std::ranges::find_if(log_.findings, [this](const Finding& other) {
      return other.kind == open_->kind && other.kernel == open_->kernel &&
             other.offset == open_->offset;
    });
    if (same != log_.findings.end()) {
      same->count += std::min(open_->count, std::numeric_limits<std::int64_t>::max() - same->count);
    } else if (log_.findings.size() < kMostFindings) {
      log_.findings.push_back(std::move(*open_));
    } else {
      log_.complete = false;
    }
    open_.reset();
  }

  SanitizerLog log_;
  std::optional<Finding> open_;
  bool counted_ = false;  // a line said how many hazards
};

}  // namespace

SanitizerLog parse_sanitizer(std::string_view text) {
  LogReader reader;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    reader.line(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return reader.finish();
}

}  // namespace sweep::profile

#include "problem/catalog.h"

#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <system_error>

namespace sweep::problem {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxProblemFile = 1 << 20;
constexpr std::array<std::string_view, 6> kLevels{
    "level1", "level2", "level3", "level5", "sci", "ptx"};

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string without_zeros(std::string_view digits) {
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  return std::string(digits.substr(first));
}

// "03_relu" -> "3", "heat2d_x" -> "heat2d", "heat2d" -> "heat2d".
std::string part_of_folder(std::string_view name) {
  const std::size_t end = std::min(name.find('_'), name.size());
  const std::string_view head = name.substr(0, end);
  return all_digits(head) ? without_zeros(head) : std::string(head);
}

// The canonical form of what a user writes: "level1/03_relu" -> "level1/3".
std::string canonical(std::string_view id) {
  const std::size_t slash = id.find('/');
  if (slash == std::string_view::npos) {
    return std::string(id);
  }
  const std::string_view rest = id.substr(slash + 1);
  const std::size_t end = std::min(rest.find('_'), rest.size());
  const bool numbered = all_digits(rest.substr(0, end));
  return std::string(id.substr(0, slash + 1)) +
         (numbered ? without_zeros(rest.substr(0, end)) : std::string(rest));
}

std::tuple<std::size_t, std::string, bool, long, std::string> order_of(const Entry& entry) {
  const std::size_t slash = std::min(entry.id.find('/'), entry.id.size());
  const std::string level = entry.id.substr(0, slash);
  const std::string rest = slash < entry.id.size() ? entry.id.substr(slash + 1) : "";
  const auto known =
      static_cast<std::size_t>(std::find(kLevels.begin(), kLevels.end(), level) - kLevels.begin());
  long number = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return {known, level, !all_digits(rest), all_digits(rest) ? number : 0, rest};
}

// Title, domain and slates of a problem.toml; a file that cannot be read keeps its id, so that
// `check` can name it.
void read_head(Entry& entry) {
  try {
    const toml::table root =
        toml::parse(util::read_file(entry.folder / "problem.toml", kMaxProblemFile));
    entry.id = root["id"].value_or(entry.id);
    entry.title = root["title"].value_or(std::string());
    entry.domain = root["domain"].value_or(std::string());
    if (const toml::array* slates = root["slates"].as_array()) {
      for (const toml::node& slate : *slates) {
        entry.slates.push_back(slate.value_or(std::string()));
      }
    }
  } catch (const toml::parse_error&) {
    entry.title = "(problem.toml does not parse)";
  } catch (const util::UsageError&) {
    entry.title = "(problem.toml cannot be read)";
  }
}

std::vector<fs::path> folders_of(const fs::path& root) {
  std::vector<fs::path> out;
  std::error_code fault;
  for (fs::directory_iterator at(root, fault), end; !fault && at != end; at.increment(fault)) {
    if (at->is_directory(fault)) {
      out.push_back(at->path());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

Entry entry_of(const fs::path& folder, const std::string& level) {
  Entry entry;
  entry.folder = folder;
  entry.id = level + "/" + part_of_folder(folder.filename().string());
  read_head(entry);
  return entry;
}

std::vector<Entry> found_in(const fs::path& root) {
  if (fs::exists(root / "problem.toml")) {
    const fs::path whole = fs::absolute(root).lexically_normal();
    const fs::path folder = whole.has_filename() ? whole : whole.parent_path();
    return {entry_of(folder, folder.parent_path().filename().string())};
  }
  std::vector<Entry> out;
  for (const fs::path& level : folders_of(root)) {
    for (const fs::path& folder : folders_of(level)) {
      if (fs::exists(folder / "problem.toml")) {
        out.push_back(entry_of(folder, level.filename().string()));
      }
    }
  }
  return out;
}

std::vector<Entry> planned_in(const fs::path& root) {
  const fs::path file = root / "catalogue.toml";
  if (!fs::exists(file)) {
    return {};
  }
  try {
    const toml::table table = toml::parse(util::read_file(file, kMaxProblemFile));
    std::vector<Entry> out;
    if (const toml::array* list = table["problem"].as_array()) {
      for (const toml::node& node : *list) {
        const toml::table* row = node.as_table();
        if (row == nullptr || !(*row)["id"].is_string()) {
          throw util::UsageError({file.string(), "an entry has no id", "write id = \"level1/1\""},
                                 "E_CATALOGUE");
        }
        Entry entry;
        entry.id = (*row)["id"].value_or(std::string());
        entry.title = (*row)["title"].value_or(std::string());
        entry.domain = (*row)["domain"].value_or(std::string());
        if (const toml::array* slates = (*row)["slates"].as_array()) {
          for (const toml::node& slate : *slates) {
            entry.slates.push_back(slate.value_or(std::string()));
          }
        }
        out.push_back(std::move(entry));
      }
    }
    return out;
  } catch (const toml::parse_error& fault) {
    const auto& begin = fault.source().begin;
    throw util::UsageError(
        {file.string() + ":" + std::to_string(begin.line) + ":" + std::to_string(begin.column),
         std::string(fault.description()),
         "mend the catalogue"},
        "E_CATALOGUE");
  }
}

// `*` and `?` stay inside one part, `**` crosses '/'.
bool glob(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) {
    return text.empty();
  }
  if (pattern.substr(0, 2) == "**") {
    for (std::size_t skip = 0; skip <= text.size(); ++skip) {
      if (glob(pattern.substr(2), text.substr(skip))) {
        return true;
      }
    }
    return false;
  }
  if (pattern.front() == '*') {
    for (std::size_t skip = 0; skip <= text.size(); ++skip) {
      if (glob(pattern.substr(1), text.substr(skip))) {
        return true;
      }
      if (skip < text.size() && text[skip] == '/') {
        return false;
      }
    }
    return false;
  }
  const bool same = !text.empty() && (pattern.front() == text.front() ||
                                      (pattern.front() == '?' && text.front() != '/'));
  return same && glob(pattern.substr(1), text.substr(1));
}

constexpr std::size_t kMaxPattern = 256;
constexpr std::string_view kSlate = "slate:";

}  // namespace

Catalog::Catalog(const std::vector<fs::path>& roots) {
  std::set<std::string> seen;
  std::vector<Entry> planned;
  for (const fs::path& root : roots) {
    if (!fs::is_directory(root)) {
      throw util::UsageError(
          {root.string(), "no such folder of problems", "check --problem and SWEEP_PROBLEMS"},
          "E_PROBLEM_ROOT");
    }
    for (Entry& entry : found_in(root)) {
      if (seen.insert(entry.id).second) {
        entries_.push_back(std::move(entry));
      }
    }
    for (Entry& entry : planned_in(root)) {
      planned.push_back(std::move(entry));
    }
  }
  for (Entry& entry : planned) {
    const auto real = std::find_if(
        entries_.begin(), entries_.end(), [&](const Entry& e) { return e.id == entry.id; });
    if (real == entries_.end()) {
      entries_.push_back(std::move(entry));
    } else {
      for (const std::string& slate : entry.slates) {
        if (std::find(real->slates.begin(), real->slates.end(), slate) == real->slates.end()) {
          real->slates.push_back(slate);
        }
      }
    }
  }
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return order_of(a) < order_of(b);
  });
}

const Entry* Catalog::find(std::string_view id) const {
  const auto by = [&](std::string_view wanted) -> const Entry* {
    const auto found = std::find_if(
        entries_.begin(), entries_.end(), [&](const Entry& e) { return e.id == wanted; });
    return found == entries_.end() ? nullptr : &*found;
  };
  if (const Entry* exact = by(id)) {
    return exact;
  }
  if (const Entry* numbered = by(canonical(id))) {
    return numbered;
  }
  const auto folder = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
    return !e.planned() &&
           e.id.substr(0, e.id.find('/')) + "/" + e.folder.filename().string() == id;
  });
  return folder == entries_.end() ? nullptr : &*folder;
}

std::vector<const Entry*> Catalog::match(std::string_view pattern) const {
  std::vector<const Entry*> out;
  if (pattern.size() > kMaxPattern || std::count(pattern.begin(), pattern.end(), '*') > 8) {
    throw util::UsageError({"problem pattern", "too long or too many stars", "shorten it"},
                           "E_PROBLEM_PATTERN");
  }
  if (pattern.substr(0, kSlate.size()) == kSlate) {
    const std::string_view slate = pattern.substr(kSlate.size());
    for (const Entry& entry : entries_) {
      if (std::find(entry.slates.begin(), entry.slates.end(), slate) != entry.slates.end()) {
        out.push_back(&entry);
      }
    }
  } else if (pattern.find_first_of("*?") != std::string_view::npos) {
    for (const Entry& entry : entries_) {
      if (glob(pattern, entry.id)) {
        out.push_back(&entry);
      }
    }
  } else if (const Entry* entry = find(pattern)) {
    out.push_back(entry);
  }
  if (out.empty()) {
    std::vector<std::string> ids;
    for (const Entry& entry : entries_) {
      ids.push_back(entry.id);
    }
    const auto near = util::closest(pattern, ids);
    throw util::UsageError({"problem " + util::printable(pattern),
                            "no problem matches",
                            (near ? "did you mean '" + *near + "'? " : "") +
                                std::string("`sweep problems list` shows all")},
                           "E_PROBLEM_UNKNOWN");
  }
  return out;
}

Problem Catalog::open(std::string_view id) const {
  const Entry& entry = *match(id).front();
  if (entry.planned()) {
    throw util::UsageError({entry.id,
                            "this problem is planned and has no files yet",
                            "choose another: sweep problems list"},
                           "E_PROBLEM_PLANNED");
  }
  return require(entry.folder);
}

std::vector<fs::path> default_roots(const std::vector<fs::path>& extra,
                                    const fs::path& program,
                                    const char* sweep_problems) {
  std::vector<fs::path> out = extra;
  if (sweep_problems != nullptr) {
    for (const std::string_view part : util::split(sweep_problems, ':')) {
      if (!part.empty()) {
        out.emplace_back(part);
      }
    }
  }
  fs::path folder = program.parent_path();
  for (int up = 0; up < 4 && !folder.empty(); ++up) {
    for (const fs::path& candidate :
         {folder / "problems", folder / "share" / "sweep" / "problems"}) {
      if (fs::is_directory(candidate)) {
        out.push_back(candidate);
        return out;
      }
    }
    folder = folder.parent_path();
  }
  return out;
}

}  // namespace sweep::problem

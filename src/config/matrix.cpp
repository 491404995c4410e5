#include "config/matrix.h"

#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <random>
#include <set>

namespace sweep::config {

namespace {

struct Shelf {
  std::string_view variant;
  std::int64_t level;
  std::int64_t problems;
};

// Problems that PopcornBench's directories hold and that are not shipped here: ids 1 to `problems`.
constexpr std::array kNotShipped = {Shelf{"original", 1, 100},
                                    Shelf{"original", 2, 100},
                                    Shelf{"original", 3, 50},
                                    Shelf{"original", 4, 20},
                                    Shelf{"popcorn", 4, 30},
                                    Shelf{"popcorn2", 4, 30}};
// Ids of popcorn's level 2 that need several GPUs.
constexpr std::array<std::int64_t, 6> kMultiGpu = {2, 11, 18, 27, 34, 38};

struct Cell {
  std::string level;
  std::string problem;
  Availability availability = Availability::ready;
};

using Cells = std::vector<Cell>;

std::int64_t number_of(std::string_view text) {
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || value > 1000000) {
      return -1;
    }
    value = value * 10 + (c - '0');
  }
  return text.empty() ? -1 : value;
}

Cell cell_of(const KnownProblem& known) {
  const std::size_t slash = known.id.find('/');
  std::string level = known.id.substr(0, slash);
  if (level.starts_with("level") && number_of(level.substr(5)) >= 0) {
    level.erase(0, 5);
  }
  return {level,
          slash == std::string::npos ? std::string() : known.id.substr(slash + 1),
          known.ready ? Availability::ready : Availability::planned};
}

// By level, then by number, then by name.
bool before(const Cell& a, const Cell& b) {
  const auto key = [](const std::string& text) {
    const std::int64_t number = number_of(text);
    return number >= 0 ? number : std::int64_t{1} << 40;
  };
  return std::tuple(key(a.level), a.level, key(a.problem), a.problem) <
         std::tuple(key(b.level), b.level, key(b.problem), b.problem);
}

class Expander {
 public:
  Expander(const SweepConfig& config, std::span<const KnownProblem> known)
      : config_(config), selection_(config.run.selection), known_(known) {}

  Matrix run() {
    Matrix matrix;
    for (const std::string& variant : selection_.variants) {
      add_variant(variant, matrix);
    }
    check_subsets();
    if (matrix.items.empty()) {
      throw util::UsageError({config_.file.string(),
                              "the selection holds no problem",
                              "see  sweep problems list  and [run] levels, slate, problems"},
                             "E_CONFIG_EMPTY");
    }
    add_notes(matrix);
    return matrix;
  }

 private:
  void add_variant(const std::string& variant, Matrix& matrix) {
    std::vector<std::pair<std::string, Cells>> levels;
    for (Cell& cell : cells_of(variant)) {
      if (levels.empty() || levels.back().first != cell.level) {
        levels.emplace_back(cell.level, Cells());
      }
      levels.back().second.push_back(std::move(cell));
    }
    for (const auto& [level, cells] : levels) {
      for (const Model& model : config_.models) {
        for (const Cell& cell : cells) {
          for (std::int64_t attempt = 1; attempt <= config_.run.attempts_per_problem; ++attempt) {
            matrix.items.push_back(
                {model.name, variant, level, cell.problem, attempt, cell.availability});
          }
        }
      }
    }
  }

  Cells cells_of(const std::string& variant) {
    Cells cells = base_cells(variant);
    std::sort(cells.begin(), cells.end(), before);
    std::erase_if(cells, [&](const Cell& cell) { return !selected(variant, cell); });
    return cells;
  }

  Cells base_cells(const std::string& variant) {
    if (selection_.slate || !selection_.problems.empty()) {
      return chosen_cells();
    }
    Cells cells;
    std::vector<std::int64_t> levels = selection_.levels;
    std::sort(levels.begin(), levels.end());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    for (const std::int64_t level : levels) {
      const Cells found = shelf(variant, level);
      if (found.empty()) {
        throw util::UsageError({place("level " + std::to_string(level)),
                                "variant '" + variant + "' has no level " + std::to_string(level),
                                "see  sweep problems list"},
                               "E_CONFIG_UNKNOWN_PROBLEM");
      }
      cells.insert(cells.end(), found.begin(), found.end());
    }
    return cells;
  }

  // All problems of one level of a variant that is a directory of PopcornBench.
  [[nodiscard]] Cells shelf(const std::string& variant, std::int64_t level) const {
    Cells cells;
    for (const Shelf& one : kNotShipped) {
      for (std::int64_t id = 1; one.variant == variant && one.level == level && id <= one.problems;
           ++id) {
        cells.push_back({std::to_string(level), std::to_string(id), Availability::not_shipped});
      }
    }
    const bool translation = variant == "hardware_translation_stub";
    const bool ours = translation ? level == 5 : variant != "original" && level <= 4;
    for (const KnownProblem& known : known_) {
      const Cell cell = cell_of(known);
      if (ours && cell.level == std::to_string(level)) {
        std::erase_if(cells, [&](const Cell& other) { return other.problem == cell.problem; });
        cells.push_back(cell);
      }
    }
    return cells;
  }

  // What slate and problems name, each once.
  Cells chosen_cells() {
    std::set<std::string> ids;
    for (const auto& [level, numbers] : selection_.slate_levels) {
      for (const std::int64_t number : numbers) {
        take("level" + std::to_string(level) + "/" + std::to_string(number), ids);
      }
    }
    if (selection_.slate && !selection_.slate->ends_with(".toml")) {
      take_slate(*selection_.slate, ids);
    }
    for (const std::string& pattern : selection_.problems) {
      take(pattern, ids);
    }
    Cells cells;
    for (const KnownProblem& known : known_) {
      if (ids.contains(known.id)) {
        cells.push_back(cell_of(known));
      }
    }
    return cells;
  }

  void take_slate(const std::string& slate, std::set<std::string>& ids) const {
    const std::size_t size = ids.size();
    std::set<std::string> names;
    for (const KnownProblem& known : known_) {
      names.insert(known.slates.begin(), known.slates.end());
      if (std::find(known.slates.begin(), known.slates.end(), slate) != known.slates.end()) {
        ids.insert(known.id);
      }
    }
    if (ids.size() == size && !names.contains(slate)) {
      unknown("slate", slate, {names.begin(), names.end()});
    }
  }

  // `pattern` is an id, an id's long form (level1/3_csr_spmm, l1/3), a name or a glob.
  void take(const std::string& pattern, std::set<std::string>& ids) const {
    bool found = false;
    for (const KnownProblem& known : known_) {
      if (matches(pattern, known)) {
        ids.insert(known.id);
        found = true;
      }
    }
    if (!found) {
      std::vector<std::string> all;
      for (const KnownProblem& known : known_) {
        all.push_back(known.id);
        all.push_back(known.name);
      }
      unknown("problem", pattern, all);
    }
  }

  static bool matches(const std::string& pattern, const KnownProblem& known) {
    if (glob_match(pattern, known.id) || pattern == known.name ||
        pattern == known.id + "_" + known.name) {
      return true;
    }
    return known.id.starts_with("level") && glob_match(pattern, "l" + known.id.substr(5));
  }

  [[nodiscard]] std::string place(const std::string& choice) const {
    const auto found = selection_.places.find(choice);
    return found == selection_.places.end() ? config_.file.string() : found->second;
  }

  [[noreturn]] void unknown(const std::string& what,
                            const std::string& name,
                            const std::vector<std::string>& candidates) const {
    const auto near = util::closest(name, candidates);
    throw util::UsageError({place(what + " " + name),
                            "no " + what + " '" + util::printable(name.substr(0, 80)) + "'",
                            near ? "did you mean '" + *near + "'?" : "see  sweep problems list"},
                           "E_CONFIG_UNKNOWN_PROBLEM");
  }

  // Levels, subsets (the most particular one counts) and the multi-GPU rule.
  bool selected(const std::string& variant, const Cell& cell) {
    const std::int64_t level = number_of(cell.level);
    const std::int64_t id = number_of(cell.problem);
    const auto& levels = selection_.levels;
    if (!levels.empty() && std::find(levels.begin(), levels.end(), level) == levels.end()) {
      return false;
    }
    const bool several =
        (level == 2 && variant == "popcorn" &&
         std::find(kMultiGpu.begin(), kMultiGpu.end(), id) != kMultiGpu.end()) ||
        (config_.parallelism.multi_gpu && level == 5 && variant == "hardware_translation_stub");
    const std::vector<std::int64_t>* subset = subset_for(variant, level);
    if (subset != nullptr && !subset->empty()) {
      if (std::find(subset->begin(), subset->end(), id) == subset->end()) {
        return false;
      }
      used_.insert({subset, id});
    }
    if (level != 5 || config_.parallelism.multi_gpu) {
      if (several != config_.parallelism.multi_gpu) {
        multi_gpu_dropped_ += several ? 1 : 0;
        return false;
      }
    }
    return true;
  }

  const std::vector<std::int64_t>* subset_for(const std::string& variant, std::int64_t level) {
    const std::vector<std::int64_t>* found = &selection_.subset;
    if (const auto by_level = selection_.subset_by_level.find(level);
        by_level != selection_.subset_by_level.end()) {
      found = &by_level->second;
    }
    if (const auto by_variant = selection_.subset_by_variant_level.find(variant);
        by_variant != selection_.subset_by_variant_level.end()) {
      if (const auto list = by_variant->second.find(level); list != by_variant->second.end()) {
        found = &list->second;
      }
    }
    asked_.insert(found);
    return found;
  }

  // Every id of a list that was asked must exist somewhere where the list counts.
  void check_subsets() const {
    for (const auto* list : asked_) {
      for (const std::int64_t id : *list) {
        if (!used_.contains({list, id})) {
          throw util::UsageError({place("subset " + std::to_string(id)),
                                  "problem_subset names " + std::to_string(id) +
                                      ", which none of its levels and variants has",
                                  "see  sweep problems list"},
                                 "E_CONFIG_UNKNOWN_PROBLEM");
        }
      }
    }
  }

  void add_notes(Matrix& matrix) const {
    std::map<std::pair<std::string, std::string>, std::array<std::set<std::string>, 3>> counts;
    for (const WorkItem& item : matrix.items) {
      counts[{item.variant, item.level}][static_cast<std::size_t>(item.availability)].insert(
          item.problem);
    }
    for (const auto& [key, found] : counts) {
      const std::size_t total = found[0].size() + found[1].size() + found[2].size();
      const std::string where = key.first + " level " + key.second + ": " +
                                std::to_string(found[0].size()) + " of " + std::to_string(total) +
                                " available";
      if (!found[2].empty()) {
        matrix.notes.push_back(where + "; " + std::to_string(found[2].size()) +
                               " are not shipped with this program and skipped");
      }
      if (!found[1].empty()) {
        matrix.notes.push_back(where + "; " + std::to_string(found[1].size()) +
                               " are planned and skipped");
      }
    }
    if (multi_gpu_dropped_ > 0) {
      matrix.notes.push_back(std::to_string(multi_gpu_dropped_) +
                             " problems need several GPUs and are left out ([parallelism] "
                             "multi_gpu = true selects them alone)");
    }
  }

  const SweepConfig& config_;
  const Selection& selection_;
  std::span<const KnownProblem> known_;
  std::set<std::pair<const std::vector<std::int64_t>*, std::int64_t>> used_;
  std::set<const std::vector<std::int64_t>*> asked_;
  int multi_gpu_dropped_ = 0;
};

}  // namespace

std::string WorkItem::problem_id() const {
  return (number_of(level) >= 0 ? "level" : "") + level + "/" + problem;
}

std::string WorkItem::id() const {
  return util::encode_path_part(variant) + "/" + util::encode_path_part(model) + "/" +
         problem_id() + (attempt > 1 ? "#" + std::to_string(attempt) : "");
}

std::size_t Matrix::ready() const {
  return static_cast<std::size_t>(
      std::count_if(items.begin(), items.end(), [](const WorkItem& item) {
        return item.availability == Availability::ready;
      }));
}

Matrix expand(const SweepConfig& config, std::span<const KnownProblem> known) {
  return Expander(config, known).run();
}

std::vector<WorkItem> start_order(std::vector<WorkItem> items) {
  // std::shuffle differs between libraries; this one does not.
  std::mt19937_64 random(0xC0FFEE);
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[random() % i]);
  }
  return items;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  // reach[j]: the pattern so far matches the first j characters.
  std::vector<bool> reach(text.size() + 1, false);
  reach[0] = true;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    std::vector<bool> next(text.size() + 1, false);
    if (pattern[i] == '*') {
      const bool cross = i + 1 < pattern.size() && pattern[i + 1] == '*';
      i += cross ? 1 : 0;
      for (std::size_t j = 0; j <= text.size(); ++j) {
        next[j] = reach[j] || (j > 0 && next[j - 1] && (cross || text[j - 1] != '/'));
      }
    } else {
      for (std::size_t j = 1; j <= text.size(); ++j) {
        next[j] = reach[j - 1] &&
                  (pattern[i] == text[j - 1] || (pattern[i] == '?' && text[j - 1] != '/'));
      }
    }
    reach = std::move(next);
  }
  return reach[text.size()];
}

bool stress_gates(const Run& run, std::string_view variant) {
  return run.stress.value_or(variant != "popcorn" && variant != "original" &&
                             variant != "hardware_translation_stub");
}

}  // namespace sweep::config

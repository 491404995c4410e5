#include "cli/problem_catalogue.h"

#include "cli/admit.h"
#include "problem/draw.h"
#include "problem/problem.h"
#include "util/text.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sweep::cli {
namespace {

// Cells of a Markdown table hold no bar and no line break.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : util::printable(text)) {
    out += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  }
  return out;
}

struct Longest {
  std::string shape;              // "full (rows=1000, k=64)"
  double floor = 0, nominal = 0;  // seconds
};

Longest longest_of(const problem::Problem& problem) {
  Longest longest;
  for (const problem::Shape& shape : problem.shapes) {
    if (!shape.uses.time) {
      continue;
    }
    const problem::Draw draw =
        problem::visible_draw(problem, shape, "default", problem::Key::from_seed(1));
    const problem::WorkValues work = problem::work_of(problem, draw);
    const double nominal = problem::nominal_seconds(problem, work);
    if (longest.shape.empty() || nominal > longest.nominal) {
      std::string dims;
      for (const auto& [name, value] : shape.free) {
        dims += fmt::format("{}{}={}", dims.empty() ? "" : ", ", name, value);
      }
      longest = {
          fmt::format("{} ({})", shape.name, dims), problem::floor_seconds(problem, work), nominal};
    }
  }
  return longest;
}

std::string row_of(const problem::Entry& entry, const std::string& standing) {
  const problem::Problem problem = problem::require(entry.folder);
  const Longest longest = longest_of(problem);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n",
                     cell(entry.id),
                     cell(entry.title),
                     cell(entry.domain),
                     cell(fmt::format("{}", fmt::join(entry.slates, ", "))),
                     cell(longest.shape),
                     longest.floor > 0 ? util::human_seconds(longest.floor) : "",
                     cell(standing));
}

}  // namespace

std::string catalogue_markdown(const std::vector<const problem::Entry*>& entries) {
  std::map<std::string, std::vector<const problem::Entry*>> levels;
  std::size_t ready = 0;
  for (const problem::Entry* entry : entries) {
    levels[entry->id.substr(0, entry->id.find('/'))].push_back(entry);
    ready += entry->planned() ? 0U : 1U;
  }
  std::string out = fmt::format(
      "# The problems\n\nMade by `sweep problems list --markdown`; do not edit. {} problems, {} "
      "ready. `sweep problems "
      "show ID` prints one whole.\n*Floor*: what the timed shape that takes longest needs at least "
      "at an "
      "H200's datasheet "
      "rates; empty where no bound is known.\n",
      entries.size(),
      ready);
  for (const auto& [level, members] : levels) {
    out += fmt::format("\n## {}\n\n", cell(level));
    std::vector<std::string> planned;
    std::string rows;
    for (const problem::Entry* entry : members) {
      if (entry->planned()) {
        planned.push_back(fmt::format("{} {}", cell(entry->id), cell(entry->title)));
      } else {
        const admit::Standing standing = standing_of(problem::require(entry->folder));
        rows += row_of(*entry,
                       standing.status == admit::Status::admitted ? standing.text
                       : standing.status == admit::Status::none
                           ? std::string()
                           : std::string(admit::name(standing.status)));
      }
    }
    if (!rows.empty()) {
      out +=
          "| id | title | domain | slate | longest shape | floor | admission |\n"
          "| --- | --- | --- | --- | --- | --- | --- |\n" +
          rows;
    }
    if (!planned.empty()) {
      out += fmt::format("{}Planned: {}.\n", rows.empty() ? "" : "\n", fmt::join(planned, "; "));
    }
  }
  return out;
}

}  // namespace sweep::cli

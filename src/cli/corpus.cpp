#include "cli/corpus.h"

#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

#include <algorithm>
#include <optional>
#include <set>

namespace sweep::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxSpecimen = std::size_t{1} << 20U;
// A head is what stands before the first line of code.
constexpr std::size_t kHeadLines = 24;

[[noreturn]] void wrong(const std::string& file, const std::string& what) {
  throw util::UsageError({file, what, "docs/selftest.md describes the head of a corpus file"},
                         "E_CORPUS");
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : util::split(text, ' ')) {
    if (!word.empty()) {
      words.emplace_back(word);
    }
  }
  return words;
}

// The rest of a line that begins with `// KEY`; nothing for other lines.
std::optional<std::string_view> after(std::string_view line, std::string_view key) {
  const std::string_view rest = line.substr(std::min<std::size_t>(3, line.size()));
  return line.starts_with("// ") && rest.starts_with(key)
             ? std::optional(util::trim(rest.substr(key.size())))
             : std::nullopt;
}

void read_expectation(Specimen& specimen, std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto stage = evaluate::parse_stage(util::trim(text.substr(0, colon)));
  if (colon == std::string_view::npos ||
      (stage != evaluate::Stage::check && stage != evaluate::Stage::stress &&
       stage != evaluate::Stage::time)) {
    wrong(specimen.source.file, "`expect` names no stage: check, stress or time");
  }
  specimen.last = *stage;
  specimen.expected.clear();
  for (const std::string& word : words_of(text.substr(colon + 1))) {
    const auto verdict = evaluate::parse_verdict(word);
    if (!verdict) {
      wrong(specimen.source.file, "`expect` names no verdict: '" + word + "'");
    }
    specimen.expected.push_back(*verdict);
  }
}

void read_defences(Specimen& specimen, std::string_view text) {
  specimen.defences.clear();
  for (const std::string& word : words_of(text)) {
    const auto defence = evaluate::parse_defence(word);
    if (!defence) {
      wrong(specimen.source.file, "`defence` names none: '" + word + "'");
    }
    specimen.defences.push_back(*defence);
  }
}

void read_line(Specimen& specimen, std::string_view line, std::string_view kind) {
  const std::string own = std::string(kind) + " ";
  // A line for one kind of device stands behind the general one and replaces it there.
  if (const auto text = after(line, own + "expect ")) {
    read_expectation(specimen, *text);
  } else if (const auto plain = after(line, "expect ")) {
    read_expectation(specimen, *plain);
  } else if (const auto own_defence = after(line, own + "defence:")) {
    read_defences(specimen, *own_defence);
  } else if (const auto defence = after(line, "defence:")) {
    read_defences(specimen, *defence);
  } else if (const auto device = after(line, "device:")) {
    if (*device != "cpu" && *device != "cuda" && *device != "any") {
      wrong(specimen.source.file, "`device` is cpu, cuda or any");
    }
    specimen.runs = *device == "any" || *device == kind;
  } else if (const auto origin = after(line, "source:")) {
    specimen.origin = *origin;
  } else if (const auto what = after(line, ""); what && specimen.what.empty() &&
                                                !line.starts_with("// cpu ") &&
                                                !line.starts_with("// cuda ")) {
    specimen.what = *what;
  }
}

std::set<std::string> known_gaps(const fs::path& file) {
  std::set<std::string> names;
  if (!fs::exists(file)) {
    return names;
  }
  const std::string text = util::read_file(file, kMaxSpecimen);
  for (const std::string_view line : util::split(text, '\n')) {
    const std::string_view name = util::trim(line.substr(0, line.find('#')));
    if (!name.empty()) {
      names.emplace(name);
    }
  }
  return names;
}

}  // namespace

Specimen parse_specimen(evaluate::Source source, bool exploit, device::Kind kind) {
  Specimen specimen;
  specimen.exploit = exploit;
  specimen.name = fs::path(source.file).stem().string();
  specimen.source = std::move(source);
  const auto lines = util::split(specimen.source.text, '\n');
  for (std::size_t i = 0; i < std::min(lines.size(), kHeadLines); ++i) {
    read_line(specimen, util::trim(lines[i]), kind == device::Kind::cpu ? "cpu" : "cuda");
  }
  if (specimen.expected.empty()) {
    wrong(specimen.source.file, "has no line `// expect STAGE: VERDICT..`");
  }
  if (exploit && specimen.defences.empty()) {
    wrong(specimen.source.file, "has no line `// defence: NAME..`");
  }
  return specimen;
}

std::vector<Specimen> load_corpus(const fs::path& tests, device::Kind kind) {
  std::vector<Specimen> all;
  for (const bool exploit : {true, false}) {
    const fs::path folder = tests / (exploit ? "exploits" : "honest");
    if (!fs::is_directory(folder)) {
      wrong(folder.string(), "no such folder: this installation has no corpus");
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".cu") {
        files.push_back(entry.path());
      }
    }
    std::ranges::sort(files);
    const std::set<std::string> gaps = known_gaps(folder / "KNOWN_GAPS");
    for (const fs::path& file : files) {
      all.push_back(
          parse_specimen({file.string(), util::read_file(file, kMaxSpecimen)}, exploit, kind));
      all.back().known_gap = gaps.contains(all.back().name);
    }
  }
  return all;
}

}  // namespace sweep::cli

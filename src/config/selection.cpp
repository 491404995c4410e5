#include "config/toml_reader.h"
#include "util/error.h"
#include "util/file.h"
#include "util/text.h"

#include <algorithm>
#include <array>

namespace sweep::config {
namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 4> kVariants = {
    "original", "popcorn", "popcorn2", "hardware_translation_stub"};

// Places of a value, or of each element of a list, as `kind` and the value.
void note_places(const TomlReader& reader,
                 const toml::node* node,
                 const std::string& kind,
                 Selection& selection) {
  if (node == nullptr) {
    return;
  }
  if (const toml::array* list = node->as_array()) {
    for (const toml::node& element : *list) {
      note_places(reader, &element, kind, selection);
    }
  } else if (const auto number = node->value_exact<std::int64_t>()) {
    selection.places.try_emplace(kind + std::to_string(*number), reader.where(node->source()));
  } else if (const auto text = node->value_exact<std::string>()) {
    selection.places.try_emplace(kind + *text, reader.where(node->source()));
  }
}

// Of the lists of a table by level; `kind` may hold the level as "*".
void note_levels(const TomlReader& reader,
                 const toml::node& node,
                 const std::string& kind,
                 Selection& selection) {
  if (const toml::table* table = node.as_table()) {
    for (auto&& [level, list] : *table) {
      std::string named = kind;
      if (const std::size_t star = named.find('*'); star != std::string::npos) {
        named.replace(star, 1, level.str());
      }
      note_places(reader, &list, named, selection);
    }
  }
}

// [slate] version, description, levels: reads the file into selection.slate_levels.
void read_slate_file(TomlReader& reader,
                     const toml::source_region& place,
                     const fs::path& file,
                     Selection& selection) {
  try {
    const toml::table document =
        parse_toml(util::read_file(file, std::size_t{1} << 20), file.string());
    const toml::table* slate = document["slate"].as_table();
    const toml::node* levels = slate == nullptr ? nullptr : slate->get("levels");
    if (levels == nullptr) {
      reader.error(place,
                   "slate " + file.string() + " has no [slate.levels]",
                   "a slate file has  [slate.levels]  with  1 = [2, 3]");
      return;
    }
    TomlReader inner(file.string());
    inner.by_level(*levels, "slate.levels", selection.slate_levels);
    note_levels(inner, *levels, "problem level*/", selection);
    throw_errors(inner.errors());
  } catch (const util::Error& error) {
    reader.error(place,
                 "slate: " + error.message().where + ": " + error.message().what,
                 error.message().next);
  }
}

void read_slate(TomlReader& reader,
                const toml::table& run,
                const fs::path& root,
                Selection& selection) {
  reader.optional(run, "slate", selection.slate);
  note_places(reader, run.get("slate"), "slate ", selection);
  if (selection.slate && selection.slate->ends_with(".toml")) {
    read_slate_file(reader, place_of(run, "slate"), root / *selection.slate, selection);
  }
}

void read_variants(TomlReader& reader, const toml::table& run, Selection& selection) {
  const bool both = run.get("variants") != nullptr && run.get("variant") != nullptr;
  if (both) {
    reader.error(place_of(run, "variant"), "variant and variants are both there", "keep one");
  }
  if (!reader.texts(run, "variants", selection.variants)) {
    reader.texts(run, "variant", selection.variants);
  }
  const bool by_level = !selection.slate && selection.problems.empty();
  if (selection.variants.empty()) {
    if (selection.slate) {
      selection.variants = {fs::path(*selection.slate).stem().string()};
    } else {
      selection.variants = {by_level ? "original" : "custom"};
    }
    return;
  }
  const auto place = place_of(run, run.get("variants") != nullptr ? "variants" : "variant");
  for (std::size_t i = 0; i < selection.variants.size(); ++i) {
    const std::string& name = selection.variants[i];
    if (name.empty() ||
        std::find(selection.variants.begin(),
                  selection.variants.begin() + static_cast<std::ptrdiff_t>(i),
                  name) != selection.variants.begin() + static_cast<std::ptrdiff_t>(i)) {
      reader.error(place,
                   "variant '" + util::printable(name) + "' is empty or there twice",
                   "name each once");
    } else if (by_level && std::find(kVariants.begin(), kVariants.end(), name) == kVariants.end()) {
      const auto near =
          util::closest(name, std::vector<std::string>(kVariants.begin(), kVariants.end()));
      reader.error(place,
                   "unknown variant '" + util::printable(name.substr(0, 80)) + "'",
                   near ? "did you mean '" + *near + "'?"
                        : "original, popcorn, popcorn2 or hardware_translation_stub is expected");
    }
  }
}

}  // namespace

void read_selection(TomlReader& reader,
                    const toml::table& run,
                    const fs::path& root,
                    Selection& selection) {
  reader.texts(run, "problems", selection.problems);
  note_places(reader, run.get("problems"), "problem ", selection);
  read_slate(reader, run, root, selection);
  read_variants(reader, run, selection);
  reader.integers(run, "levels", selection.levels);
  note_places(reader, run.get("levels"), "level ", selection);
  if (selection.levels.empty() && !selection.slate && selection.problems.empty() &&
      run.get("levels") == nullptr) {
    reader.error(run.source(),
                 "[run] selects no problems",
                 "add  slate = \"popcorn2\"  or  problems = [\"level1/3\"]");
  }
  reader.integers(run, "problem_subset", selection.subset);
  note_places(reader, run.get("problem_subset"), "subset ", selection);
  if (const toml::node* node = run.get("problem_subset_by_level")) {
    reader.by_level(*node, "problem_subset_by_level", selection.subset_by_level);
    note_levels(reader, *node, "subset ", selection);
  }
  if (const toml::table* table = reader.table(run, "problem_subset_by_variant_level")) {
    for (auto&& [variant, node] : *table) {
      const std::string name(variant.str());
      reader.by_level(node,
                      "problem_subset_by_variant_level." + util::printable(name),
                      selection.subset_by_variant_level[name]);
      note_levels(reader, node, "subset ", selection);
    }
  }
}

}  // namespace sweep::config

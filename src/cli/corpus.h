#pragma once

#include "evaluate/evaluation.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::cli {

// A kernel of the corpus with the verdict that it must get (docs/selftest.md describes the lines of
// its head). tests/exploits cheat or are broken, tests/honest are right in a style that is easily
// judged wrong.
struct Specimen {
  std::string name;  // "hardcoded": the file without its extension
  bool exploit = true;
  evaluate::Source source;
  std::string what;                               // first line of its head
  std::string origin;                             // where it was seen: "rigor C12"; may be empty
  bool runs = true;                               // on this kind of device
  evaluate::Stage last = evaluate::Stage::check;  // judged up to here: check, stress or time
  std::vector<evaluate::Verdict> expected;        // any of these
  std::vector<evaluate::Defence> defences;        // any of these must be what catches it
  bool known_gap = false;  // listed in KNOWN_GAPS: not caught yet, and must not be
};

// Reads the head of one text as it holds for `kind`. Throws util::UsageError E_CORPUS naming the
// file and the line that is wrong or missing.
[[nodiscard]] Specimen parse_specimen(evaluate::Source source, bool exploit, device::Kind kind);

// Every .cu of `tests`/exploits and `tests`/honest, exploits first, by name. Throws
// util::UsageError E_CORPUS, also where the folders are missing.
[[nodiscard]] std::vector<Specimen> load_corpus(const std::filesystem::path& tests,
                                                device::Kind kind);

}  // namespace sweep::cli

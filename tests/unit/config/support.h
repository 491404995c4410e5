#pragma once

#include "config/config.h"
#include "config/matrix.h"
#include "util/error.h"

#include <random>
#include <string>
#include <vector>

namespace sweep::config::testing {

// Ids as in PopcornBench's directories, plus two of ours; a few are ready.
inline std::vector<KnownProblem> catalogue() {
  std::vector<KnownProblem> known;
  const auto add = [&](int level, int id) {
    known.push_back({"level" + std::to_string(level) + "/" + std::to_string(id),
                     "p" + std::to_string(level) + "_" + std::to_string(id),
                     id == 3,
                     {}});
  };
  for (int id = 1; id <= 32; ++id)
    add(1, id);
  for (int id = 1; id <= 50; ++id)
    add(2, id);
  for (int id = 1; id <= 13; ++id)
    add(3, id);
  for (const int id : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 22, 23, 25, 26, 27, 28, 29, 30, 31})
    add(5, id);
  known.push_back({"sci/heat2d", "heat2d", true, {"demo"}});
  known.push_back({"sci/nbody", "nbody", false, {}});
  for (KnownProblem& one : known) {
    if (one.id == "level1/3" || one.id == "level2/40") {
      one.slates = {"popcorn2", "demo"};
      one.ready = true;
    }
  }
  return known;
}

inline constexpr const char* kMinimal = R"([run]
name  = "first"
slate = "popcorn2"
[[models]]
name        = "gpt-5.5"
base_url    = "https://api.openai.com/v1"
api_key_env = "OPENAI_API_KEY"
)";

inline Loaded read(const std::string& text) {
  return parse(text, "x.toml", "/root");
}

// All lines of the error, or "ok".
inline std::string errors_of(const std::string& text) {
  try {
    static_cast<void>(expand(read(text).config, catalogue()));
  } catch (const util::UsageError& error) {
    return error.what();
  }
  return "ok";
}

inline std::string with(const std::string& run_lines, const std::string& rest = {}) {
  return "[run]\nname = \"r\"\n" + run_lines +
         "\n[[models]]\nname = \"m\"\nbase_url = \"http://localhost:1/v1\"\n" + rest;
}

}  // namespace sweep::config::testing

// Runs a fuzz target without libFuzzer: every file below the folders given, then mutations of it,
// always the same ones.
// usage: fuzz_TARGET [--rounds=N] FOLDER-OR-FILE...
#include "target.h"
#include "util/file.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFile = std::size_t{1} << 20U;
constexpr std::string_view kRounds = "--rounds=";

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

// One change: a byte, a piece left out, a piece said twice, or a piece of `other` put in.
void mutate(std::string& text, const std::string& other, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  const std::size_t at = below(text.size());
  const std::size_t length = 1 + below(16);
  switch (random() % 5) {
    case 0:
      if (!text.empty()) {
        text[at] = static_cast<char>(random());
      }
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, text.substr(at, length));
      break;
    case 3:
      text.insert(at, other.substr(std::min(below(other.size()), other.size()), length));
      break;
    default:
      text.insert(at, "99999999999999999999(){}[]\"\\,;<\xff" + below(31), 1 + below(3));
  }
}

std::vector<fs::path> files_below(const std::vector<fs::path>& given) {
  std::vector<fs::path> out;
  for (const fs::path& path : given) {
    if (fs::is_directory(path)) {
      for (const auto& entry : fs::recursive_directory_iterator(path)) {
        if (entry.is_regular_file()) {
          out.push_back(entry.path());
        }
      }
    } else {
      out.push_back(path);
    }
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t rounds = 50;
  std::vector<fs::path> given;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with(kRounds)) {
      std::from_chars(word.data() + kRounds.size(), word.data() + word.size(), rounds);
    } else {
      given.emplace_back(word);
    }
  }
  std::vector<std::string> texts;
  for (const fs::path& file : files_below(given)) {
    texts.push_back(sweep::util::read_file(file, kMaxFile));
  }
  if (texts.empty()) {
    std::fputs("no file to run\n", stderr);
    return 2;
  }
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    run(texts[i]);
    std::string text = texts[i];
    for (std::size_t round = 0; round < rounds; ++round) {
      if (round % 8 == 0) {
        text = texts[i];
      }
      mutate(text, texts[random() % texts.size()], random);
      run(text);
    }
  }
  std::printf("%zu files, %zu mutations of each\n", texts.size(), rounds);
  return 0;
}

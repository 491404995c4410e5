#include "problem/problem.h"
#include "problem/reader.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"
#include "util/text.h"

#include <algorithm>
#include <array>

namespace sweep::problem {
namespace {

constexpr std::size_t kMaxFile = 1 << 20;
constexpr std::array kTexts = std::to_array<std::string_view>(
    {"reference.cu", "inputs.cu", "check.cu", "source.cu", "expert.cu"});

Text make_text(std::filesystem::path path, std::string text) {
  std::string hash = util::sha256_hex(text);
  return {std::move(path), std::move(text), std::move(hash)};
}

void take_texts(const std::map<std::string, std::string>& files, Reader& reader, Problem& problem) {
  for (const auto& [name, text] : files) {
    Text made = make_text(problem.folder / name, text);
    if (name == "reference.cu") {
      problem.reference = std::move(made);
    } else if (name == "inputs.cu") {
      problem.inputs_cu = std::move(made);
    } else if (name == "check.cu") {
      problem.check_cu = std::move(made);
    } else if (name == "source.cu") {
      problem.source_cu = std::move(made);
    } else if (name == "expert.cu") {
      problem.expert_cu = std::move(made);
    }
  }
  if (problem.reference.text.empty()) {
    reader.error("E_PROBLEM_FILE",
                 {reader.file(), 0, 0},
                 "reference.cu is missing or empty",
                 "add the oracle's plan");
  }
}

void read_all(Reader& reader, const toml::table& root, Problem& problem) {
  read_head(reader, root, problem);
  read_dims(reader, root, problem);
  read_scalars(reader, root, problem);
  read_tensors(reader, root, problem);
  read_contents(reader, root, problem);
  read_shapes(reader, root, problem);
  read_draw_rules(reader, root, problem);
  read_tolerances(reader, root, problem);
  read_work(reader, root, problem);
  read_policy(reader, root, problem);
  read_rest(reader, root, problem);
}

// In order of the file; mistakes without a line last.
void sort_mistakes(std::vector<Mistake>& mistakes) {
  const auto key = [](const Mistake& m) {
    return std::tuple(m.where.line == 0 ? 1 << 30 : m.where.line, m.where.column);
  };
  std::stable_sort(mistakes.begin(), mistakes.end(), [&](const Mistake& a, const Mistake& b) {
    return key(a) < key(b);
  });
}

bool any_error(const std::vector<Mistake>& mistakes) {
  return std::any_of(mistakes.begin(), mistakes.end(), [](const Mistake& m) { return !m.warning; });
}

Loaded parse_in(std::string_view toml,
                const std::map<std::string, std::string>& files,
                const std::string& file_name,
                std::filesystem::path folder) {
  Loaded out;
  Reader reader(file_name, out.mistakes);
  if (toml.size() > kMaxFile || !util::valid_utf8(toml)) {
    reader.error(
        "E_PROBLEM_TOML",
        {file_name, 0, 0},
        toml.size() > kMaxFile ? "the file is larger than 1 MiB" : "the file is not UTF-8");
    return out;
  }
  toml::table root;
  try {
    root = toml::parse(toml, file_name);
  } catch (const toml::parse_error& fault) {
    const auto& begin = fault.source().begin;
    reader.error("E_PROBLEM_TOML",
                 {file_name, static_cast<int>(begin.line), static_cast<int>(begin.column)},
                 util::printable(util::head_and_tail(fault.description(), 300)));
    return out;
  }
  Problem problem;
  problem.folder = std::move(folder);
  problem.toml = make_text(problem.folder / "problem.toml", std::string(toml));
  read_all(reader, root, problem);
  take_texts(files, reader, problem);
  if (!any_error(out.mistakes)) {
    validate_names(reader, problem);
  }
  sort_mistakes(out.mistakes);
  if (!any_error(out.mistakes)) {
    out.problem = std::move(problem);
  }
  return out;
}

}  // namespace

Loaded parse(std::string_view toml,
             const std::map<std::string, std::string>& files,
             std::string file_name) {
  return parse_in(toml, files, file_name, {});
}

Loaded load(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "problem.toml";
  try {
    const std::string toml = util::read_file(file, kMaxFile);
    std::map<std::string, std::string> files;
    for (const std::string_view name : kTexts) {
      if (std::filesystem::exists(folder / name)) {
        files.emplace(name, util::read_file(folder / name, kMaxFile));
      }
    }
    return parse_in(toml, files, file.string(), folder);
  } catch (const util::UsageError& fault) {
    Loaded out;
    out.mistakes.push_back({fault.code(),
                            {fault.message().where, 0, 0},
                            fault.message().what,
                            fault.message().next,
                            false});
    return out;
  }
}

Problem require(const std::filesystem::path& folder) {
  Loaded loaded = load(folder);
  if (loaded.problem) {
    return *std::move(loaded.problem);
  }
  const auto first = std::find_if(
      loaded.mistakes.begin(), loaded.mistakes.end(), [](const Mistake& m) { return !m.warning; });
  const auto count = std::count_if(
      loaded.mistakes.begin(), loaded.mistakes.end(), [](const Mistake& m) { return !m.warning; });
  std::string next = first->next;
  if (count > 1) {
    next += (next.empty() ? "" : "; ") + std::string("and ") + std::to_string(count - 1) +
            " more: sweep problems check shows all";
  }
  throw util::UsageError({first->where.text(), first->what, next}, first->code);
}

}  // namespace sweep::problem

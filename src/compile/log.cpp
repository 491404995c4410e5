#include "compile/log.h"

#include "util/excerpt.h"
#include "util/text.h"

#include <algorithm>
#include <array>

namespace sweep::compile {
namespace {

bool path_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
         c == '.' || c == '_' || c == '-' || c == '+' || c == '~';
}

bool below(std::string_view path, std::span<const std::filesystem::path> folders) {
  if (path.find("/../") != std::string_view::npos) {
    return false;
  }
  return std::any_of(folders.begin(), folders.end(), [&](const std::filesystem::path& folder) {
    const std::string& name = folder.native();
    return !name.empty() && path.substr(0, name.size()) == name &&
           (path.size() == name.size() || path[name.size()] == '/' || name.back() == '/');
  });
}

// In one pass: every line of a log of megabytes may hold `what`.
void erase_all(std::string& text, const std::string& what) {
  if (what.empty()) {
    return;
  }
  std::string out;
  std::size_t begin = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, begin)) {
    out.append(text, begin, at - begin);
    begin = at + what.size();
  }
  if (begin > 0) {
    text = out.append(text, begin);
  }
}

// Absolute path that starts at `at`: at least two parts ("/etc/passwd"), so that a division or a
// comment in quoted source is none.
std::string_view absolute_path(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && path_character(text[end])) {
    ++end;
  }
  const std::string_view path = text.substr(at, end - at);
  const bool deep = path.size() > 3 && path[1] != '/' && path[1] != '.' &&
                    path.find('/', 1) != std::string_view::npos;
  return deep ? path : std::string_view();
}

bool names_foreign_path(std::string_view text, std::span<const std::filesystem::path> known) {
  for (std::size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at + 1)) {
    if (at > 0 && path_character(text[at - 1])) {
      continue;  // inside a path or a relative one
    }
    const std::string_view path = absolute_path(text, at);
    if (!path.empty() && !below(path, known)) {
      return true;
    }
  }
  return false;
}

struct Feature {
  std::string_view pattern;
  std::string_view name;
};

// What g++ says when it meets a piece of CUDA that the cpu device lacks.
constexpr std::array kFeatures = {
    Feature{"unsupported on device cpu: ", ""},
    Feature{"attempt to use poisoned \"asm\"", "inline PTX (asm)"},
    Feature{"attempt to use poisoned \"__asm", "inline PTX (asm)"},
    Feature{"Error: no such instruction", "inline PTX (asm)"},
    Feature{"Error: junk at end of line", "inline PTX (asm)"},
    Feature{"invalid 'asm'", "inline PTX (asm)"},
    Feature{"expected primary-expression before '<' token", "launches from device code (<<<>>>)"},
    Feature{"cub/", "CUB"},
    Feature{"'cub'", "CUB"},
    Feature{"cuda/std", "cuda::std"},
    Feature{"'cuda' has not been declared", "cuda::"},
    Feature{"'cuda' is not", "cuda::"},
    Feature{"fatal error: cuda/", "cuda::"},
    Feature{"thrust/", "Thrust"},
    Feature{"cute/", "CuTe"},
    Feature{"cutlass/", "CUTLASS"},
    Feature{"mma.h", "wmma"},
    Feature{"'nvcuda'", "wmma"},
    Feature{"cudaTextureObject_t", "textures"},
    Feature{"cudaSurfaceObject_t", "surfaces"},
    Feature{"tex1D", "textures"},
    Feature{"tex2D", "textures"},
    Feature{"tex3D", "textures"},
    Feature{"curand", "cuRAND"},
    Feature{"CUtensorMap", "TMA"},
    Feature{"__cvta_generic_to_", "address space conversions"},
    Feature{"this_grid", "grid-wide groups"},
    Feature{"this_cluster", "clusters"},
    Feature{"cooperative_groups/", "parts of cooperative_groups"},
};

// The lines that state an error or quote nothing: a comment in the submission must not decide.
std::string error_lines(std::string_view log) {
  std::string lines;
  for (const std::string_view line : util::split(log, '\n')) {
    if (line.find("error:") != std::string_view::npos ||
        line.find("Error:") != std::string_view::npos) {
      lines += line;
      lines += '\n';
    }
  }
  return lines;
}

}  // namespace

std::string clean_log(std::string_view raw,
                      std::span<const std::filesystem::path> ours,
                      std::span<const std::filesystem::path> known) {
  std::string text = util::printable(raw);
  for (const auto& folder : ours) {
    erase_all(text, folder.native() + "/");
    erase_all(text, folder.native());
  }
  if (names_foreign_path(text, known)) {
    return "log withheld: it names a file outside the toolchain's folders\n";
  }
  return util::excerpt(text, kMaxLogBytes);
}

std::string without_wrapper(std::string_view log) {
  std::string out;
  for (const std::string_view line : util::split(log, '\n')) {
    if (!line.starts_with("In file included from unit.c") || !line.ends_with(':')) {
      out += line;
      out += '\n';
    }
  }
  // The text behind the last line break was a line too.
  return out.empty() ? out : out.substr(0, out.size() - 1);
}

std::string unsupported_feature(std::string_view log) {
  std::string lines = error_lines(log);
  // g++ quotes with typographic marks in a UTF-8 locale.
  for (const std::string_view mark : {"\xe2\x80\x98", "\xe2\x80\x99"}) {
    for (std::size_t at = lines.find(mark); at != std::string::npos; at = lines.find(mark, at)) {
      lines.replace(at, mark.size(), "'");
    }
  }
  for (const Feature& feature : kFeatures) {
    const std::size_t at = lines.find(feature.pattern);
    if (at == std::string::npos) {
      continue;
    }
    if (!feature.name.empty()) {
      return std::string(feature.name);
    }
    const std::size_t begin = at + feature.pattern.size();
    return lines.substr(begin, lines.find_first_of("\"\n", begin) - begin);
  }
  return {};
}

}  // namespace sweep::compile

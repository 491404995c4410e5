#include "publish/patterns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace sweep::publish {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The letter of "\\n", "\\t" and the like, which end a word where a text was quoted.
bool is_escape(std::string_view text, std::size_t at) {
  return at > 0 && text[at - 1] == '\\' &&
         std::string_view("nrtbf").find(text[at]) != std::string_view::npos;
}

// Bytes of path parts as they are usually written.
bool is_path_byte(char c) {
  return is_word(c) || std::string_view(".~+@%=-").find(c) != std::string_view::npos;
}

// Length of a separator, "/" or "\/" or "\\" of other systems' paths; 0: none.
std::size_t separator(std::string_view text, std::size_t at) {
  if (at < text.size() && text[at] == '/') {
    return 1;
  }
  std::size_t end = at;
  while (end < text.size() && text[end] == '\\') {
    ++end;
  }
  return end > at && end < text.size() && text[end] == '/' ? end + 1 - at : 0;
}

// Where a path ends that begins at `at`, at a separator.
std::size_t path_end(std::string_view text, std::size_t at) {
  for (;;) {
    const std::size_t step = separator(text, at);
    if (step == 0) {
      return at;
    }
    std::size_t end = at + step;
    while (end < text.size() && is_path_byte(text[end])) {
      ++end;
    }
    if (end == at + step) {
      return at;
    }
    at = end;
  }
}

// Folders whose content is somebody's; all others, such as /usr, are alike everywhere.
std::optional<Found> path_at(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 21> roots = {
      "home", "Users",  "root",    "mnt",      "data",    "scratch", "gpfs",
      "work", "lustre", "nfs",     "net",      "srv",     "media",   "Volumes",
      "tmp",  "export", "project", "projects", "cluster", "private", "workspace"};
  const std::size_t step = separator(text, at);
  const char previous = before(text, at);
  if (step == 0 || is_word(previous) || previous == '/' || previous == '.' || previous == '\\') {
    return std::nullopt;
  }
  const std::size_t start = at + step;
  std::size_t end = start;
  while (end < text.size() && is_word(text[end])) {
    ++end;
  }
  const std::string_view root = text.substr(start, end - start);
  if (std::find(roots.begin(), roots.end(), root) == roots.end()) {
    return std::nullopt;
  }
  const std::size_t whole = path_end(text, at);
  // "/data" alone, or before a blank, is no path into it; "/root" is somebody's home.
  if (whole <= end && root != "root") {
    return std::nullopt;
  }
  return Found{std::max(whole, end) - at, "path", "redacted-path"};
}

// C:\Users\NAME\..., with backslashes written once or twice.
std::optional<Found> windows_path_at(std::string_view text, std::size_t at) {
  if (!is_letter(text[at]) || is_word(before(text, at)) || text.substr(at + 1, 2) != ":\\") {
    return std::nullopt;
  }
  std::size_t end = at + 2;
  while (end < text.size() && (text[end] == '\\' || is_path_byte(text[end]))) {
    ++end;
  }
  const std::string_view path = text.substr(at, end - at);
  return path.find("\\Users\\") != std::string_view::npos
             ? std::optional(Found{end - at, "path", "redacted-path"})
             : std::nullopt;
}

std::optional<Found> key_at(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 16> starts = {"sk-",
                                                       "hf_",
                                                       "ghp_",
                                                       "gho_",
                                                       "ghs_",
                                                       "github_pat_",
                                                       "glpat-",
                                                       "xoxb-",
                                                       "xoxp-",
                                                       "AKIA",
                                                       "AIza",
                                                       "gsk_",
                                                       "r8_",
                                                       "pplx-",
                                                       "nvapi-",
                                                       "eyJ"};
  constexpr std::size_t tail = 16;  // shorter ones are words: "sk-learn"
  if (is_word(before(text, at)) || before(text, at) == '-') {
    return std::nullopt;
  }
  for (const std::string_view start : starts) {
    if (!text.substr(at).starts_with(start)) {
      continue;
    }
    std::size_t end = at + start.size();
    bool digit = false;
    while (end < text.size() &&
           (is_word(text[end]) || text[end] == '-' || (start == "eyJ" && text[end] == '.'))) {
      digit = digit || is_digit(text[end]);
      ++end;
    }
    if (end - at >= start.size() + tail && digit) {
      return Found{end - at, "key", "redacted-key"};
    }
  }
  return std::nullopt;
}

std::optional<Found> private_key_at(std::string_view text, std::size_t at) {
  constexpr std::string_view start = "-----BEGIN ";
  if (!text.substr(at).starts_with(start)) {
    return std::nullopt;
  }
  const std::size_t line = text.find("-----", at + start.size());
  if (line == std::string_view::npos ||
      text.substr(at, line - at).find("PRIVATE KEY") == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t last = text.find("-----END ", line);
  const std::size_t end =
      last == std::string_view::npos ? text.size() : text.find("-----", last + 9);
  return Found{(end == std::string_view::npos ? text.size() : end + 5) - at, "key", "redacted-key"};
}

bool private_network(const std::array<int, 4>& part) {
  return part[0] == 10 || (part[0] == 172 && part[1] >= 16 && part[1] <= 31) ||
         (part[0] == 192 && part[1] == 168) || (part[0] == 169 && part[1] == 254) ||
         (part[0] == 100 && part[1] >= 64 && part[1] <= 127);
}

std::optional<Found> address_at(std::string_view text, std::size_t at) {
  const char previous = before(text, at);
  if (!is_digit(text[at]) || is_word(previous) || previous == '.') {
    return std::nullopt;
  }
  std::array<int, 4> part{};
  std::size_t end = at;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const char* from = text.data() + end;
    const auto [stop, error] = std::from_chars(from, text.data() + text.size(), part[i]);
    if (error != std::errc() || part[i] > 255 || stop - from > 3) {
      return std::nullopt;
    }
    end += static_cast<std::size_t>(stop - from);
    if (i < 3 && (end >= text.size() || text[end++] != '.')) {
      return std::nullopt;
    }
  }
  const bool open =
      end < text.size() && (is_word(text[end]) ||
                            (text[end] == '.' && end + 1 < text.size() && is_digit(text[end + 1])));
  return !open && private_network(part)
             ? std::optional(Found{end - at, "address", "redacted-address"})
             : std::nullopt;
}

// Where a host name ends that begins at `at`; labels with dots between.
std::size_t host_end(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && (is_word(text[end]) || text[end] == '-' || text[end] == '.')) {
    ++end;
  }
  while (end > at && (text[end - 1] == '.' || text[end - 1] == '-')) {
    --end;
  }
  return end;
}

std::optional<Found> email_at(std::string_view text, std::size_t at) {
  const auto local = [](char c) {
    return is_word(c) || std::string_view(".%+-").find(c) != std::string_view::npos;
  };
  if (!is_word(text[at]) || local(before(text, at))) {
    return std::nullopt;
  }
  constexpr std::size_t longest = 64;  // RFC 5321
  std::size_t sign = at;
  while (sign < text.size() && sign - at <= longest && local(text[sign])) {
    ++sign;
  }
  if (sign >= text.size() || text[sign] != '@') {
    return std::nullopt;
  }
  const std::size_t end = host_end(text, sign + 1);
  const std::string_view host = text.substr(sign + 1, end - sign - 1);
  const std::size_t dot = host.rfind('.');
  const bool domain =
      dot != std::string_view::npos && dot > 0 && host.size() - dot > 2 &&
      std::all_of(host.begin() + static_cast<std::ptrdiff_t>(dot) + 1, host.end(), is_letter);
  return domain ? std::optional(Found{end - at, "email", "redacted-email"}) : std::nullopt;
}

std::optional<Found> internal_host_at(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 8> suffixes = {
      ".internal", ".lan", ".corp", ".intranet", ".localdomain", ".home.arpa", ".svc", ".local"};
  const char previous = before(text, at);
  if (!is_word(text[at]) || is_word(previous) || previous == '.' || previous == '-') {
    return std::nullopt;
  }
  constexpr std::size_t longest = 253;  // RFC 1035
  const std::size_t end = host_end(text.substr(0, std::min(text.size(), at + longest + 1)), at);
  const std::string_view host = text.substr(at, end - at);
  for (const std::string_view suffix : suffixes) {
    if (host.size() <= suffix.size() || !host.ends_with(suffix)) {
      continue;
    }
    // PTX spells memory so: ld.local, st.local, cvta.to.local. A host has a digit or a hyphen.
    const std::string_view name = host.substr(0, host.size() - suffix.size());
    if (suffix != ".local" ||
        std::any_of(name.begin(), name.end(), [](char c) { return is_digit(c) || c == '-'; })) {
      return Found{end - at, "internal-host", "redacted-host"};
    }
  }
  return std::nullopt;
}

// GPU-8-4-4-4-12 and MIG- the same.
std::optional<Found> uuid_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  constexpr std::array<std::size_t, 5> groups = {8, 4, 4, 4, 12};
  if (!rest.starts_with("GPU-") && !rest.starts_with("MIG-")) {
    return std::nullopt;
  }
  std::size_t end = 4;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t digit = 0; digit < groups[i]; ++digit, ++end) {
      if (end >= rest.size() || !is_hex(rest[end])) {
        return std::nullopt;
      }
    }
    if (i + 1 < groups.size() && (end >= rest.size() || rest[end++] != '-')) {
      return std::nullopt;
    }
  }
  return Found{end, "gpu-uuid", "redacted-gpu"};
}

}  // namespace

bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

char before(std::string_view text, std::size_t at) {
  if (at == 0) {
    return ' ';
  }
  return at > 1 && is_escape(text, at - 1) ? ' ' : text[at - 1];
}

std::optional<Found> private_at(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (is_escape(text, at)) {
    return std::nullopt;
  }
  if (c == '/' || c == '\\') {
    return path_at(text, at);
  }
  if (c == '-') {
    return private_key_at(text, at);
  }
  if (!is_word(c)) {
    return std::nullopt;
  }
  for (const auto look :
       {windows_path_at, key_at, address_at, email_at, internal_host_at, uuid_at}) {
    if (const auto found = look(text, at)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace sweep::publish

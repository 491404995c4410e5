#include "publish/redact.h"

#include "publish/patterns.h"

#include <algorithm>
#include <array>
#include <set>

namespace sweep::publish {

namespace {

constexpr std::size_t kShortest = 3;  // bytes

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool everybodys(const std::string& text) {
  constexpr std::array<std::string_view, 22> names = {
      "root",   "user",  "nobody", "localhost", "cpu",   "cuda",  "home", "local",
      "host",   "node",  "server", "admin",     "gpu",   "h100",  "h200", "a100",
      "nvidia", "sweep", "debian", "ubuntu",    "linux", "runner"};
  return std::find(names.begin(), names.end(), lower(text)) != names.end();
}

std::string with_escaped_slashes(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '/' ? "\\/" : std::string(1, c);
  }
  return out;
}

// Longest first, so that a URL is taken before the host in it.
std::vector<Secret> in_order(std::vector<Secret> secrets) {
  std::vector<Secret> out;
  std::set<std::string> seen;
  for (Secret& secret : secrets) {
    if (secret.text.size() < kShortest || everybodys(secret.text) ||
        !seen.insert(lower(secret.text)).second) {
      continue;
    }
    if (secret.text.find('/') != std::string::npos) {
      out.push_back({secret.rule, with_escaped_slashes(secret.text), secret.placeholder});
    }
    out.push_back(std::move(secret));
  }
  std::stable_sort(out.begin(), out.end(), [](const Secret& a, const Secret& b) {
    return a.text.size() > b.text.size();
  });
  return out;
}

// As a word of its own: "gpu1" is not in "gpu12". Keys and quoted texts count anywhere.
bool bounded(std::string_view text, std::size_t at, const Secret& secret) {
  if (secret.rule == "key" || secret.rule == "given") {
    return true;
  }
  const std::size_t end = at + secret.text.size();
  const bool left = at == 0 || !is_word(secret.text.front()) || !is_word(before(text, at));
  const bool right = end >= text.size() || !is_word(secret.text.back()) || !is_word(text[end]);
  return left && right;
}

std::string without_literal(const std::string& text, const Secret& secret, Counts& counts) {
  const std::string low = lower(text);
  const std::string what = lower(secret.text);
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = low.find(what); at != std::string::npos; at = low.find(what, at)) {
    if (!bounded(text, at, secret)) {
      ++at;
      continue;
    }
    out.append(text, from, at - from).append(secret.placeholder);
    ++counts[secret.rule];
    at += what.size();
    from = at;
  }
  return from == 0 ? text : out.append(text, from);
}

}  // namespace

const std::vector<Rule>& pattern_rules() {
  static const std::vector<Rule> rules = {
      {"path",
       "absolute paths below /home, /Users, /root, /tmp, /mnt, /data and other folders of "
       "people, whole"},
      {"key",
       "keys of known forms (sk-, hf_, ghp_, AKIA, tokens, private keys), and the values of "
       "the run's key variables that are set when it is published"},
      {"address", "IPv4 addresses of private networks"},
      {"email", "mail addresses"},
      {"internal-host", "names below .internal, .lan, .corp, .intranet, .local and the like"},
      {"gpu-uuid", "UUIDs of GPUs"}};
  return rules;
}

Redactor::Redactor(std::vector<Secret> secrets) : secrets_(in_order(std::move(secrets))) {}

std::string Redactor::redact(std::string_view text, Counts& counts) const {
  std::string plain(text);
  for (const Secret& secret : secrets_) {
    plain = without_literal(plain, secret, counts);
  }
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = 0; at < plain.size();) {
    const auto found = private_at(plain, at);
    if (!found) {
      ++at;
      continue;
    }
    out.append(plain, from, at - from).append(found->placeholder);
    ++counts[std::string(found->rule)];
    at += found->length;
    from = at;
  }
  return from == 0 ? plain : out.append(plain, from);
}

std::string Redactor::finds(std::string_view text) const {
  Counts counts;
  (void)redact(text, counts);
  return counts.empty() ? std::string() : counts.begin()->first;
}

std::string Redactor::placeholder_of(std::string_view text) const {
  for (const Secret& secret : secrets_) {
    if (secret.text == text) {
      return secret.placeholder;
    }
  }
  return {};
}

std::vector<std::string> people_in(std::string_view text) {
  std::set<std::string> names;
  for (const std::string_view root : {"/home/", "/Users/", "\\/home\\/", "\\/Users\\/"}) {
    for (std::size_t at = text.find(root); at != std::string_view::npos;
         at = text.find(root, at + 1)) {
      const std::size_t start = at + root.size();
      std::size_t end = start;
      while (end < text.size() && (is_word(text[end]) || text[end] == '-' || text[end] == '.')) {
        ++end;
      }
      if (end > start) {
        names.emplace(text.substr(start, end - start));
      }
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace sweep::publish

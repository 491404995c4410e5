#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// What must not leave the machine in a published run, and what stands in its place.
namespace sweep::publish {

// How often each rule applied.
using Counts = std::map<std::string, std::size_t>;

// One text to be taken out wherever it stands as a word of its own, whatever its case.
struct Secret {
  std::string rule;         // "host", "user", "endpoint", ...
  std::string text;         // never written anywhere by this module
  std::string placeholder;  // "redacted-host-1"
};

// The rules by pattern, with one sentence each: "path", "key", "address", "email", "gpu-uuid",
// "internal-host".
struct Rule {
  std::string_view name;
  std::string_view what;
};

[[nodiscard]] const std::vector<Rule>& pattern_rules();

class Redactor {
 public:
  // Secrets of fewer than three bytes, and such as everybody has ("root", "localhost"), are left
  // out: fields that hold them are the caller's. Equal texts count once.
  explicit Redactor(std::vector<Secret> secrets);

  // The text without secrets and without what the patterns take for private: absolute paths into
  // home, data and temporary folders, keys of known forms, addresses of private networks, mail
  // addresses, names of internal domains, UUIDs of GPUs. A slash may be written "\/". Any bytes.
  [[nodiscard]] std::string redact(std::string_view text, Counts& counts) const;

  // The rule that would change the text; empty: none.
  [[nodiscard]] std::string finds(std::string_view text) const;

  // The placeholder of an own secret with exactly this text; empty: none.
  [[nodiscard]] std::string placeholder_of(std::string_view text) const;

  [[nodiscard]] const std::vector<Secret>& secrets() const { return secrets_; }

 private:
  std::vector<Secret> secrets_;  // longest first
};

// Absolute paths below the folders of people ("/home/NAME/...") in a text: the names.
[[nodiscard]] std::vector<std::string> people_in(std::string_view text);

}  // namespace sweep::publish

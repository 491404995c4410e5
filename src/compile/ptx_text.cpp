#include "compile/ptx_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace sweep::compile {
namespace {

using Tokens = std::vector<std::string_view>;

bool word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%' || c == '.';
}

// Comments become spaces; a comment that is not closed runs to the end.
std::string without_comments(std::string_view text) {
  std::string out(text);
  for (std::size_t at = 0; at < out.size(); ++at) {
    if (out[at] == '"') {
      at = std::min(out.find('"', at + 1), out.size() - 1);
      continue;
    }
    const bool line = out.compare(at, 2, "//") == 0;
    if (!line && out.compare(at, 2, "/*") != 0) {
      continue;
    }
    const std::size_t found = line ? out.find('\n', at) : out.find("*/", at + 2);
    const std::size_t end =
        found == std::string::npos ? out.size() : found + (line ? std::size_t{0} : std::size_t{2});
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(at),
              out.begin() + static_cast<std::ptrdiff_t>(end),
              ' ');
    at = end - 1;
  }
  return out;
}

std::size_t token_end(std::string_view text, std::size_t at) {
  if (text[at] == '"') {
    const std::size_t end = text.find('"', at + 1);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  if (!word_character(text[at])) {
    return at + 1;
  }
  std::size_t end = at;
  while (end < text.size() && (word_character(text[end]) || text.compare(end, 2, "::") == 0)) {
    end += word_character(text[end]) ? 1U : 2U;
  }
  return end;
}

bool is_header(const Tokens& tokens) {
  return std::any_of(tokens.begin(), tokens.end(), [](std::string_view t) {
    return t == ".entry" || t == ".func";
  });
}

// Reads the front of a token list.
struct Front {
  const Tokens& tokens;
  std::size_t at = 0;

  [[nodiscard]] bool is(std::string_view token) const {
    return at < tokens.size() && tokens[at] == token;
  }

  void drop(std::size_t count) { at = std::min(at + count, tokens.size()); }
};

// Past ".loc FILE LINE COLUMN[, function_name LABEL[+N]][, inlined_at FILE LINE COLUMN]".
void drop_location(Front& front) {
  front.drop(4);
  while (front.is(",")) {
    front.drop(1);
    const bool inlined = front.is("inlined_at");
    front.drop(inlined ? 4 : 2);
    if (!inlined && front.is("+")) {
      front.drop(2);
    }
  }
}

// What may stand before a statement and ends without a semicolon.
bool drop_prefix(Front& front) {
  if (front.is("@")) {
    front.drop(1);
    front.drop(front.is("!") ? 2 : 1);
  } else if (front.is("{")) {
    front.drop(1);
  } else if (front.is(".version") || front.is(".address_size")) {
    front.drop(2);
  } else if (front.is(".loc")) {
    drop_location(front);
  } else if (front.is(".target") || front.is(".file")) {
    front.drop(front.is(".file") ? 3 : 2);
    while (front.is(",")) {
      front.drop(2);
    }
  } else {
    return false;
  }
  return true;
}

class Splitter {
 public:
  explicit Splitter(std::vector<PtxStatement>& out) : out_(out) {}

  void take(std::string_view token) {
    if (token == ";" || (token == "}" && operands_ == 0)) {
      end();
    } else if (token == "{") {
      open();
    } else if (token == ":" && tokens_.size() == 1) {
      tokens_.clear();
    } else {
      operands_ -= token == "}" ? 1 : 0;
      tokens_.push_back(token);
    }
  }

  void end() {
    Front front{tokens_};
    while (drop_prefix(front)) {
    }
    if (front.at < tokens_.size()) {
      function_ += is_header(tokens_) ? 1 : 0;
      out_.push_back(
          {function_, {tokens_.begin() + static_cast<std::ptrdiff_t>(front.at), tokens_.end()}});
    }
    tokens_.clear();
    operands_ = 0;
  }

 private:
  // A brace opens a block or a list of operands.
  void open() {
    if (tokens_.empty() || is_header(tokens_)) {
      end();
    } else {
      ++operands_;
      tokens_.emplace_back("{");
    }
  }

  std::vector<PtxStatement>& out_;
  Tokens tokens_;
  int operands_ = 0;
  int function_ = 0;
};

struct Type {
  std::string_view name;
  std::size_t bytes;
  bool real;
};

constexpr std::array kTypes = {Type{".b8", 1, false},
                               Type{".u8", 1, false},
                               Type{".s8", 1, false},
                               Type{".b16", 2, false},
                               Type{".u16", 2, false},
                               Type{".s16", 2, false},
                               Type{".f16", 2, false},
                               Type{".b32", 4, false},
                               Type{".u32", 4, false},
                               Type{".s32", 4, false},
                               Type{".f32", 4, true},
                               Type{".b64", 8, false},
                               Type{".u64", 8, false},
                               Type{".s64", 8, false},
                               Type{".f64", 8, true},
                               Type{".b128", 16, false}};

std::size_t number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value <= 65536 ? value : 0;
}

// ".param .align 8 .b8 name[16]" or ".param .u64 .ptr .global .align 4 name"; empty: neither.
std::optional<submission::Parameter> parameter(const Tokens& tokens) {
  submission::Parameter out;
  const Type* type = nullptr;
  std::size_t count = 1;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto* const found = std::find_if(
        kTypes.begin(), kTypes.end(), [&](const Type& t) { return t.name == tokens[i]; });
    type = found != kTypes.end() ? found : type;
    if (tokens[i] == "[" && i + 1 < tokens.size()) {
      count = number(tokens[i + 1]);
      out.text = "[" + std::string(tokens[i + 1]) + "]";
    }
  }
  if (type == nullptr) {
    return std::nullopt;
  }
  out.bytes = type->bytes * count;
  out.kind = type->real && count == 1 ? submission::Parameter::Kind::real
                                      : submission::Parameter::Kind::opaque;
  out.text = ".param " + std::string(type->name) + out.text;
  return out;
}

}  // namespace

std::vector<std::string_view> PtxStatement::operand(std::size_t index) const {
  Tokens out;
  int depth = 0;
  std::size_t current = 0;
  for (std::size_t i = 1; i < tokens.size() && current <= index; ++i) {
    const std::string_view t = tokens[i];
    depth += t == "{" || t == "[" || t == "(" ? 1 : (t == "}" || t == "]" || t == ")" ? -1 : 0);
    if (t == "," && depth == 0) {
      ++current;
    } else if (current == index) {
      out.push_back(t);
    }
  }
  return out;
}

PtxText::PtxText(std::string_view text) : text_(without_comments(text)) {
  Splitter splitter(statements_);
  const std::string_view all = text_;
  for (std::size_t at = 0; at < all.size();) {
    const char c = all[at];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at;
      continue;
    }
    const std::size_t end = token_end(all, at);
    splitter.take(all.substr(at, end - at));
    at = end;
  }
  splitter.end();
}

std::vector<PtxEntry> PtxText::entries() const {
  std::vector<PtxEntry> out;
  for (const PtxStatement& statement : statements_) {
    const Tokens& tokens = statement.tokens;
    const auto entry = std::find(tokens.begin(), tokens.end(), ".entry");
    if (tokens.end() - entry < 2) {
      continue;
    }
    PtxEntry made{std::string(entry[1]), {}};
    Tokens one;
    for (auto token = entry + 2; token != tokens.end(); ++token) {
      if (*token != "," && *token != ")") {
        one.push_back(*token);
        continue;
      }
      if (auto found = parameter(one)) {
        made.parameters.push_back(std::move(*found));
      }
      one.clear();
      if (*token == ")") {
        break;
      }
    }
    out.push_back(std::move(made));
  }
  return out;
}

}  // namespace sweep::compile

#include "publish/document.h"

#include "publish/collect.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace sweep::publish {

namespace {

constexpr std::string_view kWithheld =
    "withheld: put together, the events of this stream hold something private\n";
constexpr std::string_view kHeldOut = "redacted-held-out";
constexpr std::string_view kComputed = " computed on the GPU while it was locked";

bool harmless_header(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  constexpr std::array<std::string_view, 9> names = {"content-type",
                                                     "content-length",
                                                     "transfer-encoding",
                                                     "keep-alive",
                                                     "connection",
                                                     "retry-after",
                                                     "cache-control",
                                                     "content-encoding",
                                                     "date"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Walk {
 public:
  Walk(const Redactor& redactor, bool reveal, Counts& counts)
      : redactor_(redactor), reveal_(reveal), counts_(counts) {}

  nlohmann::json of(const nlohmann::json& value) {
    if (value.is_string()) {
      return redactor_.redact(value.get_ref<const std::string&>(), counts_);
    }
    if (value.is_array()) {
      nlohmann::json out = nlohmann::json::array();
      for (const auto& one : value) {
        out.push_back(of(one));
      }
      return out;
    }
    if (!value.is_object()) {
      return value;
    }
    nlohmann::json out = nlohmann::json::object();
    for (const auto& [key, one] : value.items()) {
      out[redactor_.redact(key, counts_)] = field(key, one);
    }
    return out;
  }

 private:
  nlohmann::json field(const std::string& key, const nlohmann::json& value) {
    if (key == "heldout" && value.is_object() && !reveal_) {
      return of(masked(value));
    }
    if (key == "headers" && value.is_structured()) {
      return headers(value);
    }
    if (key == "neighbours" && value.is_array()) {
      return neighbours(value);
    }
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
      return of(value);
    }
    const std::string text = value;
    if (key == "host" || key == "hostname") {
      return whole("host", text);
    }
    if (key == "gpu_uuid") {
      return whole("gpu", text);
    }
    // What an evaluation says of neighbours; its words are evaluate/conclusion.cpp's.
    if (key == "next" && text.starts_with("pid ") && text.find(kComputed) != std::string::npos) {
      return whole("program", text);
    }
    if (key == "base_url" && is_private_endpoint(text)) {
      return whole("endpoint", text);
    }
    return of(value);
  }

  // The field goes as a whole, however short its text is.
  std::string whole(const std::string& rule, const std::string& text) {
    ++counts_[rule];
    const std::string known = redactor_.placeholder_of(text);
    return known.empty() ? "redacted-" + rule : known;
  }

  // Other people's programs beside a timing: that there were some stays, and whether they computed.
  nlohmann::json neighbours(const nlohmann::json& list) {
    nlohmann::json out = nlohmann::json::array();
    for (const nlohmann::json& one : list) {
      ++counts_["program"];
      out.push_back({{"name", "redacted-program"},
                     {"pid", 0},
                     {"busy", one.is_object() && one.value("busy", nlohmann::json()) == true}});
    }
    return out;
  }

  // Pairs, or one object.
  nlohmann::json headers(const nlohmann::json& pairs) {
    if (pairs.is_object()) {
      nlohmann::json out = nlohmann::json::object();
      for (const auto& [name, value] : pairs.items()) {
        const bool keep = harmless_header(name) || value == "[filtered]";
        counts_["header"] += keep ? 0U : 1U;
        out[redactor_.redact(name, counts_)] = keep ? of(value) : nlohmann::json("redacted-header");
      }
      forget_no_header();
      return out;
    }
    nlohmann::json out = nlohmann::json::array();
    for (const auto& pair : pairs) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string()) {
        out.push_back(of(pair));
        continue;
      }
      const bool keep = harmless_header(pair[0]) || pair[1] == "[filtered]";
      counts_["header"] += keep ? 0U : 1U;
      out.push_back({of(pair[0]), keep ? of(pair[1]) : nlohmann::json("redacted-header")});
    }
    forget_no_header();
    return out;
  }

  void forget_no_header() {
    if (counts_["header"] == 0) {
      counts_.erase("header");
    }
  }

  // What would tell the draws: seeds, dims, contents, and what a failure says.
  nlohmann::json masked(const nlohmann::json& value) {
    if (!value.is_structured()) {
      return value;
    }
    nlohmann::json out = value;
    for (auto& [key, one] : out.items()) {
      if (key == "draw" && one.is_number()) {
        one = 0;
        ++counts_["held-out"];
      } else if (key == "dims" && one.is_object()) {
        if (!one.empty()) {
          ++counts_["held-out"];
        }
        one = nlohmann::json::object();
      } else if (key == "content" && one.is_string()) {
        one = kHeldOut;
        ++counts_["held-out"];
      } else if ((key == "failure" || key == "inner") && one.is_object()) {
        one = silent(one);
        ++counts_["held-out"];
      } else {
        one = masked(one);
      }
    }
    return out;
  }

  // A failure of which only the verdict is left.
  nlohmann::json silent(const nlohmann::json& value) {
    if (value.is_string()) {
      return kHeldOut;
    }
    if (value.is_number()) {
      return 0;
    }
    if (!value.is_structured()) {
      return value;
    }
    nlohmann::json out = value;
    for (auto& [key, one] : out.items()) {
      if (key != "verdict") {
        one = silent(one);
      }
    }
    return out;
  }

  const Redactor& redactor_;
  bool reveal_;
  Counts& counts_;
};

// The strings of a stream's events, those at the same place of each event put together.
class Stream {
 public:
  void add(const nlohmann::json& event) { walk(event, ""); }

  [[nodiscard]] bool hides(const Redactor& redactor) const {
    return std::any_of(texts_.begin(), texts_.end(), [&](const auto& one) {
      return !redactor.finds(one.second).empty();
    });
  }

 private:
  void walk(const nlohmann::json& value, const std::string& where) {
    if (value.is_string()) {
      texts_[where] += value.get_ref<const std::string&>();
    } else if (value.is_object()) {
      for (const auto& [key, one] : value.items()) {
        walk(one, where + "/" + key);
      }
    } else if (value.is_array()) {
      for (const auto& one : value) {
        walk(one, where + "/-");
      }
    }
  }

  std::map<std::string, std::string> texts_;
};

// True where what is private shows only when the events' texts are put together.
bool hidden_in_stream(std::string_view bytes, const Redactor& redactor) {
  constexpr std::string_view start = "data:";
  Stream stream;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    const std::string_view line = bytes.substr(at, end - at);
    if (line.starts_with(start)) {
      stream.add(nlohmann::json::parse(line.substr(start.size()), nullptr, false));
    }
    at = end + 1;
  }
  return stream.hides(redactor);
}

}  // namespace

nlohmann::json cleaned(const nlohmann::json& document,
                       const Redactor& redactor,
                       bool reveal,
                       Counts& counts) {
  return Walk(redactor, reveal, counts).of(document);
}

Cleaned cleaned(std::string_view bytes, const Redactor& redactor, bool reveal) {
  Cleaned out;
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (bytes[first] == '{' || bytes[first] == '[')) {
    const nlohmann::json document = nlohmann::json::parse(bytes, nullptr, false);
    if (!document.is_discarded()) {
      const nlohmann::json clean = cleaned(document, redactor, reveal, out.counts);
      out.bytes = out.counts.empty()
                      ? std::string(bytes)
                      : clean.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      return out;
    }
  }
  out.bytes = redactor.redact(bytes, out.counts);
  if (hidden_in_stream(out.bytes, redactor)) {
    out.bytes = kWithheld;
    out.withheld = true;
    out.counts["stream"] = 1;
  }
  return out;
}

}  // namespace sweep::publish

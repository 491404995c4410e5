#include "report/stream.h"

#include "record/json.h"
#include "record/run_dir.h"
#include "report/page_file.h"
#include "util/error.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace sweep::report {

namespace {

constexpr std::size_t kMaxFile = std::size_t{1} << 20;

bool is_stream(const nlohmann::json& from) {
  const auto has = [&](const char* name, bool text) {
    const auto found = from.find(name);
    return found != from.end() && (text ? found->is_string() : found->is_number_integer());
  };
  return from.is_object() && has("turn", false) && has("reasoning", true) && has("text", true) &&
         has("reasoning_bytes", false) && has("text_bytes", false);
}

// The whole of it, or its end with a word on what is missing.
Markup part(const char* id, const char* what, const std::string& shown, std::int64_t bytes) {
  if (shown.empty()) {
    return {};
  }
  const bool whole = bytes <= static_cast<std::int64_t>(shown.size());
  return element("p",
                 {{"class", "meta"}},
                 text(fmt::format(
                     "{} so far, {} bytes{}", what, bytes, whole ? "" : "; its end is shown"))) +
         element("pre", {{"class", "wrap"}, {"id", id}}, text(shown));
}

}  // namespace

void write_stream(const std::filesystem::path& file, const record::Stream& stream) {
  (void)write_page(file,
                   record::canonical({{"turn", stream.turn},
                                      {"reasoning", stream.reasoning},
                                      {"text", stream.text},
                                      {"reasoning_bytes", stream.reasoning_bytes},
                                      {"text_bytes", stream.text_bytes},
                                      {"data_policy", record::kPolicy}}) +
                       "\n");
}

std::optional<record::Stream> read_stream(const std::filesystem::path& file) {
  try {
    const nlohmann::json from =
        record::parse_bounded(record::read_whole(file, kMaxFile), file.string(), kMaxFile, 10);
    if (!is_stream(from)) {
      return std::nullopt;
    }
    return record::Stream{
        from["turn"], from["reasoning"], from["text"], from["reasoning_bytes"], from["text_bytes"]};
  } catch (const util::Error&) {
    return std::nullopt;
  }
}

Markup stream_section(const record::Stream& stream) {
  const Markup head = element("h3", text(fmt::format("Turn {}, under way", stream.turn + 1)));
  return element(
      "section",
      {{"class", "turn"}, {"id", "streaming"}},
      element("header", head) +
          part("streaming-reasoning", "reasoning", stream.reasoning, stream.reasoning_bytes) +
          part("streaming-text", "answer", stream.text, stream.text_bytes));
}

}  // namespace sweep::report

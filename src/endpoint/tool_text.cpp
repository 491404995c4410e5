#include "endpoint/tool_text.h"

#include "endpoint/arguments.h"
#include "endpoint/text_formats.h"
#include "util/fences.h"
#include "util/text.h"

#include <algorithm>
#include <array>

namespace sweep::endpoint {
namespace {

constexpr std::size_t kMaxTextCalls = 16;

// What begins a call somewhere; not all of it is read.
constexpr std::array<std::string_view, 13> kMarks = {"<tool_call>",
                                                     "<tools>",
                                                     "<function=",
                                                     "<arg_key>",
                                                     "<|python_tag|>",
                                                     "<|tool_call_start|>",
                                                     "<|tool_calls_section_begin|>",
                                                     "<|tool_call_begin|>",
                                                     "<|open|>tools",
                                                     "<\xEF\xBD\x9C"
                                                     "DSML",
                                                     "\xEF\xBD\x9C"
                                                     "DSML\xEF\xBD\x9C",
                                                     "<\xEF\xBD\x9Ctool",
                                                     "[TOOL_CALLS]"};

std::string_view mark_at(std::string_view text) {
  const auto* const found = std::find_if(
      kMarks.begin(), kMarks.end(), [&](std::string_view mark) { return text.starts_with(mark); });
  return found == kMarks.end() ? std::string_view() : *found;
}

struct FormatReader {
  Markup markup;
  TextReader read;
};

constexpr std::array kReaders = {FormatReader{Markup::hermes, read_hermes},
                                 FormatReader{Markup::qwen3_xml, read_qwen3_xml},
                                 FormatReader{Markup::glm, read_glm},
                                 FormatReader{Markup::kimi, read_kimi}};

class TextScan {
 public:
  TextScan(std::string_view text, const Offer& offer, const std::vector<Markup>& formats)
      : text_(text), offer_(offer), formats_(formats) {}

  TextCalls run() {
    if (whole())
      return std::move(out_);
    for (std::size_t at = 0; at < text_.size();)
      at += std::max<std::size_t>(step(at), 1);
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool reads(Markup markup) const {
    return std::find(formats_.begin(), formats_.end(), markup) != formats_.end();
  }

  void add(std::vector<ToolCall> calls) {
    for (ToolCall& call : calls)
      if (out_.calls.size() < kMaxTextCalls)
        out_.calls.push_back(std::move(call));
      else
        out_.left = true;
  }

  // A text that is nothing but calls without markup.
  bool whole() {
    const std::string_view text = without_special_tokens(text_);
    if (!text.starts_with('{') && !text.starts_with('['))
      return false;
    std::vector<ToolCall> calls;
    if (reads(Markup::json))
      calls = calls_from_json(text, offer_, Markup::json);
    if (calls.empty() && reads(Markup::pythonic))
      if (auto found = read_pythonic(text, offer_))
        calls = std::move(found->calls);
    const bool any = !calls.empty();
    add(std::move(calls));
    return any;
  }

  // The calls that `text` begins with.
  [[nodiscard]] std::optional<Found> read(std::string_view text) const {
    for (const FormatReader& one : kReaders)
      if (reads(one.markup))
        if (auto found = one.read(text, offer_))
          return found;
    if (reads(Markup::pythonic) && !text.starts_with('['))
      return read_pythonic(text, offer_);
    return std::nullopt;
  }

  // A block that is nothing but calls.
  [[nodiscard]] std::vector<ToolCall> read_block(std::string_view content) const {
    std::string_view rest = util::trim(content);
    std::vector<ToolCall> calls = calls_from_json(rest, offer_, Markup::fenced);
    if (!calls.empty())
      return calls;
    while (!rest.empty()) {
      auto found = read(rest);
      if (!found)
        return {};
      for (ToolCall& call : found->calls)
        calls.push_back(std::move(call));
      rest = util::trim(rest.substr(found->length));
    }
    return calls;
  }

  // Reads what stands at `at`; its length, 0 when nothing begins there.
  std::size_t step(std::size_t at) {
    const std::string_view rest = text_.substr(at);
    if (at == 0 || text_[at - 1] == '\n')
      if (const auto fence = util::fence_at(text_, at)) {
        // What is never closed is code, and no call.
        if (reads(Markup::fenced) && fence->closed)
          add(read_block(fence->content));
        return fence->end - at;
      }
    const std::string_view mark = mark_at(rest);
    if (mark.empty())
      return 0;
    auto found = read(rest);
    if (!found) {
      out_.left = true;
      return mark.size();
    }
    add(std::move(found->calls));
    return found->length;
  }

  std::string_view text_;
  const Offer& offer_;
  const std::vector<Markup>& formats_;
  TextCalls out_;
};

}  // namespace

TextCalls calls_in_text(std::string_view text,
                        const Offer& offer,
                        const std::vector<Markup>& formats) {
  return TextScan(text, offer, formats).run();
}

bool has_tool_markup(std::string_view text) {
  const Offer none;
  const std::vector<Markup> off;
  return TextScan(text, none, off).run().left;
}

}  // namespace sweep::endpoint

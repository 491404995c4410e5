#include "report/shown_text.h"

#include "report/page.h"
#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::report {

std::string ShownText::take(std::string_view whole) const {
  const std::size_t room = shown_ < kMostOfPage ? kMostOfText : kFewOfText;
  return util::head_and_tail(whole, room);
}

Markup ShownText::counted(const Markup& inner,
                          std::string_view shown,
                          std::string_view whole,
                          const std::string& source) {
  shown_ += inner.html().size();
  return shown != whole ? cut_note(shown.size(), whole.size(), source) + inner : inner;
}

Markup ShownText::block(std::string_view whole, const std::string& source) {
  const std::string shown = take(whole);
  return counted(element("pre", {{"class", "wrap"}}, text(shown)), shown, whole, source);
}

Markup ShownText::code(const std::string& id, std::string_view whole, const std::string& source) {
  const std::string shown = take(whole);
  return counted(code_block(id, shown), shown, whole, source);
}

Markup cut_note(std::size_t shown, std::size_t whole, const std::string& source) {
  return element("p",
                 {{"class", "meta"}},
                 text(fmt::format("{} of {} are shown{}",
                                  util::human_bytes(shown),
                                  util::human_bytes(whole),
                                  source.empty() ? "."
                                                 : "; the whole text is in the run's folder, "
                                                   "in ")) +
                     (source.empty() ? Markup{} : element("code", text(source))));
}

std::string artifact_name(const std::string& sha256) {
  return sha256.empty() ? std::string() : "artifacts/" + sha256;
}

Markup fold(const std::string& id, const std::string& title, const Markup& inner, bool open) {
  const Markup body = element("summary", text(title)) + inner;
  return open ? element("details", {{"id", id}, {"open", ""}}, body)
              : element("details", {{"id", id}}, body);
}

}  // namespace sweep::report

#pragma once

#include "report/markup.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace sweep::report {

// How much text from outside one page shows, so that a page opens at once whatever its trajectory
// holds: each text at most kMostOfText bytes, head and tail; once the texts take kMostOfPage bytes
// of the page, each further one at most kFewOfText.
class ShownText {
 public:
  static constexpr std::size_t kMostOfText = std::size_t{64} << 10U;
  static constexpr std::size_t kMostOfPage = std::size_t{4} << 20U;
  static constexpr std::size_t kFewOfText = std::size_t{2} << 10U;

  // The text as a block that breaks its lines, below a note where it was cut; `source` says where
  // the whole text is: "artifacts/ab12..", or nothing.
  [[nodiscard]] Markup block(std::string_view whole, const std::string& source);

  // The same as code in the colours of C++, with the element's id.
  [[nodiscard]] Markup code(const std::string& id,
                            std::string_view whole,
                            const std::string& source);

 private:
  [[nodiscard]] std::string take(std::string_view whole) const;
  [[nodiscard]] Markup counted(const Markup& inner,
                               std::string_view shown,
                               std::string_view whole,
                               const std::string& source);

  std::size_t shown_ = 0;  // bytes of the page
};

// "N of M bytes are shown; the whole text is in SOURCE."
[[nodiscard]] Markup cut_note(std::size_t shown, std::size_t whole, const std::string& source);

// "artifacts/<sha256>"; empty without a hash.
[[nodiscard]] std::string artifact_name(const std::string& sha256);

// A part that opens and closes; `id` keeps it open when the page is swapped for a newer one.
[[nodiscard]] Markup fold(const std::string& id,
                          const std::string& title,
                          const Markup& inner,
                          bool open = false);

}  // namespace sweep::report

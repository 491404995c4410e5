#pragma once

#include <string>
#include <variant>

namespace sweep::profile {

// Why a tool gave nothing: said in one line, stored in JSON, never replaced by a guess.
struct Unavailable {
  std::string what;  // "ncu was not found"
  std::string next;  // the cure; empty where there is none

  // "what; next"
  [[nodiscard]] std::string text() const { return next.empty() ? what : what + "; " + next; }
};

template <class T>
using Result = std::variant<T, Unavailable>;

}  // namespace sweep::profile

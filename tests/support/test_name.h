#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sweep::test {

// "3_max_turns_15": letters, digits and single underscores of `text`, at most 60, behind the number
// that keeps names apart. googletest prints the bytes of a struct, pointers included, otherwise:
// the name of a test would change from build to build.
inline std::string test_name(std::size_t number, std::string_view text) {
  std::string out = std::to_string(number);
  bool gap = true;
  for (const char c : text.substr(0, 60)) {
    const bool word = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (word && gap) {
      out += '_';
    }
    if (word) {
      out += c;
    }
    gap = !word;
  }
  return out;
}

// Name generator for INSTANTIATE_TEST_SUITE_P: `field` is a member or a function of the parameter
// that gives a text.
template <class Field>
auto named(Field field) {
  return [field](const auto& parameter) {
    return test_name(parameter.index, std::invoke(field, parameter.param));
  };
}

}  // namespace sweep::test

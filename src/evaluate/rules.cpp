#include "evaluate/rules.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sweep::evaluate {
namespace {

// A number, and all that lies below it, with the rules that changed it.
struct Change {
  int rules;
  std::string_view place;
};

constexpr std::array kChanges = {
    Change{2, "drift"},
    Change{2, "guards.drift"},
    Change{2, "guards.carryover"},
    Change{2, "decision"},
};

// What rules that are not known may have changed, of shapes and of a session.
constexpr std::array<std::string_view, 3> kOfShape = {"ratio", "uneven", "throughput"};
constexpr std::array<std::string_view, 8> kOfSession = {
    "ratio", "bootstrap", "margin", "discarded", "uneven", "drift", "guards", "decision"};

bool within(std::string_view place, std::string_view of) {
  return place.starts_with(of) && (place.size() == of.size() || place[of.size()] == '.');
}

bool may_have_changed(std::string_view place) {
  constexpr std::string_view kShapes = "shapes.";
  const auto here = [&place](std::string_view of) { return within(place, of); };
  if (!place.starts_with(kShapes)) {
    return std::ranges::any_of(kOfSession, here);
  }
  place.remove_prefix(std::min(place.find('.', kShapes.size()), place.size() - 1) + 1);
  return std::ranges::any_of(kOfShape, here);
}

}  // namespace

bool changed_since(int rules, std::string_view place) {
  if (rules > kRules) {
    return may_have_changed(place);
  }
  return std::ranges::any_of(kChanges, [&](const Change& change) {
    return change.rules > rules && within(place, change.place);
  });
}

bool decides_alike(int rules) {
  return rules <= kRules;
}

std::string rules_text(int rules) {
  return fmt::format("judged by rules {}, this program has rules {}{}",
                     rules,
                     kRules,
                     rules > kRules ? " and does not know those" : "");
}

}  // namespace sweep::evaluate

#pragma once

#include <string>
#include <string_view>

// What a result was judged by. docs/timing.md section "Rules" lists what each number changed.
namespace sweep::evaluate {

// Of this program. One more with every change by which the same calls may get another number or
// verdict: of the comparison (src/problem/device/compare.cuh), of the statistic, its guards and the
// decision (src/timing), of what a session looks for. The numbers that it changes then stand in
// changed_since(). tests/unit/evaluate/rules_test.cpp holds what these rules make of fixed samples.
inline constexpr int kRules = 2;

// Results without the number were made before there was one.
inline constexpr int kFirstRules = 1;
inline constexpr int kMostRules = 1'000'000;  // that a file may say

// Whether this program, from the samples of a result by `rules`, computes the number at `place` of
// a time stage ("guards.drift.low", "shapes.0.ratio.low") in another way than they did. By rules
// that this program does not know, all is but what everybody counts alike: medians and numbers of
// calls.
[[nodiscard]] bool changed_since(int rules, std::string_view place);

// Whether the decision by `rules` follows from ratio and guards as it does today.
[[nodiscard]] bool decides_alike(int rules);

// "judged by rules 1, this program has rules 2".
[[nodiscard]] std::string rules_text(int rules);

}  // namespace sweep::evaluate

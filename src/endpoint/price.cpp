#include "endpoint/price.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sweep::endpoint {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr double kMostDollars = 1e6;  // of one request; more is nonsense from outside

// Four products of 63-bit factors would not fit even here: counts are bounded first.
__extension__ using Wide = __int128;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 50;

std::int64_t tokens(std::int64_t count, std::int64_t most = kMostTokens) {
  return std::clamp<std::int64_t>(count, 0, most);
}

}  // namespace

std::int64_t add_saturated(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    return b > 0 ? kMost : std::numeric_limits<std::int64_t>::min();
  return sum;
}

std::int64_t cost_nano_usd(const Usage& usage, const config::Price& price) {
  const std::int64_t input = tokens(usage.input);
  const std::int64_t cached = tokens(usage.cached, input);
  const std::int64_t written = tokens(usage.cache_write, input - cached);
  const config::Rates& rates = config::rates_at(price, input);
  const Wide pico = Wide{input - cached - written} * rates.input +
                    Wide{cached} * rates.cached_input + Wide{written} * rates.cache_write +
                    Wide{tokens(usage.output)} * rates.output;
  const Wide nano = (pico + 500) / 1000;
  return nano > kMost ? kMost : add_saturated(static_cast<std::int64_t>(nano), price.per_request);
}

std::optional<std::int64_t> provider_nano_usd(const Json& usage) {
  if (const std::int64_t ticks = integer_at(usage, "cost_in_usd_ticks"); ticks >= 0)
    return ticks / 10 + (ticks % 10 >= 5 ? 1 : 0);
  const Json* cost = member(usage, "cost");
  if (cost == nullptr || !cost->is_number())
    return std::nullopt;
  const auto dollars = cost->get<double>();
  if (!(dollars >= 0 && dollars <= kMostDollars))
    return std::nullopt;
  return std::llround(dollars * 1e9);
}

}  // namespace sweep::endpoint

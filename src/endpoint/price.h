#pragma once

#include "config/price.h"
#include "endpoint/conversation.h"
#include "endpoint/json.h"

#include <cstdint>
#include <optional>

namespace sweep::endpoint {

// Nano-dollars of one request, rounded to the nearest once at the end:
//   (input - cached - cache_write) * in + cached * cached_in + cache_write * cache_write_in
//   + output * out + per_request,
// at the rates of the prompt's tier. Counts below 0 are 0, and 0 <= cached + cache_write <= input
// is enforced. Saturates at 2^63 - 1 instead of overflowing.
[[nodiscard]] std::int64_t cost_nano_usd(const Usage& usage, const config::Price& price);

// What the endpoint itself says that it charged, in nano-dollars: usage.cost (dollars, OpenRouter)
// or usage.cost_in_usd_ticks (10^10 a dollar, xAI). None: it says nothing, or nothing sensible.
[[nodiscard]] std::optional<std::int64_t> provider_nano_usd(const Json& usage);

// Sum that saturates.
[[nodiscard]] std::int64_t add_saturated(std::int64_t a, std::int64_t b);

}  // namespace sweep::endpoint

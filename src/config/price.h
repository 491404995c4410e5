#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sweep::config {

// Pico-dollars a token: dollars for a million tokens times 10^6. Each 0 to 10^12.
struct Rates {
  std::int64_t input = 0;
  std::int64_t cached_input = 0;  // prompt tokens that the endpoint read from its cache
  std::int64_t cache_write = 0;   // prompt tokens that it wrote there
  std::int64_t output = 0;        // reasoning included

  bool operator==(const Rates&) const = default;
};

// Rates of all tokens of a request whose prompt has more than `above_prompt_tokens`.
struct PriceTier {
  std::int64_t above_prompt_tokens = 0;
  Rates rates;

  bool operator==(const PriceTier&) const = default;
};

// What one model costs, in US dollars.
struct Price {
  Rates rates;
  std::int64_t per_request = 0;  // nano-dollars, besides the tokens
  std::vector<PriceTier> tiers;  // thresholds ascending
  bool free = false;             // said to cost nothing; all rates are 0 then
  std::string effective_from;    // "2026-08-01"; empty: not said
  std::string source;            // where the figures are from; empty: not said
  std::string table_sha256;      // of the price file's bytes; empty: [models.price]

  bool operator==(const Price&) const = default;
};

// The rates of a request with so many prompt tokens.
[[nodiscard]] const Rates& rates_at(const Price& price, std::int64_t prompt_tokens);

// The largest of every rate over all tiers, for upper bounds.
[[nodiscard]] Rates largest_rates(const Price& price);

// Canonical JSON (sorted keys) of everything above; stored with a run's configuration.
[[nodiscard]] std::string price_json(const Price& price);

// SHA-256 of price_json(): with every cost that was counted by it.
[[nodiscard]] std::string price_sha256(const Price& price);

}  // namespace sweep::config

#include "config/price.h"

#include "util/sha256.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sweep::config {

namespace {

nlohmann::json rates_json(const Rates& rates) {
  return {{"input", rates.input},
          {"cached_input", rates.cached_input},
          {"cache_write", rates.cache_write},
          {"output", rates.output}};
}

}  // namespace

const Rates& rates_at(const Price& price, std::int64_t prompt_tokens) {
  const Rates* found = &price.rates;
  for (const PriceTier& tier : price.tiers) {
    if (prompt_tokens > tier.above_prompt_tokens) {
      found = &tier.rates;
    }
  }
  return *found;
}

Rates largest_rates(const Price& price) {
  Rates most = price.rates;
  for (const PriceTier& tier : price.tiers) {
    most.input = std::max(most.input, tier.rates.input);
    most.cached_input = std::max(most.cached_input, tier.rates.cached_input);
    most.cache_write = std::max(most.cache_write, tier.rates.cache_write);
    most.output = std::max(most.output, tier.rates.output);
  }
  return most;
}

std::string price_json(const Price& price) {
  nlohmann::json tiers = nlohmann::json::array();
  for (const PriceTier& tier : price.tiers) {
    nlohmann::json one = rates_json(tier.rates);
    one["above_prompt_tokens"] = tier.above_prompt_tokens;
    tiers.push_back(std::move(one));
  }
  nlohmann::json json = rates_json(price.rates);
  json["unit"] = "pico-usd per token";
  json["per_request_nano_usd"] = price.per_request;
  json["tiers"] = std::move(tiers);
  json["free"] = price.free;
  json["currency"] = "USD";
  json["effective_from"] = price.effective_from;
  json["source"] = price.source;
  json["table_sha256"] = price.table_sha256;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string price_sha256(const Price& price) {
  return util::sha256_hex(price_json(price));
}

}  // namespace sweep::config

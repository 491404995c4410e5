#include "config/price_table.h"

#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"
#include "util/text.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

namespace sweep::config {

namespace {

constexpr double kLargestRate = 1e6;  // dollars for a million tokens: one dollar a token
// Dollars for a million tokens that models cost; what is outside is likely in another unit.
constexpr double kUsualLow = 0.001;
constexpr double kUsualHigh = 1000;
constexpr double kMillion = 1e6;

// "1.25" for 0.00000125 dollars a token.
std::string for_a_million(double value) {
  return fmt::format("{:.6g}", value * kMillion);
}

// A figure as whole units; what would have to be rounded is an error.
bool exact(TomlReader& reader,
           const toml::table& table,
           const char* key,
           double unit,
           std::int64_t& into) {
  double value = 0;
  if (!reader.number(table, key, value, 0, kLargestRate)) {
    return false;
  }
  const double scaled = value * unit;
  into = std::llround(scaled);
  if (std::abs(scaled - static_cast<double>(into)) > 1e-3) {
    reader.error(
        place_of(table, key),
        std::string(key) + " has more decimals than are counted",
        unit == kMillion
            ? fmt::format("at most 6 decimals of dollars per MILLION tokens{}",
                          value < kUsualLow ? "; did you mean " + for_a_million(value) + "?" : "")
            : fmt::format("at most {:.0f} decimals of dollars", std::log10(unit)));
    return false;
  }
  return true;
}

// `zero_too`: 0 is no price either.
bool rate(TomlReader& reader,
          const toml::table& table,
          const char* key,
          std::int64_t& into,
          bool zero_too = false) {
  if (!exact(reader, table, key, kMillion, into)) {
    return false;
  }
  const double dollars = static_cast<double>(into) / kMillion;
  const bool low = dollars < kUsualLow && (into > 0 || zero_too);
  if (low || dollars > kUsualHigh) {
    const auto place = place_of(table, key);
    const std::string shown =
        low && into > 0 ? fmt::format("{:.6f}", dollars) : fmt::format("{:.6g}", dollars);
    reader.warn_once(fmt::format("price {}", reader.where(place)),
                     place,
                     std::string(key) + " = " + shown + " is no usual price",
                     std::string("prices are dollars per MILLION tokens") +
                         (low && into > 0 ? "; did you mean " + for_a_million(dollars) + "?" : ""));
  }
  return true;
}

void read_rates(TomlReader& reader, const toml::table& table, Rates& rates) {
  const bool input = rate(reader, table, "input", rates.input, true);
  // A cache that has no price of its own costs what the prompt costs.
  if (!rate(reader, table, "cached_input", rates.cached_input) && input) {
    rates.cached_input = rates.input;
  }
  if (!rate(reader, table, "cache_write", rates.cache_write) && input) {
    rates.cache_write = rates.input;
  }
  rate(reader, table, "output", rates.output, true);
}

void read_tiers(TomlReader& reader, const toml::table& table, Price& price) {
  const toml::node* node = table.get("tiers");
  if (node == nullptr) {
    return;
  }
  const toml::array* list = node->as_array();
  if (list == nullptr || list->size() > 16) {
    reader.error(node->source(),
                 "tiers is not a list of at most 16 tables",
                 "write  tiers = [{ above_prompt_tokens = 200000, input = 2.5, output = 15 }]");
    return;
  }
  for (const toml::node& element : *list) {
    const toml::table* one = element.as_table();
    PriceTier tier;
    tier.rates = price.rates;
    if (one == nullptr) {
      reader.error(element.source(), "a tier is no table", "write it in braces");
      continue;
    }
    reader.check_keys(*one, "models.price.tiers");
    if (!reader.integer(
            *one, "above_prompt_tokens", tier.above_prompt_tokens, 1, std::int64_t{1} << 40) &&
        one->get("above_prompt_tokens") == nullptr) {
      reader.error(one->source(), "a tier without above_prompt_tokens", "say where it begins");
    }
    read_rates(reader, *one, tier.rates);
    const std::int64_t before = price.tiers.empty() ? 0 : price.tiers.back().above_prompt_tokens;
    if (tier.above_prompt_tokens <= before && tier.above_prompt_tokens > 0) {
      reader.error(one->source(), "tiers do not ascend", "order them by above_prompt_tokens");
    }
    price.tiers.push_back(tier);
  }
}

bool is_date(std::string_view text) {
  const auto digits = [&](std::size_t from, std::size_t count) {
    return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(from),
                       text.begin() + static_cast<std::ptrdiff_t>(from + count),
                       [](char c) { return c >= '0' && c <= '9'; });
  };
  return text.size() == 10 && digits(0, 4) && text[4] == '-' && digits(5, 2) && text[7] == '-' &&
         digits(8, 2);
}

void read_date(TomlReader& reader, const toml::table& table, std::string& into) {
  const toml::node* node = table.get("effective_from");
  if (node == nullptr) {
    return;
  }
  if (const auto* date = node->as_date()) {
    into = fmt::format("{:04}-{:02}-{:02}", date->get().year, date->get().month, date->get().day);
  } else if (reader.text(table, "effective_from", into) && !is_date(into)) {
    reader.error(node->source(),
                 "effective_from '" + util::printable(into.substr(0, 40)) + "' is no date",
                 "write it as 2026-08-31");
    into.clear();
  }
}

void check_free(TomlReader& reader, const toml::table& table) {
  for (const char* key :
       {"input", "cached_input", "cache_write", "output", "per_request", "tiers"}) {
    if (table.get(key) != nullptr) {
      reader.error(
          place_of(table, key), std::string(key) + " beside free = true", "keep one of them");
    }
  }
}

}  // namespace

std::optional<Price> read_price(TomlReader& reader,
                                const toml::table& table,
                                std::string_view table_name) {
  reader.check_keys(table, table_name);
  const std::string shown = "[" + std::string(table_name) + "]";
  Price price;
  std::string currency = "USD";
  if (reader.text(table, "currency", currency) && currency != "USD") {
    reader.error(place_of(table, "currency"),
                 "currency '" + util::printable(currency.substr(0, 40)) + "' cannot be counted",
                 "costs are US dollars: convert the figures and write currency = \"USD\"");
  }
  read_date(reader, table, price.effective_from);
  reader.text(table, "source", price.source);
  reader.boolean(table, "free", price.free);
  if (price.free) {
    check_free(reader, table);
    return price;
  }
  if (table.get("input") == nullptr || table.get("output") == nullptr) {
    reader.error(table.source(),
                 shown + " needs input and output",
                 "dollars for a million tokens: input = 1.25; or free = true");
    return std::nullopt;
  }
  const std::size_t errors = reader.errors().size();
  read_rates(reader, table, price.rates);
  exact(reader, table, "per_request", 1e9, price.per_request);
  if (reader.errors().size() == errors && price.rates.input == 0 && price.rates.output == 0 &&
      price.per_request == 0) {
    reader.error(table.source(),
                 shown + " has input = 0 and output = 0",
                 "a model that costs nothing is  free = true;  leave out a price that is unknown");
  }
  read_tiers(reader, table, price);
  return price;
}

void PriceTable::read_entry(TomlReader& inner,
                            const toml::table& table,
                            std::string_view today,
                            const std::string& sha256) {
  Entry entry;
  if (!inner.text(table, "model", entry.model) && table.get("model") == nullptr) {
    inner.error(table.source(), "a price without a model", "add  model = \"ID ON THE WIRE\"");
  }
  inner.text(table, "host", entry.host);
  auto price = read_price(inner, table, "prices");
  if (!price) {
    return;
  }
  entry.price = std::move(*price);
  entry.price.table_sha256 = sha256;
  const bool twice = std::any_of(entries_.begin(), entries_.end(), [&](const Entry& other) {
    return other.model == entry.model && other.host == entry.host &&
           other.price.effective_from == entry.price.effective_from;
  });
  if (twice) {
    inner.error(table.source(),
                "'" + util::printable(entry.model.substr(0, 80)) + "' is there twice",
                "give them different dates (effective_from) or hosts");
  }
  if (entry.price.effective_from <= today) {
    entries_.push_back(std::move(entry));
  }
}

void PriceTable::read(TomlReader& reader,
                      const toml::source_region& place,
                      const std::filesystem::path& file,
                      std::string_view today) {
  try {
    const std::string bytes = util::read_file(file, std::size_t{1} << 20);
    const toml::table document = parse_toml(bytes, file.string());
    TomlReader inner(file.string());
    const toml::array* list = document["prices"].as_array();
    if (list == nullptr || document.size() != 1) {
      inner.error_in_file("holds something else than [[prices]]",
                          "each price is  [[prices]]  with model, input and output");
    } else {
      for (const toml::node& element : *list) {
        if (const toml::table* table = element.as_table()) {
          read_entry(inner, *table, today, util::sha256_hex(bytes));
        } else {
          inner.error(element.source(), "a price is no table", "write [[prices]]");
        }
      }
    }
    reader.take_remarks(inner);
  } catch (const util::UsageError& error) {
    reader.error(place,
                 "prices: " + error.message().where + ": " + error.message().what,
                 error.message().next);
  }
}

std::optional<Price> PriceTable::find(std::string_view model, std::string_view host) const {
  const Entry* best = nullptr;
  const auto rank = [](const Entry& entry) {
    return std::tuple(!entry.host.empty(), entry.price.effective_from);
  };
  for (const Entry& entry : entries_) {
    if (entry.model == model && (entry.host.empty() || entry.host == host) &&
        (best == nullptr || rank(*best) < rank(entry))) {
      best = &entry;
    }
  }
  return best == nullptr ? std::nullopt : std::optional(best->price);
}

}  // namespace sweep::config

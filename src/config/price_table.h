#pragma once

#include "config/price.h"
#include "config/toml_reader.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::config {

// [models.price] or one [[prices]] entry (`table_name` says which, for check_keys); mistakes go to
// the reader. None when there is one.
[[nodiscard]] std::optional<Price> read_price(TomlReader& reader,
                                              const toml::table& table,
                                              std::string_view table_name);

// The file that [run] prices names: [[prices]] with model, optional host, and a price.
class PriceTable {
 public:
  // Mistakes in the file are errors of `reader`, at `place`. `today` as "2026-08-01": entries that
  // begin later do not count yet.
  void read(TomlReader& reader,
            const toml::source_region& place,
            const std::filesystem::path& file,
            std::string_view today);

  // Of the entries for the model id on the wire those with this host win over those without one,
  // then the newest counts. None: unknown.
  [[nodiscard]] std::optional<Price> find(std::string_view model, std::string_view host) const;

 private:
  struct Entry {
    std::string model;
    std::string host;
    Price price;
  };

  void read_entry(TomlReader& inner,
                  const toml::table& table,
                  std::string_view today,
                  const std::string& sha256);

  std::vector<Entry> entries_;
};

}  // namespace sweep::config

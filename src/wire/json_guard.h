#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace sweep::wire {

// Walks JSON events and stops at what a peer must not send: depth above `max_depth`, one key twice
// in an object. Numbers beyond double's range are refused by the parser itself.
class JsonGuard final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonGuard(std::size_t max_depth) : max_depth_(max_depth) {}

  bool null() override { return true; }

  bool boolean(bool) override { return true; }

  bool number_integer(number_integer_t) override { return true; }

  bool number_unsigned(number_unsigned_t) override { return true; }

  bool number_float(number_float_t, const string_t&) override { return true; }

  bool string(string_t&) override { return true; }

  bool binary(binary_t&) override { return true; }

  bool start_object(std::size_t) override;
  bool key(string_t& name) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t position,
                   const std::string& last_token,
                   const nlohmann::detail::exception& error) override;

  // Why the walk stopped.
  [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }

 private:
  bool open();

  std::size_t max_depth_;
  // One entry per open object or array; arrays leave theirs empty.
  std::vector<std::set<std::string>> keys_;
  std::string complaint_;
};

}  // namespace sweep::wire

#pragma once

#include "config/config.h"

#include <compare>
#include <span>

namespace sweep::config {

// What the reader must know of a problem; the caller makes the list from the catalogue.
struct KnownProblem {
  std::string id;                   // "level1/3", "sci/heat2d"
  std::string name;                 // "spmm_csr"
  bool ready = false;               // false: planned
  std::vector<std::string> slates;  // "popcorn2"
};

enum class Availability { ready, planned, not_shipped };

// One cell of the matrix. level "1" and problem "3" for level1/3; level "sci" and problem "heat2d"
// for sci/heat2d.
struct WorkItem {
  std::string model;
  std::string variant;
  std::string level;
  std::string problem;
  std::int64_t attempt = 1;  // 1-based
  Availability availability = Availability::ready;

  [[nodiscard]] std::string problem_id() const;  // "level1/3"
  // "variant/model/level1/3", with "#2" and up for further attempts; unique in a matrix.
  [[nodiscard]] std::string id() const;
  auto operator<=>(const WorkItem&) const = default;
};

struct Matrix {
  std::vector<WorkItem>
      items;  // variants -> levels -> models -> problems -> attempts, as PopcornBench lists them
  std::vector<std::string> notes;  // what is skipped, and why, one line each

  [[nodiscard]] std::size_t ready() const;
};

// UsageError E_CONFIG_UNKNOWN_PROBLEM for an id or pattern that matches nothing, with a suggestion.
[[nodiscard]] Matrix expand(const SweepConfig& config, std::span<const KnownProblem> known);

// Order in which items are started: `items` shuffled by a fixed seed, the same on every machine.
[[nodiscard]] std::vector<WorkItem> start_order(std::vector<WorkItem> items);

// True if `text` matches `pattern`, where * is any run of characters without '/' and ? one of them;
// ** also crosses '/'.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text);

// Whether stress decides the outcome for this variant.
[[nodiscard]] bool stress_gates(const Run& run, std::string_view variant);

struct ModelCost {
  std::string model;
  std::size_t items = 0;
  double input_tokens = 0;    // upper bound over all its items
  double output_tokens = 0;   // likewise
  std::optional<double> usd;  // upper bound; unset: price unknown
  bool scripted = false;      // nothing is charged, `usd` is an example
};

struct CostPreview {
  std::vector<ModelCost> models;
  std::size_t items = 0;
  double input_tokens = 0;
  double output_tokens = 0;
  std::optional<double> usd;  // unset when any price is unknown
  std::size_t scripted = 0;   // items of scripted models
};

// Upper bound for `items` (pending ones): turns x (context + output limit). `prompt_tokens` is an
// estimate of the first request.
[[nodiscard]] CostPreview preview_cost(const SweepConfig& config,
                                       std::span<const WorkItem> items,
                                       double prompt_tokens = 6000);

}  // namespace sweep::config

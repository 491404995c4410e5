#pragma once

#include "problem/problem.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sweep::problem {

// Root of everything random in a draw: 256 bits. Two different keys never give the same contents in
// practice, and a key cannot be computed from contents made by another key (derivation is
// HMAC-SHA256).
struct Key {
  std::array<std::uint8_t, 32> bytes{};

  [[nodiscard]] static Key from_seed(std::uint64_t seed);  // visible draws: --seed N
  // HMAC-SHA256(secret, label).
  [[nodiscard]] static Key from_secret(std::string_view secret, std::string_view label);
  [[nodiscard]] Key derive(std::string_view label) const;  // HMAC-SHA256(bytes, label)
  [[nodiscard]] std::uint64_t word(int i) const;           // 0..3, little endian
  [[nodiscard]] std::string hex() const;
  friend bool operator==(const Key&, const Key&) = default;
};

using ScalarValue = std::variant<std::int64_t, double>;

// One concrete case: every dim and scalar has its value, `key` decides all contents.
struct Draw {
  std::string shape;    // "full", "edge/3", "stress/17", "held-out/2"
  std::string content;  // "default" or a name of [contents]
  expr::IntEnv dims;    // free, derived and ranks
  std::map<std::string, ScalarValue, std::less<>>
      scalars;  // hidden ones too; float scalars rounded to their type
  Key key;
};

// Bytes and costs of one draw on a machine, in the names of [constraints] and [work].
struct Sizes {
  double input_bytes = 0, output_bytes = 0;  // as a candidate sees them (inout counts in both)
  double oracle_bytes = 0;                   // f64 outputs and aux
  double reference_ops = 0, reference_depth = 0, reference_scratch = 0;
  [[nodiscard]] double oracle_seconds() const;  // max(ops / 4e11, depth * 3e-8): GPU cost rule
};

// What limits a draw. Zero = no limit.
struct Machine {
  double device_bytes = 0;
  bool cpu = false;  // cpu device: reference_ops <= cpu_ops
  double cpu_ops = 2e8;
  std::int64_t sm_count = 132;
  // Draws whose nominal_seconds() are less are drawn again; 0: timed held-out draws use their own
  // rule, others none.
  double shortest_seconds = 0;
};

// Completes free dims (derived ones in order of the file). Throws util::UsageError naming the dim:
// missing, out of bounds, inexact division, overflow.
[[nodiscard]] expr::IntEnv complete_dims(const Problem& problem, const expr::IntEnv& free);

// Draw with given free dims. Scalars come from `key`.
[[nodiscard]] Draw make_draw(const Problem& problem,
                             std::string shape,
                             const expr::IntEnv& free,
                             std::string content,
                             const Key& key);

// `shapes` entries; `content` must exist. The key is derived from (key, problem id, shape, content,
// replicate).
[[nodiscard]] Draw visible_draw(const Problem& problem,
                                const Shape& shape,
                                std::string_view content,
                                const Key& key,
                                int replicate = 0);

// User's --shape n=1024,m=3: free dims not named keep the values of `base`. UsageError for unknown
// or derived names.
[[nodiscard]] Draw custom_draw(const Problem& problem,
                               const Shape& base,
                               const std::map<std::string, std::int64_t>& values,
                               std::string_view content,
                               const Key& key);

// `count` random draws of [stress], number `first` onward; each redrawn (at most 1000 times) until
// constraints and `machine` are met; contents cycle through default and the named sets. InfraError
// E_DRAW_EXHAUSTED naming the rule that rejects.
[[nodiscard]] std::vector<Draw> stress_draws(
    const Problem& problem, const Key& key, int first, int count, const Machine& machine);

// Listed edges, then automatic ones: each free dim at its minimum and at 1, 31, 33, 127, 129, 257
// and a prime, and each number of ranks, the other dims from the smallest `cpu` shape. Those
// outside bounds, constraints or the machine are left out; no shape twice.
[[nodiscard]] std::vector<Draw> edge_draws(const Problem& problem,
                                           const Key& key,
                                           const Machine& machine);

// The secret of a campaign. Printing it is impossible on purpose; only draws come out.
class HeldOut {
 public:
  // key = HMAC-SHA256(salt, "held-out\n" epoch "\n" problem id).
  HeldOut(std::string_view salt, std::int64_t epoch, const Problem& problem);

  // 20 draws from [stress] by default.
  [[nodiscard]] std::vector<Draw> checked(const Problem& problem,
                                          const Machine& machine,
                                          int count = 20) const;
  // One draw for each `time` shape, at least 3: its free dims times log(0.6, 1.6) or by [heldout].
  // Drawn again below 10 us, or below 0.3 of the shape's own time where that is less.
  [[nodiscard]] std::vector<Draw> timed(const Problem& problem, const Machine& machine) const;

 private:
  Key key_;
};

// Names of [work], [limits], [constraints] for a draw: dims, scalars, sm_count (132) and statistics
// of groups. Those that `statistics` lacks are estimated from the group's arguments: nonempty,
// distinct and used at their most, longest and largest at four times the mean.
[[nodiscard]] expr::RealEnv real_env(const Problem& problem,
                                     const Draw& draw,
                                     const expr::RealEnv& statistics = {});

[[nodiscard]] Sizes sizes_of(const Problem& problem,
                             const Draw& draw,
                             const expr::RealEnv& statistics = {});

// Work of one call. Bytes default to all inputs and outputs once.
struct WorkValues {
  double flops = 0, special = 0, bytes = 0, nominal_bytes = 0, link_bytes = 0;
};

[[nodiscard]] WorkValues work_of(const Problem& problem,
                                 const Draw& draw,
                                 const expr::RealEnv& statistics = {});

// Lower bound of a call's time on an H200 from datasheet figures: bytes beyond a 50 MB L2 at 4.8e12
// B/s, and flops on the declared unit if flops_is_floor.
[[nodiscard]] double floor_seconds(const Problem& problem, const WorkValues& work);

// Shortest time of the flops on an H200 by the fastest unit that may stand for the declared one:
// fp32 by three TF32 products, fp64 by its tensor cores, int32 by int8 ones; 0 where a cleverer
// algorithm may need fewer.
[[nodiscard]] double least_compute_seconds(const Problem& problem, const WorkValues& work);

// Time of one call with cold caches at the same datasheet figures: all bytes, and all flops.
[[nodiscard]] double nominal_seconds(const Problem& problem, const WorkValues& work);

// Scratch that a submission may ask for, in bytes ([limits] scratch).
[[nodiscard]] double scratch_limit(const Problem& problem, const Draw& draw);

}  // namespace sweep::problem

#pragma once

#include "problem/device/fill_parameters.h"
#include "problem/device/group_parameters.h"
#include "problem/draw.h"
#include "problem/problem.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::problem {

// A tensor with everything concrete. `shape` is that of one rank; `stacked` has the rank axis in
// front for `per rank`.
struct ConcreteTensor {
  std::string name;
  Role role{};
  expr::DType type{};
  std::vector<std::int64_t> shape, stacked;
  std::int64_t count = 0;  // elements, all ranks
  std::int64_t bytes = 0;
};

[[nodiscard]] ConcreteTensor concrete(const Problem& problem,
                                      const Tensor& tensor,
                                      const Draw& draw);

enum class FillWay {
  element,  // `parameters` describe it: sweep_fill on the device or fill() here give the same bits
  host,     // made whole on the host (sorted, matrices ...) and uploaded: only fill() here
  group,    // part of a group: on the device as on_device() says where it can, or fill() here
  made,     // written by inputs.cu
};

struct FilledTensor {
  ConcreteTensor tensor;
  FillWay way = FillWay::element;
  FillParameters parameters{};  // way element
};

// How the device makes a part of a group. Each kernel takes (GroupParameters, address of the
// uploaded offsets, address of the tensor); the same bits as fill().
struct GroupFill {
  struct Launch {
    const char* kernel = "";       // of fill_device_source()
    std::int64_t blocks = 0;       // that have work; fewer are enough
    std::uint32_t threads = 0;     // of a block, exactly
    std::int64_t blocks_a_sm = 1;  // more bring nothing
  };

  GroupParameters parameters{};
  // To upload before; empty: no kernel reads them. Valid as long as the plan.
  std::span<const std::int32_t> offsets;
  std::vector<Launch> launches;  // in this order
};

// All inputs and inout tensors of one draw, resolved. Thread-safe; data that needs the whole tensor
// is made on first use and kept.
class FillPlan {
 public:
  // Throws util::UsageError (with the place in problem.toml) for arguments out of range.
  FillPlan(const Problem& problem, const Draw& draw);
  FillPlan(const FillPlan&) = delete;
  FillPlan& operator=(const FillPlan&) = delete;
  ~FillPlan();
  FillPlan(FillPlan&&) noexcept;
  FillPlan& operator=(FillPlan&&) noexcept;

  [[nodiscard]] const std::vector<FilledTensor>& tensors() const;
  [[nodiscard]] const FilledTensor* find(std::string_view name) const;

  // Elements [begin, begin + count) of tensor `index`, in its own type, into `out` (count * size
  // bytes). Deterministic and equal for every slicing. Uses `threads` threads (0 = all cores).
  // UsageError for `made` tensors.
  void fill(std::size_t index,
            std::int64_t begin,
            std::int64_t count,
            std::span<std::byte> out,
            int threads = 0) const;

  // Nothing if tensor `index` is no part of a group, or one that only fill() makes: by its kind,
  // its type (i32 and u32 are made), or in this draw a row longer than 2^24. Errors as of fill().
  [[nodiscard]] std::optional<GroupFill> on_device(std::size_t index) const;

  // Makes now, in this thread, what on_device() and else fill() would make at first use.
  void make() const;

  // Makes data of groups now; "group.stat" -> value, for work_of and sizes_of.
  [[nodiscard]] expr::RealEnv statistics() const;

  // The 64-bit seed that inputs.cu gets.
  [[nodiscard]] std::uint64_t made_seed() const;

  // Bytes of host memory held for whole tensors and groups.
  [[nodiscard]] std::size_t host_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Text of device code for the fills: one self-contained source (no includes) for NVRTC with the
// kernel `extern "C" __global__ void sweep_fill(FillParameters p, void* out, long long begin, long
// long count)`: out[0] is element `begin`; any grid and block: grid-stride. And with the kernels
// that GroupFill names.
[[nodiscard]] std::string fill_device_source();

inline constexpr std::array<std::string_view, 4> kFillKernels{
    "sweep_fill", "sweep_group_elements", "sweep_group_short_rows", "sweep_group_long_rows"};

}  // namespace sweep::problem

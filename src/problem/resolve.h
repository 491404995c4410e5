#pragma once

#include "problem/fill.h"
#include "problem/signatures.h"

#include <string>

// Inside of the module: a fill's call with its arguments made concrete for one draw.
namespace sweep::problem {

struct Resolver {
  const Problem& problem;
  const Draw& draw;
  expr::RealEnv env;  // dims, scalars, sm_count

  Resolver(const Problem& p, const Draw& d);

  // The fill of a tensor in this draw's content.
  [[nodiscard]] const Located& fill_of(const Tensor& tensor) const;

  // Throws util::UsageError at the fill's place.
  [[nodiscard]] Arguments bound(const Located& rule, const expr::Node& call) const;
  [[nodiscard]] double real(const Located& rule,
                            const Arguments& arguments,
                            std::string_view name,
                            double otherwise) const;
  [[nodiscard]] double real(const Located& rule,
                            const Arguments& arguments,
                            std::string_view name) const;

  // Axis of `tensor.stacked`; counts from the front of one rank's shape, negative from the back;
  // default the last.
  [[nodiscard]] std::size_t axis(const Located& rule,
                                 const Arguments& arguments,
                                 const ConcreteTensor& tensor) const;

  // True and `out` set if the call is an element-wise fill.
  [[nodiscard]] bool element(const Located& rule,
                             const expr::Node& call,
                             const ConcreteTensor& tensor,
                             FillParameters& out) const;
};

// Key and stream of a tensor's fill.
void seed_parameters(const Draw& draw, const std::string& tensor, FillParameters& out);

// Extent of an axis and the elements between neighbours along it.
struct Axis {
  std::int64_t length = 1;
  std::int64_t stride = 1;
};

[[nodiscard]] Axis axis_of(const ConcreteTensor& tensor, std::size_t axis);

// A tensor that is made whole: `kind` is the fill's name.
[[nodiscard]] std::vector<std::byte> make_whole(const Resolver& resolver,
                                                const Located& rule,
                                                const ConcreteTensor& tensor);

// Calls body(begin, end) on parts of [0, count) from `threads` threads (0 = all cores); the parts
// are multiples of `grain` long. Rethrows the first exception.
void in_parallel(std::int64_t count,
                 std::int64_t grain,
                 int threads,
                 const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace sweep::problem

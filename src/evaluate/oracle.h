#pragma once

#include "evaluate/bench.h"
#include "evaluate/code.h"
#include "evaluate/store.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sweep::evaluate {

// What the reference says about one draw, in the judge's memory.
struct Truth {
  Tensors outputs;  // outputs and inout, in the oracle's type
  Tensors aux;      // f64

  [[nodiscard]] std::size_t bytes() const;
};

// Runs reference.cu in the judge's own process and context: it is part of the problem, not of a
// submission.
class Oracle {
 public:
  // Throws util::InfraError "E_ORACLE" if the image does not load.
  Oracle(device::Device& device,
         Store& store,
         const problem::Problem& problem,
         const Code& reference);
  ~Oracle();
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  // Reads the bench's pristine inputs. Throws util::InfraError "E_ORACLE" when the reference faults
  // or its plan does not expand: the problem is at fault then, not a submission.
  [[nodiscard]] Truth run(Bench& bench, const problem::Draw& draw);

  // The same on inputs given as host bytes by name (golden vectors).
  [[nodiscard]] Truth run(const std::map<std::string, std::vector<std::byte>, std::less<>>& inputs,
                          const problem::Draw& draw);

 private:
  struct Buffers;
  [[nodiscard]] Truth launch(Buffers& buffers, const problem::Draw& draw);
  void add_own_buffers(Buffers& buffers, const problem::Draw& draw);

  device::Device& device_;
  Store& store_;
  const problem::Problem& problem_;
  const Code& code_;
  std::unique_ptr<device::Module> module_;
  Facts facts_;
};

// Values of a float or integer tensor in the oracle's type: f64 for floats, unchanged for the
// others.
[[nodiscard]] std::vector<std::byte> widen(expr::DType type, const std::vector<std::byte>& values);

}  // namespace sweep::evaluate

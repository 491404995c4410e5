#pragma once

#include "submission/ast.h"
#include "submission/plan.h"
#include "submission/value.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sweep::submission {

// Product of checked integers. Throws expr::EvalError.
[[nodiscard]] std::int64_t product(const std::vector<std::int64_t>& factors);

// Runs a plan for one shape, and of a ranked signature for one rank, once. Its BufferRefs count the
// signature's own tensors, and a peer table has one buffer. All arguments must outlive it. Throws
// RunFault, and expr::EvalError where a tensor's shape has no value.
class Machine {
 public:
  Machine(const Submission& submission,
          const Signature& signature,
          const Binding& binding,
          std::int64_t max_launches,
          std::int64_t rank = 0);

  [[nodiscard]] Expansion run(const Signature& signature);

  // Of each step of the last run how many steps and left-out launches came before it, and then how
  // many there were in all.
  [[nodiscard]] const std::vector<std::int64_t>& turns() const { return turns_; }

 private:
  void bind_names(const Signature& signature, std::int64_t rank);
  void refuse_nothing(const Signature& signature) const;
  void block(const std::vector<Statement>& statements);
  void run(const LetStatement& let);
  void run(const MapStatement& statement);
  void run(const ScratchStatement& scratch);
  void run(const ActionStatement& action);
  void run(const ForStatement& loop);
  void run(const IfStatement& choice);
  void run(const LaunchStatement& statement);
  void swap(const ActionStatement& action);
  [[nodiscard]] std::size_t whole(const expr::Node& node);
  [[nodiscard]] std::int64_t bytes(std::size_t buffer) const;
  [[nodiscard]] std::array<std::int64_t, 3> extents(const expr::Node& node);
  [[nodiscard]] Argument argument(const Value& value);
  [[nodiscard]] std::size_t peer_table(std::size_t buffer);
  [[nodiscard]] std::size_t site(const LaunchStatement& statement, std::size_t offset);
  [[nodiscard]] std::int64_t occupancy(const expr::Node& call);
  [[nodiscard]] std::int64_t resident(const std::string& kernel,
                                      std::int64_t threads,
                                      std::int64_t shared_bytes);
  void set_attributes(Launch& launch, const LaunchStatement& statement);
  void check_cooperative(const Launch& launch, const LaunchStatement& statement);
  void add_step(Step step);

  const Submission& submission_;
  const Binding& binding_;
  std::int64_t share_;  // ranks that the plan's limits are divided among
  std::int64_t max_launches_;
  std::size_t tensors_;
  bool ranked_ = false;
  Scope scope_;
  std::vector<BufferFacts> buffers_;
  Evaluator evaluator_;
  Expansion out_;
  std::unordered_map<const LaunchStatement*, std::size_t> sites_;
  std::vector<std::pair<int, int>> positions_;
  std::vector<std::int64_t> turns_;
  std::int64_t turn_ = 0;
  std::size_t arguments_ = 0;
  std::size_t offset_ = 0;                      // of the statement that runs
  std::vector<const LaunchStatement*> asking_;  // whose occupancy is being found out
  // What the device has answered: (kernel, threads, shared bytes) to blocks.
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, std::int64_t> resident_;
};

}  // namespace sweep::submission

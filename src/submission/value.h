#pragma once

#include "expr/ast.h"
#include "submission/plan.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sweep::submission {

// What a name or an expression of a plan stands for.
struct BufferValue {
  std::size_t buffer = 0;     // as in BufferRef
  std::int64_t elements = 0;  // offset
  // Of a view; null: the buffer's own shape.
  std::shared_ptr<const std::vector<std::int64_t>> shape = nullptr;
};

struct MapValue {
  std::size_t map = 0;  // as in MapRef
};

// peers(T)
struct PeersValue {
  std::size_t buffer = 0;  // as in BufferRef
};

using Value = std::variant<std::int64_t, double, BufferValue, MapValue, PeersValue>;

struct BufferFacts {
  std::string name;
  expr::DType type{};
  bool writable = false;
  std::int64_t elements = 0;
  std::vector<std::int64_t> shape;
  bool per_rank = false;
};

// A fault at a byte of the source while a plan runs.
struct RunFault {
  std::string code;
  std::size_t offset = 0;
  std::string what;
  std::string next;
};

[[noreturn]] inline void fail_run(std::string code,
                                  std::size_t offset,
                                  std::string what,
                                  std::string next = {}) {
  throw RunFault{std::move(code), offset, std::move(what), std::move(next)};
}

// Names in scope while a plan runs. Inner names never hide outer ones.
class Scope {
 public:
  struct Entry {
    std::string name;
    Value value;
    bool swappable = false;  // a `let` that holds a buffer
  };

  void add(std::string name, Value value, bool swappable);
  [[nodiscard]] Entry* find(std::string_view name);

  [[nodiscard]] std::size_t mark() const { return entries_.size(); }

  void drop_to(std::size_t mark) { entries_.resize(mark); }

  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::vector<Entry> entries_;
};

// Evaluates plan expressions over values with C's rules: truncating `/`, an integer beside a real
// becomes real, offsets of buffers only through offset(). Counts its steps; throws RunFault,
// E_PLAN_TOO_LONG after 8 million of them, divided by `share`.
class Evaluator {
 public:
  using Occupancy = std::function<std::int64_t(const expr::Node& call)>;
  Evaluator(Scope& scope,
            const std::vector<BufferFacts>& buffers,
            Occupancy occupancy,
            std::int64_t share = 1);

  [[nodiscard]] Value value(const expr::Node& node);
  [[nodiscard]] std::int64_t integer(const expr::Node& node);
  [[nodiscard]] BufferValue buffer(const expr::Node& node);
  [[nodiscard]] bool truth(const expr::Node& node);
  void count(std::size_t offset);

 private:
  [[nodiscard]] Value evaluate(const expr::Node& node);
  [[nodiscard]] Value name(const expr::Node& node);
  [[nodiscard]] Value unary(const expr::Node& node);
  [[nodiscard]] Value binary(const expr::Node& node);
  [[nodiscard]] Value call(const expr::Node& node);
  [[nodiscard]] Value offset_call(const expr::Node& node);
  [[nodiscard]] Value view_call(const expr::Node& node);
  [[nodiscard]] Value peers_call(const expr::Node& node);
  [[nodiscard]] Value function(const expr::Node& node);

  Scope& scope_;
  const std::vector<BufferFacts>& buffers_;
  Occupancy occupancy_;
  std::int64_t most_;
  std::int64_t steps_ = 0;
};

}  // namespace sweep::submission

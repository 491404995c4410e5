#pragma once

#include "examples.h"
#include "problem/draw.h"
#include "problem/problem.h"

#include <cstdint>
#include <string>
#include <vector>

// Groups whose parts the device makes, for the tests of that.
namespace sweep::problem::group_examples {

// A problem with the group `g` and inputs t0, t1 ... of the given declarations; dims n, m, k.
inline Problem parsed(const std::string& group, const std::vector<std::string>& tensors) {
  std::string inputs;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    inputs += "t" + std::to_string(i) + " = \"" + tensors[i] + "\"\n";
  }
  return examples::problem(R"T(schema = 1
id = "level1/1"
title = "t"
domain = "d"
statement = "s"
[dims]
n = "free(1, 1<<22)"
m = "free(1, 1<<22)"
k = "free(0, 1<<28)"
[groups]
g = ")T" + group + "\"\n[inputs]\n" +
                           inputs + R"T(
[outputs]
y = "f32[n]"
[shapes]
a = { n = 100, m = 64, k = 500, use = ["cpu", "time"] }
[stress]
n = "log(1, 1000)"
m = "log(1, 64)"
k = 5
[edges]
list = []
[work]
flops = 1
reference_ops = 1
)T");
}

inline Draw drawn(const Problem& problem,
                  std::int64_t n,
                  std::int64_t m,
                  std::int64_t k,
                  std::uint64_t seed = 1) {
  return make_draw(problem, "t", {{"n", n}, {"m", m}, {"k", k}}, "default", Key::from_seed(seed));
}

struct Example {
  std::string text;
  Problem problem;
  Draw draw;
};

// All parts that the device makes, in shapes around its bounds.
inline std::vector<Example> all(std::uint64_t seed) {
  struct Call {
    std::string group;
    std::vector<std::string> tensors;
    std::int64_t n, m, k;
  };

  const std::vector<std::string> csr{"i32[k] = g.col", "i32[k] = g.owner", "u32[k] = g.order"};
  const std::vector<std::string> shuffle{"i32[n, m] = g.forward", "i32[n, m] = g.inverse"};
  const std::string plain = "csr(rows=n, cols=m, nnz=k)";
  const std::string any = "csr(rows=n, cols=m, nnz=k, unique=0";
  const std::string lengths = "ragged(parts=n, total=k, skew=1, empty=0.3)";
  const std::vector<Call> calls{
      {plain, csr, 1, 1, 0},
      {plain, csr, 1, 1, 1},
      {plain, csr, 7, 5, 0},
      {plain, csr, 7, 5, 3},
      {plain, csr, 5, 4, 20},
      {plain, csr, 1, 2000, 1024},
      {plain, csr, 1, 2000, 1025},
      {plain, csr, 1, 40000, 8192},
      {plain, csr, 1, 40000, 9000},
      {plain, csr, 40000, 1, 9000},
      {"csr(rows=n, cols=m, nnz=k, skew=2, empty=0.5)", csr, 300, 20000, 100000},
      {"csr(rows=n, cols=m, nnz=k, sorted=0, skew=2)", csr, 100, 20000, 30000},
      {any + ")", csr, 3, 50, 5000},
      {any + ", skew=2)", csr, 50, 9, 20000},
      {any + ", sorted=0, empty=0.3)", csr, 50, 900, 20000},
      {"csr(rows=n, cols=m, nnz=k, skew=0.6, empty=0.05)", csr, 16384, 16384, 1048576},
      {lengths, {"i32[k] = g.owner"}, 1, 1, 0},
      {lengths, {"i32[k] = g.owner"}, 1, 1, 5000},
      {lengths, {"i32[k] = g.owner"}, 4001, 1, 3},
      {lengths, {"i32[k] = g.owner"}, 4001, 1, 50021},
      {"shuffle(n=m, batch=n)", shuffle, 1, 1, 0},
      {"shuffle(n=m, batch=n)", shuffle, 9, 1009, 0},
      {"shuffle(n=m, batch=n)", shuffle, 1, 65537, 0}};
  std::vector<Example> out;
  for (const Call& call : calls) {
    Problem problem = parsed(call.group, call.tensors);
    Draw draw = drawn(problem, call.n, call.m, call.k, seed);
    out.push_back({call.group + " n=" + std::to_string(call.n) + " m=" + std::to_string(call.m) +
                       " k=" + std::to_string(call.k),
                   std::move(problem),
                   std::move(draw)});
  }
  return out;
}

}  // namespace sweep::problem::group_examples

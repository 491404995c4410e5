#pragma once

#include "problem/problem.h"
#include "util/error.h"

#include <gtest/gtest.h>

#include <string>

// Two small problems for the tests of this module.
namespace sweep::problem::examples {

inline const char* const kHmc = R"TOML(schema = 1
id = "level2/16"
title = "One Hamiltonian Monte Carlo step, standard normal target"
domain = "probability"
statement = '''Leapfrog with `steps` drifts from (q, momentum): half kick, drifts with full kicks between, half kick.
dH = (|q'|^2+|p'|^2-|q|^2-|p|^2)/2. accepted = log(max(u, 1e-10)) < -dH. q_next = accepted ? q' : q.'''
[dims]
chains = "free(1, 1<<22)"
dim    = "free(1, 256)"
steps  = "free(1, 64)"
[scalars]
step_size = "f32 = draw(0.15, 0.45)"
[inputs]
q        = "f32[chains, dim] = normal()"
momentum = "f32[chains, dim] = normal()"
u        = "f32[chains] = uniform(0, 1)"
[outputs]
q_next   = "f32[chains, dim]"
accepted = "bool[chains]"
[aux]
margin      = "f64[chains]"
alternative = "f64[chains, dim]"
[tolerance.q_next]
unless = "abs(margin) < 1e-4"
else   = "alternative"
[tolerance.accepted]
unless = "abs(margin) < 1e-4"
[shapes]
tiny      = { chains = 8, dim = 5, steps = 10, use = ["cpu", "golden"] }
published = { chains = 2048, dim = 64, steps = 10, use = ["check"] }
mid       = { chains = 65536, dim = 64, steps = 10 }
full      = { chains = 1048576, dim = 80, steps = 10 }
[stress]
chains = "log(1, 100000)"
dim    = "uniform(1, 130)"
steps  = "uniform(1, 12)"
[edges]
list = [{ chains = 1, dim = 1, steps = 1 }]
[work]
flops = "chains*dim*(4*steps + 8)"
flops_is_floor = false              # a linear target: steps collapse into one 2x2 matrix
reference_ops = "6*chains*dim*steps"
)TOML";

inline const char* const kGrouped = R"TOML(schema = 1
id = "level5/25"
title = "Grouped GEMM with ragged rows"
domain = "llm"
precision = "tf32"
statement = '''For every group g, rows part[g] .. part[g+1]-1 of y are those rows of x times w[g]. Groups may be empty.'''
[dims]
groups = "free(1, 256)"
rows   = "free(0, 65536)"
n      = "free(1, 4096)"
k      = "free(1, 4096)"
[groups]
part = "ragged(parts=groups, total=rows, skew=1, empty=0.1)"
[inputs]
first = "i32[groups+1] = part.offsets"
x     = "f32[rows, k] = normal()"
w     = "f32[groups, k, n] = weight(fan=k)"
[outputs]
y = "f32[rows, n]"
[shapes]
tiny      = { groups = 3, rows = 10, n = 7, k = 9, use = ["cpu", "golden"] }
published = { groups = 15, rows = 3840, n = 256, k = 256 }
mid       = { groups = 15, rows = 16384, n = 1024, k = 1024 }
full      = { groups = 64, rows = 65536, n = 2048, k = 1024 }
[stress]
groups = "uniform(1, 70)"
rows   = "log(1, 5000)"
n      = "log(1, 900)"
k      = "log(1, 900)"
[edges]
list = [{ groups = 4, rows = 0, n = 8, k = 8 }, { groups = 129, rows = 1, n = 1, k = 1 }]
[work]
flops = "2*rows*n*k"
bytes = "4*(rows*(n + k) + part.nonempty*n*k)"
unit  = "tensor-tf32"
reference_ops = "2*rows*n*k"
[[baseline]]
name = "cublas"
library = "cublas.gemm_grouped"
[translation]
from = "sm_80"
evidence = ["HGMMA", "UTMALDG"]
)TOML";

// Parses `toml` with a reference of one line; fails the test on any mistake.
inline Problem problem(const std::string& toml) {
  Loaded loaded = parse(toml, {{"reference.cu", "//@ nothing\n"}});
  for (const Mistake& mistake : loaded.mistakes) {
    EXPECT_TRUE(mistake.warning) << mistake.text();
  }
  if (!loaded.problem) {
    throw std::runtime_error("the example does not parse");
  }
  return *std::move(loaded.problem);
}

// `text` with the first `from` replaced; throws if it is not there.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) {
    throw std::runtime_error("'" + from + "' is not in the example");
  }
  return text.replace(at, from.size(), to);
}

}  // namespace sweep::problem::examples

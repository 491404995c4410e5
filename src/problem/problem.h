#pragma once

#include "expr/dtype.h"
#include "expr/expr.h"
#include "problem/isa.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// A problem as its folder states it (docs/problem_format.md). Everything here is a plain value:
// nothing is evaluated.
namespace sweep::problem {

// Where a value stands in a file. Lines and columns count from 1; 0 = unknown.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;

  [[nodiscard]] std::string text() const;  // "problem.toml:12:3", without the unknown parts
};

// An expression with the place of its first byte.
struct Located {
  expr::Expr expr;
  Location where;
};

// A mistake in a problem folder. `code` is stable ("E_PROBLEM_UNKNOWN_KEY").
struct Mistake {
  std::string code;
  Location where;
  std::string what;
  std::string next;
  bool warning = false;  // a warning does not make the problem unusable

  [[nodiscard]] std::string text() const;  // "where: what; next"
};

enum class Precision { fp64, fp32, tf32, bf16, fp16, e4m3, fp8, int8 };

[[nodiscard]] std::string_view name(Precision precision);

// Spacing of the class: 2^-52, 2^-23, 2^-10 (tf32, fp16), 2^-7 (bf16), 2^-3 (e4m3, fp8); 0 for
// int8.
[[nodiscard]] double epsilon(Precision precision);

// The class that admission must see fail, if there is one.
[[nodiscard]] std::optional<Precision> next_lower(Precision precision);

struct Dim {
  enum class Kind { free, derived, ranks };
  std::string name;
  Kind kind = Kind::free;
  Located rule;                       // the text as written
  std::int64_t min = 0, max = 0;      // free: bounds of the multiplier
  std::int64_t factor = 1;            // free: value = factor * v, min <= v <= max
  std::vector<std::int64_t> choices;  // ranks: the counts allowed
};

struct Scalar {
  std::string name;
  expr::DType type{};
  Located rule;         // EXPR, draw(...) or bits()
  bool hidden = false;  // may feed fills; is no argument of kernels
};

struct Group {
  std::string name;
  Located rule;  // call of ragged, csr, shuffle, routing, paged or sparse24
};

enum class Role { input, inout, output, aux };

struct Tensor {
  std::string name;
  Role role{};
  expr::DType type{};
  std::vector<Located> shape;  // empty = one element
  bool per_rank = false;
  std::optional<Located> fill;  // inputs and inout; a call, GROUP.PART or made()
  Location where;
};

// Tables of [contents]: input name -> its other fill.
struct Content {
  std::string name;
  std::vector<std::pair<std::string, Located>> fills;
};

struct Uses {
  bool cpu = false, check = false, time = false, golden = false;
};

struct Shape {
  std::string name;
  expr::IntEnv free;  // free dims and ranks, complete
  Uses uses;
  Location where;
};

// A rule of [stress] or [heldout]: an expression that may contain log(a,b), uniform(a,b),
// choice(..) as samplers.
struct Sampler {
  std::string dim;
  Located rule;
};

struct Tolerance {
  enum class Compare { close, bitwise };
  enum class Scale { row, tensor, element, aux };
  Compare compare = Compare::close;
  Scale scale = Scale::row;
  std::string scale_aux;  // Scale::aux: name of the tensor
  double c_max = 8, c_rms = 4, ulps = 2;
  double floor = 0, ceiling = 0;  // filled in from `precision` when not stated
  std::string base;               // input, or empty
  int rows = 1;                   // trailing axes that form a row
  std::optional<Located> unless;
  std::string otherwise;  // key `else`: aux tensor, or empty
};

struct Check {
  std::string output;
  std::vector<Located> shape;  // of error(output), f64
};

enum class Unit {
  fp32,
  int32,
  fp64,
  tensor_tf32,
  tensor_tf32x3,
  tensor_bf16,
  tensor_f16,
  tensor_fp8,
  tensor_int8
};

[[nodiscard]] std::string_view name(Unit unit);  // "tensor-tf32"

// Expressions in real mode over dims, scalars and statistics of groups.
struct Work {
  Located flops;
  std::optional<Located> special, bytes, nominal_bytes, link_bytes, reference_scratch;
  Located reference_ops;
  std::optional<Located> reference_depth;
  Unit unit = Unit::fp32;
  bool flops_is_floor = true;
  std::string slow_seed;  // why the seed may take more than 20 times what this work needs; or empty
};

struct Policy {
  bool nan_output = false;       // nan = "output"
  bool infinity_output = false;  // infinity = "output"
  bool bitwise_repeat = false;   // determinism = "bitwise"
  bool fast_math = false;
  bool libraries = false;
  bool conventional_only = false;  // algorithm = "conventional"
  IsaPolicy isa = IsaPolicy::off;
  // Names of families that a kernel is to use: isa_families, else of [translation] evidence.
  std::vector<std::string> isa_families;
};

struct Limits {
  std::optional<Located> scratch;  // bytes; default 4*(input_bytes+output_bytes) + 2^26
  double seconds = 10;
  double oracle_seconds = 0.5;
  double ambiguous = 0.001;
  std::int64_t launches = 65536;
};

struct Baseline {
  std::string name;
  std::string library;  // built-in runner, or empty
  std::string file;     // submission, or empty
  std::vector<std::pair<std::string, std::string>> args;
};

struct Translation {
  std::string from;
  std::vector<std::string> evidence;
};

// A text of the folder with its SHA-256 in hex.
struct Text {
  std::filesystem::path path;
  std::string text;
  std::string hash;
};

struct Problem {
  std::filesystem::path folder;
  std::string id;  // "level1/3"
  std::string title, domain, statement;
  std::vector<std::string> slates;
  std::optional<std::string> regime;
  Precision precision = Precision::fp32;
  std::vector<std::string> requirements;  // key `requires`

  // All in the order of the file.
  std::vector<Dim> dims;
  std::vector<Located> constraints;
  std::vector<Scalar> scalars;
  std::vector<Group> groups;
  std::vector<Tensor> tensors;  // inputs, inout, outputs, aux
  std::vector<Check> checks;
  std::vector<std::string> statics;
  std::vector<Content> contents;  // without "default"
  std::vector<Shape> shapes;
  std::vector<Sampler> stress;
  std::vector<expr::IntEnv> edges;  // as listed; automatic ones are added by draw.h
  std::vector<Sampler> heldout;     // empty: the default rule
  std::map<std::string, Tolerance, std::less<>>
      tolerances;  // one for each output and inout without a [check]
  Work work;
  Policy policy;
  Limits limits;
  std::vector<Baseline> baselines;
  std::optional<Translation> translation;

  Text toml;                                 // problem.toml itself
  Text reference;                            // reference.cu
  std::optional<Text> inputs_cu;             // inputs.cu
  std::optional<Text> check_cu;              // check.cu
  std::optional<Text> source_cu, expert_cu;  // level 5

  [[nodiscard]] const Tensor* tensor(std::string_view name) const;
  [[nodiscard]] const Tolerance* tolerance(std::string_view output) const;
  [[nodiscard]] const Shape* shape(std::string_view name) const;
  [[nodiscard]] const Dim* dim(std::string_view name) const;
  // The scalars that are arguments of kernels, in order.
  [[nodiscard]] std::vector<const Scalar*> arguments() const;

  // SHA-256 over everything that decides a verdict: problem.toml, reference.cu, inputs.cu,
  // check.cu.
  [[nodiscard]] std::string hash() const;
};

// The type an oracle computes in: f64 for floats, c128 for complex, else the type itself.
[[nodiscard]] expr::DType oracle_type(expr::DType type);

struct Loaded {
  std::optional<Problem> problem;  // absent if a mistake makes it unusable
  std::vector<Mistake> mistakes;   // in order of the file; all that were found, not the first
};

// Reads `folder`/problem.toml and its texts. Never throws for what the files contain: that is in
// `mistakes`. Files: at most 1 MiB each. InfraError only when the folder cannot be read for reasons
// of the machine.
[[nodiscard]] Loaded load(const std::filesystem::path& folder);

// The same from a text (tests, tools): texts beside it are taken from `files` (name -> text).
[[nodiscard]] Loaded parse(std::string_view toml,
                           const std::map<std::string, std::string>& files,
                           std::string file_name = "problem.toml");

// load(), or UsageError with the first mistake (and how many more there are).
[[nodiscard]] Problem require(const std::filesystem::path& folder);

}  // namespace sweep::problem

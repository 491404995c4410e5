#pragma once

#include "expr/dtype.h"
#include "expr/expr.h"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sweep::submission {

enum class Role { input, inout, output, aux, other };

// A tensor as a plan sees it: dense, row major, 256-byte aligned.
struct Tensor {
  std::string name;
  expr::DType type{};
  Role role{};
  std::vector<expr::Expr> shape;  // over dims; empty = one element
  bool per_rank = false;          // each rank has its own; only where the signature is `ranked`
};

struct Scalar {
  std::string name;
  expr::DType type{};
};

// What the names in a plan may mean. Made from a problem by evaluate; a reference plan gets f64
// outputs and aux here.
struct Signature {
  std::string problem;  // "level1/3"
  std::vector<std::string> dims;
  std::vector<Scalar> scalars;
  std::vector<Tensor> tensors;
  // The plan runs on each of as many ranks as the dim `ranks` says, and knows `rank` and peers(T).
  bool ranked = false;
};

// A fault in a plan, its expansion or its match with a kernel. Line and column count from 1; 0 =
// unknown.
struct PlanError {
  std::string code;  // "E_PLAN_UNKNOWN_TENSOR"; the list is closed, in docs/submission.md
  std::string file;
  int line = 0;
  int column = 0;
  std::string what;
  std::string next;

  // "mine.cu:3:41: what; next", then the source line and a caret.
  [[nodiscard]] std::string text(std::string_view source) const;
};

struct Flags {
  int maxrregcount = 0;  // 0 = compiler's choice
  bool fast_math = false;
};

struct Statement;  // submission/ast.h

// A parsed plan. `constants` are the evaluated `const`s in order: they are #defined for the source
// as well.
class Plan {
 public:
  Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  std::string problem;  // from `problem ID`, may be empty
  std::vector<std::pair<std::string, std::int64_t>> constants;
  Flags flags;
  std::vector<Statement> statements;
};

enum class Language { cuda, ptx };

// A submission: the text as given and its plan. Invalid UTF-8 in comments survives in `source`.
struct Submission {
  std::string file;  // for messages only
  std::string source;
  Language language = Language::cuda;
  Plan plan;
};

// Parses the `//@` lines and `/*@ */` block of `source` (at most 1 MiB). `overrides` replaces
// `const`s (-D, --scan); an override that names no const is an error.
[[nodiscard]] std::variant<Submission, PlanError> parse(
    std::string file,
    std::string source,
    const std::map<std::string, std::int64_t>& overrides = {});

// A pointer into a tensor or scratch buffer. `buffer` < tensors.size(): that tensor of the
// signature, else scratch number buffer - tensors.size() of the expansion.
struct BufferRef {
  std::size_t buffer = 0;
  std::int64_t offset_bytes = 0;
  bool writable = false;
  expr::DType type{};
};

// A tensor map (TMA descriptor) over a buffer or a view of it, held against the hardware's limits.
// Everything in the tensor's own order: the last dim is the innermost.
struct TensorMap {
  BufferRef base;  // 16-byte aligned
  std::string name;
  std::vector<std::int64_t> dims;  // 1 to 5; one that is 0: no copy may use the map
  std::vector<std::int64_t> box;   // elements of each dim
  std::vector<std::int64_t> steps;
  int swizzle = 0;   // bytes
  int l2_bytes = 0;  // fetched at once
  bool nan_outside = false;
};

// A tensor map among Expansion::maps.
struct MapRef {
  std::size_t map = 0;
};

// The device array of every rank's pointer to one tensor or scratch buffer.
struct PeerTable {
  std::string name;
  expr::DType type{};
  bool writable = false;             // kernels may store through it: scratch only
  std::vector<std::size_t> buffers;  // of rank 0, 1, ..; as in BufferRef
};

// A table among Expansion::peers.
struct PeersRef {
  std::size_t table = 0;
};

// Argument as the plan gives it; bind() turns it into the bytes that the kernel's parameter needs.
using Argument = std::variant<BufferRef, std::int64_t, double, MapRef, PeersRef>;

struct ScratchBuffer {
  std::string name;
  expr::DType type{};
  std::int64_t bytes = 0;
};

struct Launch {
  std::string kernel;  // name expression: "gemm<64, 64, 16>"
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::int64_t shared_bytes = 0;
  std::vector<Argument> arguments;
  std::array<std::int64_t, 3> cluster{};  // all 0: as the kernel declares
  bool cooperative = false;
  bool pdl = false;  // may begin before the launch before it has ended
  int line = 0;
  int column = 0;
  std::size_t site = 0;  // into Expansion::sites
};

// Where a launch statement and each of its arguments stand: (line, column).
struct Site {
  std::vector<std::pair<int, int>> arguments;
};

struct Zero {
  std::size_t buffer = 0;
  std::int64_t bytes = 0;
};

struct Copy {
  std::size_t to = 0;
  std::size_t from = 0;
  std::int64_t bytes = 0;
};

using Step = std::variant<Launch, Zero, Copy>;

// A plan run for one concrete shape: what will be launched, in order. Launches with an empty grid
// are left out and counted.
struct Expansion {
  // Of a ranked signature, else 0. Steps and scratch are then those of all ranks, and a BufferRef
  // counts the tensors of widened() (submission/ranks.h).
  std::int64_t ranks = 0;
  std::vector<ScratchBuffer> scratch;
  std::vector<TensorMap> maps;
  std::vector<PeerTable> peers;
  std::vector<Step> steps;
  std::vector<std::size_t> step_ranks;  // whose step each is; empty without ranks
  std::vector<Site> sites;
  std::int64_t skipped_launches = 0;
  std::int64_t scratch_bytes = 0;
};

// Values for one shape. Scalars are given as double or int64 according to their type.
struct Binding {
  expr::IntEnv dims;
  std::map<std::string, std::variant<std::int64_t, double>, std::less<>> scalars;
  std::int64_t sm_count = 1;
  // Of several ranks in each step: the order of rank 0, 1, .. for 0, else one that follows from the
  // number and the step.
  std::uint64_t rank_order = 0;
  // Blocks per SM for (kernel name expression, threads, dynamic shared bytes); empty: `occupancy`
  // is a PlanError.
  std::function<std::int64_t(const std::string&, std::int64_t, std::int64_t)> occupancy;
  // `occupancy` and `sm_count` are the device's own, so that a cooperative grid can be held against
  // them.
  bool exact = true;
};

// Limits: 65,536 launches (or the problem's), grid y,z <= 65535, block <= 1024 threads, offsets
// inside the buffers.
[[nodiscard]] std::variant<Expansion, PlanError> expand(const Submission& submission,
                                                        const Signature& signature,
                                                        const Binding& binding,
                                                        std::int64_t max_launches = 65536);

// The template instances and plain kernels that the plan may launch, over all shapes, each once, in
// order of appearance. Template arguments must be constants of the plan (const, literals); anything
// else is a PlanError at parse time.
[[nodiscard]] std::vector<std::string> name_expressions(const Plan& plan);

// One parameter of a kernel as found in the compiled code.
struct Parameter {
  enum class Kind { pointer, integer, real, opaque };
  Kind kind = Kind::opaque;
  std::size_t bytes = 8;         // size of the parameter; 0 = unknown (class types)
  bool points_to_const = false;  // pointer: `const T*`
  bool is_signed = true;         // integer
  std::string pointee;  // pointer: C++ type it points to without const ("float", "void"); else ""
  std::string text;     // the declared type as shown in messages: "const float*"
};

// Parameters of a kernel by its mangled (lowered) name; empty optional where the name carries none
// (extern "C").
[[nodiscard]] std::optional<std::vector<Parameter>> parameters_of(std::string_view lowered_name);

// Parameters where the types are unknown (extern "C"): one per size, from the driver's parameter
// info. An argument is then bound by its own type: 8 bytes for a buffer, float or double for a
// real, else an integer of that size.
[[nodiscard]] std::vector<Parameter> opaque_parameters(const std::vector<std::size_t>& bytes);

// The argument bytes, one block per parameter; errors stand at the argument's place and have no
// file (the caller knows it). A BufferRef yields 8 bytes whose value `address(ref)` gives, a MapRef
// 128 zero bytes, in whose place the caller puts the map. Wrong count, type, const-ness or a value
// that does not fit: PlanError naming both. `signature` is widened() where there are ranks; a
// PeersRef is asked for as the buffer of its table's number after tensors and scratch.
[[nodiscard]] std::variant<std::vector<std::vector<std::byte>>, PlanError> bind_arguments(
    const Launch& launch,
    const std::vector<Parameter>& parameters,
    const Signature& signature,
    const Expansion& expansion,
    const std::function<std::uint64_t(const BufferRef&)>& address);

// Canonical JSON of an expansion (stored and hashed) and of a plan.
[[nodiscard]] nlohmann::json to_json(const Expansion& expansion, const Signature& signature);

}  // namespace sweep::submission

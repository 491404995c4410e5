#include "agent/task.h"

#include "expr/dtype.h"
#include "problem/ranks.h"
#include "util/file.h"
#include "util/sha256.h"
#include "util/text.h"

#include <cmath>
#include <system_error>

namespace sweep::agent {
namespace {

constexpr std::size_t kMaxSeed = std::size_t{1} << 20U;  // the plan parser's own limit

// ": 1, 2 or 4"
std::string choices_text(const problem::Dim& dim) {
  std::string out;
  for (std::size_t i = 0; i < dim.choices.size(); ++i)
    out += (i == 0                        ? ": "
            : i + 1 == dim.choices.size() ? " or "
                                          : ", ") +
           std::to_string(dim.choices[i]);
  return out;
}

std::string dims_text(const problem::Problem& problem) {
  std::string out = "Dims (integers, arguments of kernels by name):\n";
  for (const problem::Dim& dim : problem.dims) {
    out += "- " + dim.name;
    if (dim.kind == problem::Dim::Kind::free)
      out += ": " + std::to_string(dim.min * dim.factor) + " to " +
             std::to_string(dim.max * dim.factor) +
             (dim.factor > 1 ? ", a multiple of " + std::to_string(dim.factor) : "");
    else if (dim.kind == problem::Dim::Kind::ranks)
      out += choices_text(dim);
    else
      out += " = " + dim.rule.expr.text();
    out += "\n";
  }
  for (const problem::Located& constraint : problem.constraints)
    out += "- always: " + constraint.expr.text() + "\n";
  return out;
}

std::string tensor_text(const problem::Tensor& tensor) {
  std::string shape;
  for (const problem::Located& extent : tensor.shape)
    shape += (shape.empty() ? "" : ", ") + extent.expr.text();
  const bool input = tensor.role == problem::Role::input;
  const std::string pointer =
      std::string(input ? "const " : "") + std::string(expr::cpp_name(tensor.type)) + "*";
  std::string out = "- " + tensor.name + ": " + std::string(expr::name(tensor.type)) + "[" + shape +
                    "]" + (tensor.per_rank ? " per rank" : "") + ", `" + pointer + "`";
  if (tensor.fill)
    out += ", filled with " + tensor.fill->expr.text();
  return out + "\n";
}

std::string tensors_text(const problem::Problem& problem) {
  std::string out;
  for (const auto& [role, title] : {std::pair(problem::Role::input, "Inputs"),
                                    std::pair(problem::Role::inout, "Inputs that become outputs"),
                                    std::pair(problem::Role::output, "Outputs")}) {
    std::string list;
    for (const problem::Tensor& tensor : problem.tensors)
      if (tensor.role == role)
        list += tensor_text(tensor);
    if (!list.empty())
      out += std::string(title) + ":\n" + list;
  }
  std::string scalars;
  for (const problem::Scalar* scalar : problem.arguments())
    scalars += "- " + scalar->name + ": " + std::string(expr::name(scalar->type)) + ", `" +
               std::string(expr::cpp_name(scalar->type)) + "`\n";
  return scalars.empty() ? out : out + "Scalars:\n" + scalars;
}

// How a plan runs on ranks; docs/submission.md says the same at length.
std::string ranks_text(const problem::Problem& problem) {
  if (!problem::ranked(problem))
    return {};
  return R"(
Ranks:
- The plan runs on each rank, from 0 to ranks-1. `rank` and `ranks` are integers in it. What is `per rank` above each rank has for itself, with the shape given and other contents; scratch is per rank, too. Everything else is the same on all ranks. Outputs of every rank are checked.
- `peers(T)` as an argument of a launch is a device array of every rank's pointer to T (`per rank` or scratch), for a parameter `const float* const* t`: `t[q][i]` is element i on rank q, the own rank included. Tensors of ranks are only read that way; scratch may be written, too (`float* const* t`).
- Every step (launch, zero, copy) of the plan is taken by all ranks before the next one begins, so a launch sees all that any rank wrote in earlier steps. Within a step ranks come one after another in an order that is not told and changes: nothing that a peer writes in the same step may be read, and a kernel that waits for a peer never ends.
- All ranks take the same number of steps and declare the same scratch. A launch with an empty grid counts as a step: `k<<<rank == 0 ? blocks : 0, 256>>>(..)`.
- One device plays all ranks; what is timed is the whole, from the first step of the first rank to the last of the last.
)";
}

std::string groups_text(const problem::Problem& problem) {
  std::string out;
  for (const problem::Group& group : problem.groups)
    out += "- " + group.name + " = " + group.rule.expr.text() + "\n";
  return out.empty() ? out : "Groups of tensors that are drawn together:\n" + out;
}

std::string shapes_text(const problem::Problem& problem, bool cpu) {
  std::string out = "Visible shapes:\n";
  for (const problem::Shape& shape : problem.shapes) {
    if (cpu && !shape.uses.cpu)
      continue;
    out += "- " + shape.name + ":";
    for (const auto& [dim, value] : shape.free)
      out += " " + dim + "=" + std::to_string(value);
    out += shape.uses.time ? " (timed)\n" : "\n";
  }
  return out + "Other shapes within the bounds are tested as well.\n";
}

std::string rules_text(const problem::Problem& problem) {
  std::string out = "Precision: " + std::string(problem::name(problem.precision)) +
                    ". The error against the double-precision result may be a small multiple of "
                    "the baseline's own error.\n";
  if (problem.policy.fast_math)
    out += "`//@ flags fast_math` is allowed.\n";
  if (problem.policy.conventional_only)
    out += "Only the conventional algorithm is allowed (no Strassen, no Winograd).\n";
  if (problem.policy.bitwise_repeat)
    out += "Two calls on the same inputs must agree bit by bit.\n";
  return out;
}

std::string whole(double value) {
  return std::to_string(std::llround(value));
}

}  // namespace

std::string device_facts(const device::Info& device, device::Kind kind) {
  if (kind == device::Kind::cpu)
    return "CPU device: " + device.name + ", " + std::to_string(device.sm_count) + " cores.";
  std::string out =
      "GPU: " + device.name + " (" + device.arch + "), " + std::to_string(device.sm_count) + " SMs";
  out += "\nMemory: " + util::human_bytes(device.total_bytes) + ", L2 " +
         util::human_bytes(device.l2_bytes);
  if (device.max_shared_bytes > 0)
    out += ", shared memory up to " + util::human_bytes(device.max_shared_bytes) + " a block";
  if (device.dram_bytes_per_second > 0)
    out += "\nMemory bandwidth: " + whole(device.dram_bytes_per_second * 1e-9) +
           " GB/s by its datasheet";
  if (device.clock_mhz > 0)
    out += "\nClock: " + whole(device.clock_mhz) + " MHz";
  return out;
}

Task make_task(const problem::Problem& problem,
               const device::Info& device,
               device::Kind kind,
               const std::filesystem::path& seed_file) {
  Task out;
  out.id = problem.id;
  out.name = problem.folder.filename().string();
  out.title = problem.title;
  out.domain = problem.domain;
  out.slates = problem.slates;
  out.statement = problem.statement;
  out.contract = dims_text(problem) + "\n" + tensors_text(problem) + groups_text(problem) +
                 ranks_text(problem) + "\n" + shapes_text(problem, kind == device::Kind::cpu) +
                 "\n" + rules_text(problem);
  out.reference = std::string(util::trim(problem.reference.text));
  out.device = device_facts(device, kind);
  out.sha256 = problem.hash();
  out.precision = std::string(problem::name(problem.precision));
  out.device_name = device.name;
  out.arch = device.arch;
  out.isa = problem.policy.isa;
  out.isa_families = problem.policy.isa_families;
  if (problem.source_cu && problem.translation) {
    out.source = std::string(util::trim(problem.source_cu->text));
    out.source_arch = problem.translation->from;
  }
  std::error_code error;
  if (std::filesystem::exists(seed_file, error)) {
    const std::string seed = util::read_file(seed_file, kMaxSeed);
    out.seed = std::string(util::trim(seed));
    out.seed_sha256 = util::sha256_hex(seed);
  }
  return out;
}

}  // namespace sweep::agent

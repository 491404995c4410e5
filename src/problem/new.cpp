#include "problem/new.h"

#include "util/error.h"
#include "util/file.h"

#include <algorithm>
#include <string>

namespace sweep::problem {
namespace {

constexpr std::string_view kToml =
    R"T(# A working example to edit: whatever its title says, it is an affine map, y = alpha x + bias, until statement, tensors and
# work below, reference.cu and seed.cu say otherwise.
schema = 1
id = "@ID@"
title = "@TITLE@"
domain = "example"
precision = "fp32"
# What a kernel has to compute, in Markdown. Tensors, dims and tolerances are listed for the reader by the program.
statement = '''
y[i, j] = alpha * x[i, j] + bias[j].
'''

[dims]
rows = "free(1, 1<<20)"
cols = "free(1, 1<<14)"

[constraints]
all = ["rows * cols <= 1<<30"]

[scalars]
alpha = "f32 = draw(0.5, 2)"

[inputs]
x    = "f32[rows, cols] = normal()"
bias = "f32[cols] = normal()"

[outputs]
y = "f32[rows, cols]"

# use: "cpu" is checked and timed on the cpu device; a call of about a millisecond there is long enough to time. "check" and
# "time" (both where nothing is said) are for a GPU; the largest timed one keeps an H200 busy for 50 us and more. "golden" marks
# a shape small enough for golden vectors: inputs and results that an independent program wrote down, to hold the oracle to.
[shapes]
tiny = { rows = 5, cols = 7, use = ["check", "golden"] }
cpu  = { rows = 250, cols = 1000, use = ["cpu"] }
mid  = { rows = 4096, cols = 2048 }
full = { rows = 16384, cols = 8192 }

# Random shapes for the stress stage, and corner cases beside the automatic ones.
[stress]
rows = "log(1, 4000)"
cols = "log(1, 2000)"

[edges]
list = [{ rows = 1, cols = 1 }, { rows = 3, cols = 1025 }]

[work]
flops = "2*rows*cols"
reference_ops = "2*rows*cols"
)T";

constexpr std::string_view kReference =
    R"T(// An example to edit, an affine map. The oracle: obviously right, in double precision. Outputs are double here.
//@ problem @ID@
//@ affine<<<ceildiv(rows*cols, 256), 256>>>(x, bias, y, rows, cols, alpha)

__global__ void affine(const float* x, const float* bias, double* y, long long rows, long long cols, float alpha) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < rows * cols) {
    y[i] = static_cast<double>(alpha) * static_cast<double>(x[i]) + static_cast<double>(bias[i % cols]);
  }
}
)T";

std::string filled(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  for (std::size_t at = out.find(from); at != std::string::npos;
       at = out.find(from, at + to.size())) {
    out.replace(at, from.size(), to);
  }
  return out;
}

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= 64 && text.front() != '_' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

}  // namespace

std::filesystem::path write_template(const std::filesystem::path& root, std::string_view id) {
  const std::size_t slash = std::min(id.find('/'), id.size());
  const std::string_view level = id.substr(0, slash);
  const std::string_view name = slash < id.size() ? id.substr(slash + 1) : "";
  if (!is_word(level) || !is_word(name)) {
    throw util::UsageError({"problem id",
                            "it must be LEVEL/NAME in lower-case letters, digits and '_'",
                            "write for example level1/200_affine"},
                           "E_PROBLEM_ID");
  }
  std::filesystem::path folder = root / level / name;
  if (std::filesystem::exists(folder)) {
    throw util::UsageError({folder.string(), "exists already", "choose another name"},
                           "E_PROBLEM_EXISTS");
  }
  // "level1/200_affine" has the id level1/200; "level1/affine" has level1/affine.
  const std::size_t end = std::min(name.find('_'), name.size());
  std::string part(name.substr(0, end));
  if (std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    part.erase(0, std::min(part.find_first_not_of('0'), part.size() - 1));
  }
  const std::string full = std::string(level) + "/" + part;
  std::string title(end < name.size() ? name.substr(end + 1) : name);
  std::replace(title.begin(), title.end(), '_', ' ');
  util::make_folders(folder);
  util::write_file_atomic(folder / "problem.toml",
                          filled(filled(kToml, "@ID@", full), "@TITLE@", title));
  util::write_file_atomic(folder / "reference.cu", filled(kReference, "@ID@", full));
  return folder;
}

}  // namespace sweep::problem

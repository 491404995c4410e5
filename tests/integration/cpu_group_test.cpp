// The kernels that make parts of groups, run by the cpu device: their threads, warps and blocks
// give the host's bits too.

#include "../unit/problem/group_examples.h"
#include "cpu_fixture.h"
#include "problem/fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace sweep::test {
namespace {

// The text for NVRTC with its kernels.
std::string kernels_text() {
  return "#include <math.h>\n#define __CUDACC_RTC__ 1\n" + problem::fill_device_source();
}

TEST(CpuGroups, KernelsWriteTheBitsOfTheHost) {
  CpuProgram program(kernels_text(), {problem::kFillKernels.begin(), problem::kFillKernels.end()});
  for (const problem::group_examples::Example& example : problem::group_examples::all(5)) {
    const problem::FillPlan plan(example.problem, example.draw);
    for (std::size_t i = 0; i < plan.tensors().size(); ++i) {
      const problem::ConcreteTensor& tensor = plan.tensors()[i].tensor;
      std::vector<std::int32_t> host(static_cast<std::size_t>(tensor.count));
      plan.fill(i, 0, tensor.count, std::as_writable_bytes(std::span(host)));
      const std::optional<problem::GroupFill> fill = plan.on_device(i);
      ASSERT_TRUE(fill) << example.text;
      // One element more stands for tensors and tables of none.
      std::vector<std::int32_t> offsets(fill->offsets.begin(), fill->offsets.end());
      offsets.push_back(-1);
      const auto table = program.buffer(offsets);
      const auto out = program.buffer(std::vector<std::int32_t>(host.size() + 1, -7));
      for (const problem::GroupFill::Launch& launch : fill->launches) {
        const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(launch.blocks, 1, 6));
        ASSERT_EQ(
            program.run(launch.kernel, blocks, launch.threads, 0, fill->parameters, table, out), "")
            << example.text;
      }
      std::vector<std::int32_t> made = program.read<std::int32_t>(out, host.size() + 1);
      EXPECT_EQ(made.back(), -7) << example.text << ": " << tensor.name;
      made.pop_back();
      EXPECT_EQ(made, host) << example.text << ": " << tensor.name;
    }
  }
}

}  // namespace
}  // namespace sweep::test

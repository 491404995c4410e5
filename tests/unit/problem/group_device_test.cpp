#include "group_examples.h"
#include "problem/device/group.cuh"
#include "problem/fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

// The device's way of making parts of groups, run on the host by a team of one.
namespace sweep::problem {
namespace {

struct OneThread {
  template <typename Body>
  void each(I64 count, const Body& body) const {
    for (I64 i = 0; i < count; ++i) {
      body(i);
    }
  }
};

// Each step's pairs in reverse: within a step no order may matter.
struct Reverse {
  template <typename Body>
  void each(I64 count, const Body& body) const {
    for (I64 i = count; i-- > 0;) {
      body(i);
    }
  }
};

// Counts elements that one step changes twice.
struct Watch {
  const std::vector<int>& x;
  int& twice;

  template <typename Body>
  void each(I64 count, const Body& body) const {
    std::vector<int> before = x;
    std::set<std::size_t> touched;
    for (I64 i = 0; i < count; ++i) {
      body(i);
      for (std::size_t k = 0; k < x.size(); ++k) {
        twice += x[k] != before[k] && !touched.insert(k).second ? 1 : 0;
      }
      before = x;
    }
  }
};

TEST(GroupDevice, SortsListsOfAnyLength) {
  std::mt19937_64 engine(4);
  for (int n = 0; n < 300; ++n) {
    std::vector<int> values(static_cast<std::size_t>(n));
    for (int& value : values) {
      value = static_cast<int>(engine() % (n % 2 == 0 ? 9 : 1000000));
    }
    std::vector<int> sorted = values, forward = values, reverse = values;
    std::sort(sorted.begin(), sorted.end());
    sort_ascending(OneThread{}, forward.data(), n);
    sort_ascending(Reverse{}, reverse.data(), n);
    EXPECT_EQ(forward, sorted) << n;
    EXPECT_EQ(reverse, sorted) << n;
  }
}

// No element takes part in two comparisons of one step: threads need not wait within it.
TEST(GroupDevice, StepsOfTheSortAreIndependent) {
  for (int n : {2, 3, 31, 64, 77}) {
    std::vector<int> x(static_cast<std::size_t>(n));
    std::iota(x.rbegin(), x.rend(), 1);
    int twice = 0;
    sort_ascending(Watch{x, twice}, x.data(), n);
    EXPECT_EQ(twice, 0) << n;
    EXPECT_TRUE(std::is_sorted(x.begin(), x.end()));
  }
}

// Columns of the rows that one of the two kernels takes.
void write_rows(const GroupFill& fill, bool longer, std::vector<int>& out) {
  std::vector<int> scratch(static_cast<std::size_t>(kBlockRow));
  const int* const offsets = fill.offsets.data();
  for (I64 row = 0; row < fill.parameters.rows; ++row) {
    if ((offsets[row + 1] - offsets[row] > kWarpRow) == longer) {
      write_columns(OneThread{},
                    fill.parameters,
                    offsets,
                    row,
                    scratch.data(),
                    longer ? kBlockRow : kWarpRow,
                    out.data());
    }
  }
}

// What the kernels write, by the launches that the plan names.
std::vector<int> written(const GroupFill& fill) {
  std::vector<int> out(static_cast<std::size_t>(fill.parameters.count), -1);
  for (const GroupFill::Launch& launch : fill.launches) {
    const std::string_view kernel = launch.kernel;
    EXPECT_NE(std::find(kFillKernels.begin(), kFillKernels.end(), kernel), kFillKernels.end());
    if (kernel != "sweep_group_elements") {
      write_rows(fill, kernel == "sweep_group_long_rows", out);
      continue;
    }
    for (I64 i = 0; i < fill.parameters.count; ++i) {
      write_group_element(fill.parameters, fill.offsets.data(), i, out.data());
    }
  }
  return out;
}

TEST(GroupDevice, WritesTheBitsOfTheHost) {
  for (const group_examples::Example& example : group_examples::all(4)) {
    const FillPlan plan(example.problem, example.draw);
    for (std::size_t i = 0; i < plan.tensors().size(); ++i) {
      const std::optional<GroupFill> fill = plan.on_device(i);
      ASSERT_TRUE(fill) << example.text;
      std::vector<int> host(static_cast<std::size_t>(plan.tensors()[i].tensor.count));
      plan.fill(i, 0, plan.tensors()[i].tensor.count, std::as_writable_bytes(std::span(host)));
      EXPECT_EQ(written(*fill), host) << example.text << ": " << plan.tensors()[i].tensor.name;
    }
  }
}

TEST(GroupDevice, LeavesOtherTypesAndPartsToTheHost) {
  const Problem problem = group_examples::parsed(
      "csr(rows=n, cols=m, nnz=k)", {"i64[k] = g.col", "i32[n] = g.degree", "u32[k] = g.owner"});
  const FillPlan plan(problem, group_examples::drawn(problem, 9, 20, 50));
  EXPECT_FALSE(plan.on_device(0));
  EXPECT_FALSE(plan.on_device(1));
  EXPECT_TRUE(plan.on_device(2));
}

// Every slicing gives the bits of the whole, whatever the type; a copy has the same.
TEST(GroupFill, SlicesEqualTheWhole) {
  const Problem sparse = group_examples::parsed("sparse24(rows=n, cols=m)",
                                                {"f16[n*m/2] = g.values",
                                                 "u8[n*m/8] = g.meta",
                                                 "u32[n*m/32] = g.meta",
                                                 "f32[n, m] = g.dense",
                                                 "f32[n, m] = copy(t3)"});
  const Problem csr = group_examples::parsed(
      "csr(rows=n, cols=m, nnz=k)",
      {"i32[k] = g.col", "i64[k] = g.col", "f32[k] = g.order", "i32[k] = copy(t0)"});
  for (const Problem* problem : {&sparse, &csr}) {
    const FillPlan plan(*problem, group_examples::drawn(*problem, 30, 64, 999));
    std::vector<std::vector<std::byte>> whole;
    for (std::size_t i = 0; i < plan.tensors().size(); ++i) {
      const ConcreteTensor& tensor = plan.tensors()[i].tensor;
      EXPECT_EQ(plan.tensors()[i].way, FillWay::group);
      whole.emplace_back(static_cast<std::size_t>(tensor.bytes));
      plan.fill(i, 0, tensor.count, whole.back());
      const auto size = static_cast<std::int64_t>(expr::size_of(tensor.type));
      std::vector<std::byte> slices(whole.back().size());
      for (std::int64_t at = 0, step = 1; at < tensor.count; at += step, step = 2 * step + 1) {
        const std::int64_t n = std::min(step, tensor.count - at);
        plan.fill(i,
                  at,
                  n,
                  std::span(slices).subspan(static_cast<std::size_t>(at * size),
                                            static_cast<std::size_t>(n * size)),
                  1);
      }
      EXPECT_EQ(slices, whole.back()) << tensor.name;
    }
    EXPECT_EQ(whole.back(), whole[problem == &sparse ? 3 : 0]);
  }
}

// A plan holds the parts that were asked for once, and no copy of them as tensors.
TEST(GroupFill, KeepsWhatIsAskedForOnce) {
  const Problem problem = group_examples::parsed("csr(rows=n, cols=m, nnz=k)",
                                                 {"i32[n+1] = g.offsets", "i32[k] = g.order"});
  const FillPlan plan(problem, group_examples::drawn(problem, 30, 64, 999));
  EXPECT_EQ(plan.host_bytes(), 0U);
  std::vector<std::byte> offsets(31 * 4);
  plan.fill(0, 0, 31, offsets);
  EXPECT_EQ(plan.host_bytes(), 30U * 4 + 31 * 4);  // degrees and offsets
  EXPECT_TRUE(plan.on_device(1));
  EXPECT_EQ(plan.host_bytes(), 30U * 4 + 31 * 4);
}

TEST(GroupFill, RefusesATensorOfAnotherSize) {
  const Problem problem =
      group_examples::parsed("csr(rows=n, cols=m, nnz=k)", {"i32[k+1] = g.col"});
  const FillPlan plan(problem, group_examples::drawn(problem, 30, 64, 999));
  std::vector<std::byte> out(1000 * 4);
  EXPECT_THROW(plan.fill(0, 0, 1000, out), util::UsageError);
  EXPECT_THROW((void)plan.on_device(0), util::UsageError);
}

}  // namespace
}  // namespace sweep::problem

#include "profile/ncu_page.h"

#include "profile/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Columns, a unit and a value for each: joined to a page as ncu prints it.
struct Column {
  std::string name, unit, value;
};

std::string page(const std::vector<Column>& columns) {
  std::string names = "\"ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\"";
  std::string units = "\"\",\"\",\"\",\"\"";
  std::string values = "\"0\",\"scale(float *, int)\",\"(132, 1, 1)\",\"(256, 1, 1)\"";
  for (const Column& column : columns) {
    names += ",\"" + column.name + "\"";
    units += ",\"" + column.unit + "\"";
    values += ",\"" + column.value + "\"";
  }
  return "==PROF== Connected\n" + names + "\n" + units + "\n" + values + "\n";
}

KernelProfile only(const std::string& text) {
  auto result = parse_ncu_page(text);
  auto* kernels = std::get_if<std::vector<KernelProfile>>(&result);
  EXPECT_NE(kernels, nullptr) << std::get<Unavailable>(result).text();
  return kernels == nullptr || kernels->empty() ? KernelProfile{} : std::move(kernels->front());
}

double value(const KernelProfile& kernel, std::string_view key) {
  const Metric* metric = kernel.metric(key);
  return metric != nullptr && metric->value ? *metric->value : -1;
}

TEST(NcuPage, ReadsFiguresWithTheirUnits) {
  const KernelProfile kernel =
      only(page({{"gpu__time_duration.sum", "nsecond", "12,345"},
                 {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "%", "81.5"},
                 {"dram__bytes.sum.per_second", "Gbyte/second", "3,900.25"},
                 {"launch__registers_per_thread", "register/thread", "40"},
                 {"launch__shared_mem_per_block", "Kbyte/block", "16.384"}}));
  EXPECT_EQ(kernel.kernel, "scale(float *, int)");
  EXPECT_EQ(kernel.grid, "(132, 1, 1)");
  EXPECT_DOUBLE_EQ(value(kernel, "duration_seconds"), 12345e-9);
  EXPECT_DOUBLE_EQ(value(kernel, "dram_percent"), 81.5);
  EXPECT_DOUBLE_EQ(value(kernel, "dram_bytes_per_second"), 3900.25e9);
  EXPECT_DOUBLE_EQ(value(kernel, "registers"), 40);
  EXPECT_DOUBLE_EQ(value(kernel, "shared_bytes_per_block"), 16384);
}

TEST(NcuPage, AMissingFigureHasAReason) {
  const KernelProfile kernel = only(page({{"lts__t_sector_hit_rate.pct", "%", "n/a"}}));
  const Metric* absent = kernel.metric("duration_seconds");
  ASSERT_NE(absent, nullptr);
  EXPECT_FALSE(absent->value);
  EXPECT_THAT(absent->reason, HasSubstr("gpu__time_duration.sum"));
  const Metric* unreadable = kernel.metric("l2_hit_percent");
  ASSERT_NE(unreadable, nullptr);
  EXPECT_FALSE(unreadable->value);
  EXPECT_THAT(unreadable->reason, HasSubstr("'n/a'"));
  EXPECT_EQ(kernel.metrics.size(), metric_keys().size());
}

TEST(NcuPage, TakesTheOtherNameOfAFigure) {
  const KernelProfile kernel =
      only(page({{"dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", "7"}}));
  EXPECT_DOUBLE_EQ(value(kernel, "dram_percent"), 7);
  EXPECT_TRUE(kernel.metric("dram_percent")->reason.empty());
}

TEST(NcuPage, MakesARatioOfItsParts) {
  const KernelProfile kernel =
      only(page({{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", "3,200"},
                 {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "", "100"},
                 {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", "0"},
                 {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "", "0"}}));
  EXPECT_DOUBLE_EQ(value(kernel, "load_sectors_per_request"), 32);
  EXPECT_FALSE(kernel.metric("store_sectors_per_request")->value);
  EXPECT_THAT(kernel.metric("store_sectors_per_request")->reason, HasSubstr("no such request"));
}

TEST(NcuPage, RanksStallsAndPipes) {
  const KernelProfile kernel = only(page({
      {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "inst", "1"},
      {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "inst", "6"},
      {"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "inst", "3"},
      {"smsp__average_warps_issue_stalled_drain_per_issue_active.ratio", "inst", "0"},
      {"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", "inst", "50"},
      {"smsp__average_warps_issue_stalled_wait_not_issued_per_issue_active.ratio", "inst", "9"},
      {"sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "%", "12.5"},
      {"sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", "%", "30"},
      {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "%", "20"},
  }));
  ASSERT_EQ(kernel.stalls.size(), 3U);
  EXPECT_EQ(kernel.stalls[0].name, "long_scoreboard");
  EXPECT_DOUBLE_EQ(kernel.stalls[0].percent, 60);
  EXPECT_EQ(kernel.stalls[2].name, "barrier");
  ASSERT_EQ(kernel.pipes.size(), 3U);
  EXPECT_EQ(kernel.pipes[0].name, "alu");
  EXPECT_EQ(kernel.pipes[1].name, "tensor (cycles)");
}

TEST(NcuPage, NamesWhatLimitsOccupancy) {
  const KernelProfile kernel = only(page({{"launch__occupancy_limit_blocks", "block", "32"},
                                          {"launch__occupancy_limit_registers", "block", "5"},
                                          {"launch__occupancy_limit_shared_mem", "block", "5"},
                                          {"launch__occupancy_limit_warps", "block", "8"}}));
  EXPECT_THAT(kernel.limits, ElementsAre("registers", "shared_mem"));
  EXPECT_THAT(only(page({})).limits, IsEmpty());
}

TEST(NcuPage, WithoutATableSaysWhatNcuSaid) {
  const auto denied = parse_ncu_page(
      "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access counters\n");
  EXPECT_THAT(std::get<Unavailable>(denied).text(),
              HasSubstr("NVreg_RestrictProfilingToAdminUsers"));
  EXPECT_THAT(std::get<Unavailable>(parse_ncu_page("")).text(), HasSubstr("no table"));
  EXPECT_THAT(std::get<Unavailable>(parse_ncu_page("\"Kernel Name\",\"a\"\n\"\",\"\"\n")).text(),
              HasSubstr("no table"));
}

TEST(NcuPage, ARowOfAnotherLengthIsNotRead) {
  const std::string text = page({{"launch__registers_per_thread", "", "40"}}) + "\"1\",\"cut\"\n";
  const auto result = parse_ncu_page(text);
  EXPECT_EQ(std::get<std::vector<KernelProfile>>(result).size(), 1U);
}

TEST(NcuPage, ReadsNumbersAndRefusesWords) {
  EXPECT_EQ(ncu_number("1,234.5"), 1234.5);
  EXPECT_EQ(ncu_number(" 12 (3; 4) "), 12.0);
  EXPECT_EQ(ncu_number("-1e3"), -1000.0);
  for (const char* text : {"", "n/a", "nan", "inf", "0x10", "(!) 3", "1.2.3", "1e999", "-", "e"}) {
    EXPECT_FALSE(ncu_number(text)) << text;
  }
}

TEST(NcuPage, KnowsUnits) {
  EXPECT_DOUBLE_EQ(ncu_unit("us"), 1e-6);
  EXPECT_DOUBLE_EQ(ncu_unit("msecond"), 1e-3);
  EXPECT_DOUBLE_EQ(ncu_unit("byte/second"), 1);
  EXPECT_DOUBLE_EQ(ncu_unit("Tbyte/s"), 1e12);
  EXPECT_DOUBLE_EQ(ncu_unit("byte/ns"), 1e9);
  EXPECT_DOUBLE_EQ(ncu_unit("%"), 1);
  EXPECT_DOUBLE_EQ(ncu_unit("inst/cycle"), 1);
}

TEST(Csv, ReadsQuotesCommasAndBreaks) {
  const Csv csv = parse_csv("a,\"b,\"\"c\"\"\",\"d\ne\"\r\n\n1,,\"\"\n");
  EXPECT_TRUE(csv.complete);
  EXPECT_THAT(csv.rows, ElementsAre(ElementsAre("a", "b,\"c\"", "d\ne"), ElementsAre("1", "", "")));
}

TEST(Csv, AnOpenQuoteIsIncomplete) {
  const Csv csv = parse_csv("a,\"b\nc");
  EXPECT_FALSE(csv.complete);
  EXPECT_THAT(csv.rows, ElementsAre(ElementsAre("a", "b\nc")));
}

TEST(Csv, MeetsEveryLimit) {
  const CsvLimits limits{2, 3, 4, 100};
  const Csv csv = parse_csv("1,2,3,4\nlonger\nx\ny\n", limits);
  EXPECT_FALSE(csv.complete);
  EXPECT_THAT(csv.rows, ElementsAre(ElementsAre("1", "2", "3"), ElementsAre("long")));
  const Csv few = parse_csv("1,2\n3,4\n5,6\n", {10, 10, 10, 3});
  EXPECT_FALSE(few.complete);
  EXPECT_LE(few.rows.size(), 2U);
}

}  // namespace
}  // namespace sweep::profile

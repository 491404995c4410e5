#include "report/markup.h"

#include "report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sweep::report {
namespace {

TEST(Markup, EscapesEverythingThatCouldEndText) {
  EXPECT_EQ(text("<script>alert('x')&\"").html(), "&lt;script&gt;alert(&#39;x&#39;)&amp;&quot;");
}

TEST(Markup, ShowsWhatCannotBeSeenAndMendsUtf8) {
  EXPECT_EQ(text(std::string("a\x1b[31mb\0c", 9)).html(), "a‹U+001B›[31mb‹U+0000›c");
  EXPECT_EQ(text("\xff").html(), "\xEF\xBF\xBD");
  EXPECT_EQ(text("a\r\nb\tc\rd").html(), "a\nb\tc‹U+000D›d");
  EXPECT_EQ(text("\u202Ex\u2066\u200By\uFEFF\u0085").html(),
            "‹U+202E›x‹U+2066›‹U+200B›y‹U+FEFF›‹U+0085›");
  EXPECT_EQ(text("\U000E0041").html(), "‹U+E0041›");
  EXPECT_EQ(element("a", {{"title", "\u202E"}}).html(), "<a title=\"‹U+202E›\"></a>");
}

// Plain runs, characters to escape, and what cannot be seen, next to each other in every order.
TEST(Markup, PartsOfATextDoNotChangeEachOther) {
  const std::vector<std::pair<std::string, std::string>> parts = {{"ab", "ab"},
                                                                  {"<", "&lt;"},
                                                                  {"&\"", "&amp;&quot;"},
                                                                  {"\x01", "\u2039U+0001\u203A"},
                                                                  {"\r\n", "\n"},
                                                                  {"\u00e4", "\u00e4"},
                                                                  {"\xe2\x80", "\uFFFD"},
                                                                  {"\u202e", "\u2039U+202E\u203A"},
                                                                  {"\t", "\t"}};
  for (const auto& [first, first_shown] : parts) {
    for (const auto& [second, second_shown] : parts) {
      for (const auto& [third, third_shown] : parts) {
        EXPECT_EQ(text(first + second + third).html(), first_shown + second_shown + third_shown);
      }
    }
  }
  EXPECT_EQ(text("\r").html(), "\u2039U+000D\u203A");
  EXPECT_EQ(text("\x01\r\n<").html(), "\u2039U+0001\u203A\n&lt;");
}

TEST(Markup, LeavesLettersOfEveryScript) {
  const std::string words = "größer \u05D0\u0628 \u4E2D \U0001F600 x\u0301";
  EXPECT_EQ(visible(words), words);
}

TEST(Markup, RefusesAddressesThatRunCode) {
  EXPECT_THROW((void)element("a", {{"href", "javascript:alert(1)"}}, text("x")), std::logic_error);
  EXPECT_THROW((void)element("a", {{"href", "//elsewhere"}}, text("x")), std::logic_error);
  EXPECT_THROW((void)element("a", {{"href", "data:text/html,x"}}, text("x")), std::logic_error);
  EXPECT_EQ(element("a", {{"href", "../index.html#a"}}, text("x")).html(),
            "<a href=\"../index.html#a\">x</a>");
}

TEST(Markup, DataCannotEndItsScriptElement) {
  EXPECT_EQ(json_block("d", R"(["</script><b>"])").html(),
            R"(<script type="application/json" id="d">["\u003c/script>\u003cb>"]</script>)");
}

TEST(Page, AddressesClimbOutOfTheFolderAndSpellPercent) {
  EXPECT_EQ(relative("t/custom/m/x.html", "index.html"), "../../../index.html");
  EXPECT_EQ(relative("index.html", "m/a%2Fb.html"), "m/a%252Fb.html");
}

record::Trajectory hostile() {
  record::Trajectory t;
  t.model_name = "<img src=x onerror=alert(1)>";
  t.level = "1";
  t.problem_id = "3";
  t.problem_name = "\"><script>1</script>";
  t.outcome = "incorrect";
  t.system_prompt = "</pre><script>2</script>";
  record::Turn turn;
  turn.text = "<iframe src=javascript:1>";
  record::ToolCall call;
  call.tool_name = "<b>";
  call.args = {{"kernel_code", "</code><script>3</script>"}};
  call.result_text = "\xff<script>4</script>";
  turn.tool_calls.push_back(call);
  t.turns.push_back(turn);
  return t;
}

TEST(Page, HostileTrajectoryBringsNoElementIntoAnyPage) {
  const Row row = row_of(hostile(), "t/a.html");
  Context context;
  context.run_name = "<i>";
  context.ledger_head = std::string(64, '0');
  for (const std::string& page : {run_page(context, {row}),
                                  model_page(context, row.model, {row}),
                                  trajectory_page(context, row, hostile())}) {
    EXPECT_EQ(page.find("<script>"), std::string::npos);
    EXPECT_EQ(page.find("<img"), std::string::npos);
    EXPECT_EQ(page.find("<iframe"), std::string::npos);
    EXPECT_EQ(page.find("<i>"), std::string::npos);
  }
}

TEST(Page, TimingFigureHasOneRatioABlockFromTheSamples) {
  record::Trajectory t = hostile();
  record::FinalResult result;
  result.timings.push_back({"n=4", 2, 1, {}, {}, 1, 1});
  // Seed 2 and 8 us, candidate 1 and 4 us: exp((log 2 + log 8 - log 1 - log 4) / 2) = 2.
  result.evaluation = nlohmann::json::parse(
      R"({"stages":{"time":{"samples":{"rows":[[0,0,0,0,0,2e-6],[0,0,0,1,1,1e-6],[0,0,0,2,1,4e-6],[0,0,0,3,0,8e-6],
          [0,0,1,0,0,2e-6],[0,7,0,0,0,1],["x"],7]}}}})");
  t.final_result = result;
  const std::string page = trajectory_page({}, row_of(t, "t/a.html"), t);
  EXPECT_NE(page.find("n = 1 block;"),
            std::string::npos);  // the cut-off block and the broken rows do not count
  EXPECT_NE(page.find(R"("ratio":2.0)"), std::string::npos);
}

record::Trajectory done(const std::string& outcome, double speedup) {
  record::Trajectory t;
  t.model_name = "m";
  t.level = "sci";
  t.problem_id = "heat2d";
  t.outcome = outcome;
  t.cost_usd = 0.5;
  t.final_result.emplace();
  if (speedup > 0) {
    t.final_result->speedup = record::Interval{speedup, speedup, speedup};
  }
  return t;
}

TEST(Summary, MeansAreGeometricAndInfrastructureCountsForNobody) {
  const Row a = row_of(done("correct", 2), "a"), b = row_of(done("correct", 8), "b"),
            c = row_of(done("incorrect", 100), "c"), d = row_of(done("infra_error", 0), "d");
  const Totals t = total({&a, &b, &c, &d});
  EXPECT_EQ(t.items, 4U);
  EXPECT_EQ(t.judged, 3U);
  EXPECT_EQ(t.correct, 2U);
  EXPECT_DOUBLE_EQ(t.geometric_mean.value(), 4.0);
  EXPECT_DOUBLE_EQ(t.cost_usd.value(), 2.0);
  // Wilson 95% for 2 of 3: 0.2077 .. 0.9385 (computed by hand).
  EXPECT_NEAR(t.correct_rate->low, 0.2077, 5e-5);
  EXPECT_NEAR(t.correct_rate->high, 0.9385, 5e-5);
}

TEST(Summary, ProblemsThatWereNotAdmittedAreInNoRateOrMean) {
  const Row a = row_of(done("correct", 2), "a");
  Row b = row_of(done("correct", 8), "b"), c = b, d = b;
  b.admission = "none";
  c.admission = "stale";
  d.admission = "admitted";
  const Totals t = total({&a, &b, &c, &d});
  EXPECT_EQ(t.items, 4U);
  EXPECT_EQ(t.unscored, 2U);
  EXPECT_EQ(t.judged, 2U);
  EXPECT_EQ(t.correct, 2U);
  EXPECT_EQ(t.outcomes.at("correct"), 4U);
  EXPECT_DOUBLE_EQ(t.geometric_mean.value(), 4.0);
  EXPECT_DOUBLE_EQ(t.cost_usd.value(), 2.0);
  EXPECT_NE(cards(t).html().find("not admitted"), std::string::npos);
}

TEST(Summary, OneUnknownPriceMakesTheSumUnknown) {
  const Row a = row_of(done("correct", 2), "a");
  Row b = a;
  b.cost_usd.reset();
  const Totals t = total({&a, &b});
  EXPECT_FALSE(t.cost_usd.has_value());
  EXPECT_DOUBLE_EQ(t.known_usd, a.cost_usd.value());
  EXPECT_THAT(cards(t).html(), ::testing::HasSubstr("the price of 1 item is unknown"));
  EXPECT_THAT(cards(total({&b})).html(), ::testing::HasSubstr("price unknown"));
}

TEST(Summary, NumberedLevelsAndWords) {
  EXPECT_EQ(row_of(done("correct", 1), "").problem, "sci/heat2d");
  EXPECT_EQ(row_of(hostile(), "").problem, "level1/3");
}

}  // namespace
}  // namespace sweep::report

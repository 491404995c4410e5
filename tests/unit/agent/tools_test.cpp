// Texts of the tools that judge, and the table of all.
#include "agent/tools.h"

#include "../../support/text_file.h"
#include "agent/tool_judge.h"
#include "agent/tool_texts.h"
#include "endpoint/json.h"
#include "tool_stub.h"

#include <gmock/gmock.h>

namespace sweep::agent {
namespace {

using testing::HasSubstr;

TEST(Tools, EveryNameOfTheConfigurationHasARowInThatOrder) {
  Harness harness;
  harness.tools = config::all_tools();
  const std::vector<endpoint::ToolDefinition> tools = tool_definitions(harness);
  ASSERT_EQ(tools.size(), harness.tools.size());
  for (std::size_t i = 0; i < tools.size(); ++i) {
    EXPECT_EQ(tools[i].name, harness.tools[i]);
    const bool nothing = tools[i].name == "get_gpu_specs" || tools[i].name == "ert_roofline";
    EXPECT_EQ(takes_kernel(tools[i].name), !nothing);
    EXPECT_TRUE(endpoint::parse_json(tools[i].parameters_json));
    EXPECT_EQ(tools[i].parameters_json.find("kernel_code") == std::string::npos, nothing);
  }
  EXPECT_FALSE(takes_kernel("rm_rf"));
}

}  // namespace
}  // namespace sweep::agent

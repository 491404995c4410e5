#include "agent/kernel_text.h"

#include "agent/prompt.h"
#include "endpoint/arguments.h"
#include "endpoint/json.h"
#include "util/fences.h"
#include "util/text.h"

#include <algorithm>

namespace sweep::agent {
namespace {

constexpr std::size_t kMostNames = 5;  // of arguments that came instead
constexpr std::size_t kMostName = 40;

// "an array", "an object": what a value is, in JSON's words.
std::string kind_of(const endpoint::Json& value) {
  const std::string name = value.type_name();
  return (name == "array" || name == "object" ? "an " : name == "null" ? "" : "a ") + name;
}

std::string names_of(const endpoint::Json& arguments) {
  std::string out;
  std::size_t count = 0;
  for (const auto& [name, value] : arguments.items()) {
    if (count++ == kMostNames)
      return out + ", ...";
    out += (out.empty() ? "" : ", ") + util::printable(name.substr(0, kMostName));
  }
  return out.empty() ? "there are no arguments" : "the arguments are: " + out;
}

}  // namespace

std::string kernel_in_text(const std::string& text, bool cut) {
  std::string_view best;
  bool planned = false;
  for (const util::FencedBlock& block : util::fenced_blocks(text)) {
    const bool kernel =
        util::contains(block.content, "__global__") || util::contains(block.content, ".entry");
    const bool plan = util::contains(block.content, "//@") || util::contains(block.content, "/*@");
    if (!kernel || (!block.closed && cut) || (planned && !plan))
      continue;
    best = block.content;
    planned = plan;
  }
  return std::string(best);
}

std::string unfenced(const std::string& kernel) {
  const std::string_view text = util::trim(kernel);
  const auto block = util::fence_at(text, 0);
  if (!block || block->end != text.size())
    return kernel;
  std::string_view content = block->content;
  if (!block->closed) {
    // The closing marks stand behind the last line's code, or nowhere.
    const std::size_t marks = text.find_first_not_of(text.front());
    const std::size_t last = content.find_last_not_of(text.front());
    if (content.size() - std::min(last + 1, content.size()) >= marks)
      content.remove_suffix(content.size() - (last + 1));
  }
  return std::string(content);
}

KernelArgument kernel_argument(const endpoint::ToolCall& call) {
  auto arguments = endpoint::parse_json(call.arguments).value_or(endpoint::Json::object());
  const auto code = arguments.find("kernel_code");
  if (code == arguments.end())
    return {{}, fill_prompt("no_kernel_code.md", {{"came", names_of(arguments)}})};
  if (!code->is_string())
    return {{}, fill_prompt("kernel_code_type.md", {{"came", kind_of(*code)}})};
  endpoint::restore(arguments);
  KernelArgument out{unfenced(endpoint::text_at(arguments, "kernel_code")), {}};
  if (util::trim(out.text).empty())
    out = {{}, fill_prompt("empty_kernel_code.md")};
  return out;
}

bool too_long(const endpoint::ToolCall& call) {
  return !call.problem.empty() && call.arguments.size() > endpoint::kMaxArguments;
}

}  // namespace sweep::agent

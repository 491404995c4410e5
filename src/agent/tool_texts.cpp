#include "agent/tool_texts.h"

#include "util/excerpt.h"
#include "util/text.h"

#include <algorithm>
#include <array>

namespace sweep::agent {
namespace {

using evaluate::Verdict;
using evaluate::VisibleFeedback;

bool spills(const evaluate::CompileResult& compile) {
  return std::ranges::any_of(compile.kernels,
                             [](const auto& kernel) { return kernel.spill_bytes > 0; });
}

std::string_view after_compile(const evaluate::CompileResult& compile) {
  if (compile.status == "unsupported") {
    return "write it without what is named above: this device cannot run it";
  }
  if (compile.status == "forbidden") {
    return "leave out what is named above: it is refused whatever it computes";
  }
  if (compile.status == "timeout" || compile.status == "out_of_memory") {
    return "give the compiler less to do: fewer template instances, less unrolling";
  }
  return "correct the first error; later ones often follow from it";
}

struct Step {
  Verdict verdict;
  std::string_view text;
};

constexpr std::array kSteps = {
    Step{Verdict::plan_error,
         "correct what is named above{static_check:; static_check tries a plan without compiling}"},
    Step{Verdict::launch_error,
         "compare grid, block (at most 1024 threads) and shared memory of the launch with the "
         "device's limits{get_gpu_specs: (get_gpu_specs)}{compile_kernel: and with what "
         "compile_kernel says that the kernel takes}"},
    Step{Verdict::runtime_fault,
         "check every index and the alignment of vector accesses at the shape named above; guard "
         "the last threads"},
    Step{Verdict::timeout,
         "look for a loop without an end, a barrier that not all threads reach, or a wait for a "
         "block that is not resident; else do less work"},
    Step{Verdict::out_of_memory, "use less scratch, shared memory or stack"},
    Step{Verdict::incorrect_value,
         "compute the first wrong element by hand from the reference, at the shape named above"},
    Step{Verdict::incorrect_unwritten,
         "let the grid cover the whole output: round the number of blocks up and guard the index"},
    Step{Verdict::incorrect_nondeterministic,
         "look for a race, or for atomics whose order changes the result"},
    Step{Verdict::incorrect_out_of_bounds,
         "guard every write with the extents of the tensor, also those of the last block"},
    Step{Verdict::incorrect_input_mutated,
         "inputs are read-only: write to `scratch` buffers or outputs"},
    Step{Verdict::incorrect_precision,
         "accumulate in the baseline's precision or better; no lower type in between"},
    Step{Verdict::incorrect_generalisation,
         "make no assumption on sizes or contents that the problem does not state"},
    Step{Verdict::rejected_state,
         "compute everything anew in each call: nothing may be kept between calls"},
    Step{Verdict::rejected_forbidden, "leave out what is named above"},
    Step{Verdict::rejected_stale, "write every output in every call"},
    Step{Verdict::rejected_late_store, "end all stores before the kernel ends (bulk copies too)"},
};

bool among(const std::vector<std::string>& tools, std::string_view tool) {
  return std::ranges::find(tools, tool) != tools.end();
}

std::string after_pass(std::string_view tool,
                       const VisibleFeedback& feedback,
                       const std::vector<std::string>& tools) {
  const std::string check = among(tools, "run_correctness") ? "run_correctness" : "submit_kernel";
  if (tool == "static_check") {
    return !among(tools, "compile_kernel") ? check : "compile_kernel, or " + check + " at once";
  }
  if (tool == "compile_kernel") {
    return feedback.compile() && spills(*feedback.compile())
               ? check +
                     "; spilled registers cost memory traffic: fewer live values or smaller "
                     "tiles"
               : check;
  }
  return tool == "run_correctness" ? "submit_kernel, or make it faster first" : "";
}

}  // namespace

std::string tool_text(std::string_view tool,
                      bool success,
                      std::string_view summary,
                      std::string_view details) {
  std::string text =
      std::string(tool) + (success ? " PASSED: " : " FAILED: ") + std::string(summary);
  std::replace(text.begin(), text.end(), '\n', ' ');
  text = util::narrowed(text, kMostToolText / 8);
  const std::string_view rest = util::trim(details);
  if (!rest.empty()) {
    text.append("\n").append(rest);
  }
  return util::excerpt(util::without_folders(util::printable(text)), kMostToolText);
}

std::string for_tools(std::string_view text, const std::vector<std::string>& tools) {
  std::string out;
  for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{')) {
    const std::size_t colon = text.find(':', open);
    const std::size_t close = text.find('}', open);
    out += text.substr(0, open);
    if (among(tools, text.substr(open + 1, colon - open - 1))) {
      out += text.substr(colon + 1, close - colon - 1);
    }
    text.remove_prefix(close + 1);
  }
  return out.append(text);
}

std::string next_step(std::string_view tool,
                      const VisibleFeedback& feedback,
                      const std::vector<std::string>& tools) {
  if (feedback.compile() && feedback.compile()->status != "ok") {
    return std::string(after_compile(*feedback.compile()));
  }
  if (evaluate::outcome_of(feedback.verdict()) == evaluate::Outcome::correct) {
    return after_pass(tool, feedback, tools);
  }
  if (feedback.verdict() == Verdict::plan_error && feedback.compile()) {
    return for_tools(
        "make the arguments of the launch and the kernel's parameters agree{compile_kernel:; "
        "compile_kernel compares them}",
        tools);
  }
  const auto* const found = std::ranges::find(kSteps, feedback.verdict(), &Step::verdict);
  return found == kSteps.end() ? "do the whole work in every timed call, honestly"
                               : for_tools(found->text, tools);
}

std::string judged_text(std::string_view tool,
                        bool success,
                        const VisibleFeedback& feedback,
                        std::string_view source,
                        const std::vector<std::string>& tools,
                        const std::vector<std::string>& warnings) {
  // Headline, warnings and step come on top.
  std::string details = feedback.text(kMostToolText - kMostToolText / 4, source);
  for (const std::string& warning : warnings) {
    details += "WARNING: " + warning + '\n';
  }
  if (const std::string next = next_step(tool, feedback, tools); !next.empty()) {
    details.append("next: ").append(next);
  }
  return tool_text(tool, success, feedback.summary(), details);
}

std::vector<std::string> lint(std::string_view kernel) {
  std::vector<std::string> out;
  const auto warn = [&](bool when, const char* text) {
    if (when) {
      out.emplace_back(text);
    }
  };
  warn(util::contains(kernel, "```"),
       "there is a Markdown fence (```) in the text: hand in the code alone");
  warn(!util::contains(kernel, "__global__") && !util::contains(kernel, ".entry"),
       "there is no __global__ function");
  warn(!util::contains(kernel, "//@") && !util::contains(kernel, "/*@"),
       "there is no plan: write //@ lines");
  warn(util::contains(kernel, "torch/") || util::contains(kernel, "PYBIND11") ||
           util::contains(kernel, "load_inline"),
       "PyTorch is not there: hand in device code with a plan, not an extension");
  warn(util::contains(kernel, "cudaMalloc") || util::contains(kernel, "cudaLaunch") ||
           util::contains(kernel, "int main("),
       "host code does nothing here: the plan allocates scratch and launches");
  warn(util::contains(kernel, "cublas") || util::contains(kernel, "cusparse") ||
           util::contains(kernel, "cudnn"),
       "libraries are not linked");
  warn(util::contains(kernel, "clock64") || util::contains(kernel, "globaltimer"),
       "reading clocks has no use here");
  return out;
}

}  // namespace sweep::agent

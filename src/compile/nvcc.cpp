#include "compile/cubin.h"
#include "compile/log.h"
#include "compile/ptx_text.h"
#include "compile/ptxas.h"
#include "compile/wrapper.h"
#include "util/file.h"
#include "util/process.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

namespace sweep::compile {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxPtx = std::size_t{128} << 20;
constexpr std::size_t kMaxSymbol = 4096;
// Empty kernels with this name and a kernel of the plan as template argument: they instantiate it
// and tell its symbol. They are taken out of the PTX again.
constexpr std::string_view kMarker = "_ZN10sweep_plan6kernelILi";

// nvcc passes what it is given through a shell: every argument is a constant of ours or a number.
std::vector<std::string> nvcc_arguments(const Job& job) {
  std::vector<std::string> all = {"-ptx",
                                  "-arch=" + job.request.target.arch,
                                  "-std=c++20",
                                  "-extended-lambda",
                                  "-o",
                                  "unit.ptx",
                                  "unit.cu"};
  if (job.request.flags.maxrregcount > 0) {
    all.push_back("-maxrregcount=" + std::to_string(job.request.flags.maxrregcount));
  }
  if (job.request.flags.fast_math) {
    all.emplace_back("-use_fast_math");
  }
  if (!job.request.contract) {
    all.emplace_back("-fmad=false");
  }
  return all;
}

std::vector<std::string> environment(const Job& job) {
  std::vector<std::string> all = util::basic_environment(job.work);
  // nvcc finds its own folder, and with it headers and tools, by its name on the path.
  for (std::string& one : all) {
    if (one.starts_with("PATH=")) {
      one.insert(5, job.nvcc.parent_path().native() + ":");
    }
  }
  // __DATE__ and __TIME__ of the preprocessor, however they are spelled.
  all.emplace_back("SOURCE_DATE_EPOCH=0");
  return all;
}

// nvcc names its own headers by ways that go up: TOOLKIT/bin/../targets/...
std::string shown_log(const Job& job, std::string text) {
  const std::filesystem::path bin = job.nvcc.parent_path();
  for (const auto& [from, to] :
       {std::pair(bin.native() + "/../", bin.parent_path().native() + "/"),
        std::pair(std::string("compilation of \"unit.cu\""),
                  "compilation of \"" + safe_file_name(job.request.file) + "\"")}) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
      text.replace(at, from.size(), to);
    }
  }
  const std::vector<std::filesystem::path> ours = {job.work};
  const std::vector<std::filesystem::path> known = {
      bin.parent_path(), "/usr/include", "/usr/lib", "/usr/local/include"};
  return without_wrapper(clean_log(text, ours, known));
}

bool is_marker(std::string_view name) {
  return name.starts_with(kMarker);
}

// A demangled kernel without its result: "ns::k<3>(float const*)".
std::string without_result(const std::string& name) {
  return name.starts_with("void ") ? name.substr(5) : name;
}

// ... and without its parameters: "ns::k<3>".
std::string without_parameters(const std::string& name) {
  int depth = 0;
  for (std::size_t at = name.size(); name.ends_with(')') && at-- > 0;) {
    depth += name[at] == ')' ? 1 : (name[at] == '(' ? -1 : 0);
    if (depth == 0) {
      return name.substr(0, at);
    }
  }
  return name;
}

// The part of "ns::name(arguments)" that an extern "C" symbol keeps.
std::string plain_name(const std::string& name) {
  const std::string path = without_parameters(name);
  const std::size_t colons = path.rfind("::");
  return colons == std::string::npos ? path : path.substr(colons + 2);
}

// Number of a marker and the kernel in it, as the demangler writes its address: "(k<3>(float*))" or
// "ns::k". Empty: none of ours.
std::optional<std::pair<std::size_t, std::string>> marked(const std::string& name) {
  constexpr std::string_view kBegin = "void sweep_plan::kernel<";
  constexpr std::string_view kEnd = ">()";
  const std::string text = demangled(name);
  const std::size_t at = text.find(", &");
  if (!text.starts_with(kBegin) || !text.ends_with(kEnd) || at == std::string::npos) {
    return std::nullopt;
  }
  const std::string number = text.substr(kBegin.size(), at - kBegin.size());
  if (number.empty() || number.size() > 5 ||
      number.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  std::string kernel = text.substr(at + 3, text.size() - kEnd.size() - at - 3);
  if (kernel.starts_with('(') && without_parameters(kernel).empty()) {
    kernel = kernel.substr(1, kernel.size() - 2);
  }
  return std::pair(static_cast<std::size_t>(std::stoul(number)), without_result(kernel));
}

// Symbols by name with and without parameters; one that several share stands for none.
std::map<std::string, std::string> symbols_by_name(const std::vector<PtxEntry>& entries) {
  std::map<std::string, std::string> all;
  const auto add = [&all](const std::string& name, const std::string& symbol) {
    const auto [at, fresh] = all.emplace(name, symbol);
    at->second = fresh || at->second == symbol ? symbol : std::string();
  };
  for (const PtxEntry& entry : entries) {
    if (!is_marker(entry.name) && entry.name.size() <= kMaxSymbol) {
      const std::string name = without_result(demangled(entry.name));
      add(name, entry.name);
      add(without_parameters(name), entry.name);
    }
  }
  return all;
}

// Symbol of each kernel of the plan, in order; an empty one was not found.
std::vector<std::string> symbols_of(const std::vector<PtxEntry>& entries, std::size_t count) {
  const std::map<std::string, std::string> by_name = symbols_by_name(entries);
  std::vector<std::string> symbols(count);
  for (const PtxEntry& entry : entries) {
    const auto mark = is_marker(entry.name) && entry.name.size() <= 2 * kMaxSymbol
                          ? marked(entry.name)
                          : std::nullopt;
    if (!mark || mark->first >= count) {
      continue;
    }
    auto found = by_name.find(mark->second);
    found = found != by_name.end() ? found : by_name.find(plain_name(mark->second));
    symbols[mark->first] = found != by_name.end() ? found->second : std::string();
  }
  return symbols;
}

// The text without the markers' kernels, which are empty: from the line of the name to the brace.
std::string without_markers(std::string ptx, const std::vector<PtxEntry>& entries) {
  for (const PtxEntry& entry : entries) {
    const std::size_t at =
        is_marker(entry.name) ? ptx.find(".entry " + entry.name + "(") : ptx.npos;
    const std::size_t end = at == ptx.npos ? ptx.npos : ptx.find("\n}", at);
    if (end != ptx.npos) {
      // The line before names it in a comment where the kernel is visible.
      const std::size_t comment = ptx.rfind("// .globl", at);
      const std::size_t named = comment == ptx.npos ? ptx.npos : ptx.find(entry.name, comment);
      const std::size_t line = ptx.rfind('\n', named < at ? comment : at);
      const std::size_t begin = line == ptx.npos ? 0 : line;
      ptx.erase(begin, end + 2 - begin);
    }
  }
  return ptx;
}

std::string unit(const Job& job, const std::string& defines) {
  std::string text = "#define NDEBUG 1\n#include <cassert>\n#include <cstdio>\n";
  if (!job.request.device_printf) {
    text += std::string(kNoPrintf);
  }
  text += defines + "#include \"" + safe_file_name(job.request.file) +
          "\"\n#line 1 \"kernels of the plan\"\nnamespace sweep_plan {\n"
          "template <int I, auto F> __global__ void kernel() {}\n"
          "inline const void* const names[] = {\n";
  for (std::size_t i = 0; i < job.request.kernels.size(); ++i) {
    text += "(const void*)&kernel<" + std::to_string(i) + ", &" + job.request.kernels[i] + ">,\n";
  }
  return text + "nullptr};\n}\n";
}

}  // namespace

Outcome compile_nvcc(const Job& job) {
  const auto defines = define_lines(job.request.defines);
  if (!defines) {
    return failed(Result::Status::compile_error,
                  "a plan constant has a name that cannot be a macro\n");
  }
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(job.seconds));
  util::write_file_atomic(job.work / safe_file_name(job.request.file), job.request.source);
  util::write_file_atomic(job.work / "unit.cu", unit(job, *defines));
  const ToolRun run = run_tool(job.nvcc, nvcc_arguments(job), environment(job), job.seconds);
  Assembled made;
  made.log = shown_log(job, run.text);
  if (!run.ok()) {
    return tool_failure(run, made.log);
  }
  const std::string ptx = util::read_file(job.work / "unit.ptx", kMaxPtx);
  const std::vector<PtxEntry> entries = PtxText(ptx).entries();
  const std::vector<std::string> symbols = symbols_of(entries, job.request.kernels.size());
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i].empty()) {
      return failed(Result::Status::compile_error,
                    "'" + job.request.kernels[i] + "' names no kernel\n" + made.log);
    }
    made.kernels.emplace_back(job.request.kernels[i], symbols[i]);
  }
  made.ptx = without_markers(ptx, entries);
  util::write_file_atomic(job.work / "unit.ptx", made.ptx);
  const double left = std::chrono::duration<double>(end - Clock::now()).count();
  const ToolRun assembled = run_ptxas(job, std::max(0.1, left));
  made.report = read_ptxas_log(assembled.text);
  made.log += shown_log(job, made.report.rest);
  if (!assembled.ok()) {
    return tool_failure(assembled, made.log);
  }
  made.image = read_cubin(job);
  return cubin_outcome(job, std::move(made));
}

}  // namespace sweep::compile

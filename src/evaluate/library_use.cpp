#include "evaluate/library_use.h"

#include "util/sha256.h"
#include "util/text.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using submission::PlanError;
using wire::field;

constexpr std::string_view kTf32 = "tf32";  // set by the precision alone

const std::string* given(const std::vector<std::pair<std::string, std::string>>& args,
                         std::string_view parameter) {
  const auto found =
      std::ranges::find(args, parameter, &std::pair<std::string, std::string>::first);
  return found == args.end() ? nullptr : &found->second;
}

const problem::Tensor* buffer_tensor(const problem::Problem& problem, const std::string& name) {
  const problem::Tensor* tensor = problem.tensor(name);
  return tensor != nullptr && tensor->role != problem::Role::aux ? tensor : nullptr;
}

std::string mistake_in(const problem::Problem& problem,
                       const device::LibraryFunction& function,
                       const std::vector<std::pair<std::string, std::string>>& args) {
  for (const auto& [name, text] : args) {
    const auto known = std::ranges::find(
        function.parameters, std::string_view(name), &device::LibraryParameter::name);
    if (known == function.parameters.end() || name == kTf32) {
      std::vector<std::string> names;
      for (const device::LibraryParameter& parameter : function.parameters) {
        if (parameter.name != kTf32) {
          names.emplace_back(parameter.name);
        }
      }
      return fmt::format(
          "{} has no parameter '{}'; there are {}", function.name, name, fmt::join(names, ", "));
    }
    if (known->tensor && buffer_tensor(problem, text) == nullptr) {
      return fmt::format(
          "'{}' of {} must name an input or output, not '{}'", name, function.name, text);
    }
  }
  for (const device::LibraryParameter& parameter : function.parameters) {
    if (given(args, parameter.name) == nullptr && !parameter.otherwise) {
      return fmt::format("{} needs '{}'", function.name, parameter.name);
    }
  }
  return "";
}

PlanError call_error(const LibraryUse& use, std::string what) {
  return {"E_BASELINE_CALL", use.baseline, 0, 0, std::move(what), "correct the problem's baseline"};
}

std::int64_t number_of(const std::string& text, const problem::Draw& draw) {
  const auto parsed = expr::parse(text);
  if (const auto* error = std::get_if<expr::SyntaxError>(&parsed)) {
    throw expr::EvalError{error->code, error->what, error->offset, true};
  }
  return expr::eval_int(std::get<expr::Expr>(parsed), draw.dims, expr::Division::exact);
}

bool by_tf32(const problem::Problem& problem) {
  return problem.precision == problem::Precision::tf32;
}

}  // namespace

std::string library_mistake(const problem::Problem& problem, const problem::Baseline& baseline) {
  const device::LibraryFunction* function = device::find_library_function(baseline.library);
  std::string what;
  if (function == nullptr) {
    std::vector<std::string> names;
    for (const device::LibraryFunction& one : device::library_functions()) {
      names.emplace_back(one.name);
    }
    what = fmt::format(
        "no library call '{}' is built in; there are {}", baseline.library, fmt::join(names, ", "));
  } else {
    what = mistake_in(problem, *function, baseline.args);
  }
  return what.empty() ? ""
                      : util::printable(problem.id + "/problem.toml, baseline '" + baseline.name +
                                        "': " + what);
}

std::variant<device::Launch, PlanError> bind_library(const LibraryUse& use,
                                                     const problem::Problem& problem,
                                                     const problem::Draw& draw,
                                                     std::span<const NamedBuffer> buffers) {
  const device::LibraryFunction* function = device::find_library_function(use.function);
  if (function == nullptr) {
    return call_error(use, "no library call '" + use.function + "'");
  }
  if (std::string mistake = mistake_in(problem, *function, use.args); !mistake.empty()) {
    return call_error(use, std::move(mistake));
  }
  std::vector<device::LibraryArgument> arguments;
  for (const device::LibraryParameter& parameter : function->parameters) {
    const std::string* text = given(use.args, parameter.name);
    device::LibraryArgument& argument = arguments.emplace_back();
    if (parameter.tensor) {
      const auto found = std::ranges::find(buffers, *text, &NamedBuffer::name);
      if (found == buffers.end()) {
        return call_error(use, "no buffer '" + *text + "'");
      }
      argument.address = found->address;
      argument.type = buffer_tensor(problem, *text)->type;
    } else if (parameter.name == kTf32) {
      argument.number = by_tf32(problem) ? 1 : 0;
    } else {
      try {
        argument.number = text == nullptr ? *parameter.otherwise : number_of(*text, draw);
      } catch (const expr::EvalError& error) {
        return call_error(use, std::string(parameter.name) + ": " + error.what);
      }
    }
  }
  return device::library_launch(use.function, arguments);
}

std::string math_of(const LibraryUse& use, const problem::Problem& problem) {
  const bool product = use.function == "cublas.gemm";
  const std::string* name = given(use.args,
                                  product                           ? "a"
                                  : use.function == "cusparse.spmm" ? "values"
                                                                    : "x");
  const problem::Tensor* tensor = name == nullptr ? nullptr : problem.tensor(*name);
  if (tensor == nullptr) {
    return "";
  }
  std::string type(expr::name(tensor->type));
  if (!product) {
    return type;
  }
  switch (tensor->type) {
    case expr::DType::f32:
      return by_tf32(problem) ? "TF32" : "f32, TF32 off";
    case expr::DType::f16:
    case expr::DType::bf16:
      return type + ", sums in f32";
    default:
      return type;
  }
}

Code library_code(LibraryUse use) {
  Code code;
  code.submission.file = use.baseline;
  code.digest = util::sha256_hex("library\n" + to_json(use).dump());
  code.library = std::move(use);
  return code;
}

json to_json(const LibraryUse& use) {
  return {{"baseline", util::to_valid_utf8(use.baseline)},
          {"function", use.function},
          {"path", use.path},
          {"args", use.args}};
}

LibraryUse library_use_from_json(const json& body) {
  LibraryUse use;
  use.baseline = field<std::string>(body, "baseline");
  use.function = field<std::string>(body, "function");
  use.path = field<std::string>(body, "path");
  for (const json& pair : body.at("args")) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) {
      throw wire::WireError({"library", "an argument is not a pair of texts", ""}, "E_WIRE_FIELD");
    }
    use.args.emplace_back(pair[0].get<std::string>(), pair[1].get<std::string>());
  }
  return use;
}

}  // namespace sweep::evaluate

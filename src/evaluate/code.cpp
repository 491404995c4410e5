#include "evaluate/code.h"

#include "evaluate/hex.h"
#include "evaluate/image_wire.h"
#include "evaluate/library_use.h"
#include "evaluate/tensor_map.h"
#include "submission/ranks.h"
#include "util/error.h"
#include "util/sha256.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using submission::Parameter;
using submission::PlanError;

std::string_view as_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string digest_of(const std::string& source, const device::Image& image) {
  return util::sha256_hex(util::sha256_hex(source) + util::sha256_hex(as_text(image.bytes)));
}

PlanError untyped(const Code& code, const submission::Launch& launch) {
  return {"E_PLAN_UNTYPED_KERNEL",
          code.submission.file,
          launch.line,
          launch.column,
          "the compiled symbol of '" + launch.kernel + "' tells no parameter types",
          "remove extern \"C\" from the kernel"};
}

// Everything but the arguments.
device::Launch device_launch(const submission::Launch& launch) {
  device::Launch made;
  made.kernel = launch.kernel;
  for (std::size_t i = 0; i < 3; ++i) {
    made.grid.at(i) = static_cast<std::uint32_t>(launch.grid.at(i));
    made.block.at(i) = static_cast<std::uint32_t>(launch.block.at(i));
    made.attributes.cluster.at(i) = static_cast<std::uint32_t>(launch.cluster.at(i));
  }
  made.shared_bytes = static_cast<std::uint32_t>(launch.shared_bytes);
  made.attributes.cooperative = launch.cooperative;
  made.attributes.early_start = launch.pdl;
  return made;
}

PlanError disagreement(const Code& code,
                       const submission::Launch& launch,
                       const std::string& named,
                       const std::string& found) {
  return {"E_PLAN_ARGUMENT_TYPE",
          code.submission.file,
          launch.line,
          launch.column,
          "the symbol of '" + launch.kernel + "' declares " + named + ", the device finds " + found,
          "do not give kernels mangled names of other functions"};
}

// Types as the symbol (or the .param declarations of a .ptx) tells them, with the sizes that the
// device found in the code; where both know a size they must agree.
std::variant<std::vector<Parameter>, PlanError> agreed(const Code& code,
                                                       const submission::Launch& launch,
                                                       std::vector<Parameter> named,
                                                       const std::vector<std::size_t>& sizes) {
  if (sizes.size() != named.size()) {
    return disagreement(
        code, launch, std::to_string(named.size()) + " parameters", std::to_string(sizes.size()));
  }
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (named[i].bytes != 0 && named[i].bytes != sizes[i]) {
      return disagreement(code,
                          launch,
                          "parameter " + std::to_string(i + 1) + " as '" + named[i].text + "' of " +
                              std::to_string(named[i].bytes) + " bytes",
                          std::to_string(sizes[i]) + " bytes");
    }
    named[i].bytes = sizes[i];
  }
  return named;
}

// Parameters of a launched kernel; extern "C" symbols have no types, but the device knows how many
// bytes each parameter has. The cpu device tells no sizes: its types were checked by g++.
std::variant<std::vector<Parameter>, PlanError> parameters_for(const Code& code,
                                                               const Facts& facts,
                                                               const submission::Launch& launch) {
  const auto kernel =
      std::ranges::find(code.kernels, launch.kernel, &compile::CompiledKernel::name);
  const auto fact = facts.find(launch.kernel);
  const bool typed = kernel != code.kernels.end() && kernel->parameters.has_value();
  const bool sized = fact != facts.end() && !fact->second.parameter_bytes.empty();
  if (!typed && !sized && !launch.arguments.empty()) {
    return untyped(code, launch);
  }
  if (!typed) {
    return submission::opaque_parameters(sized ? fact->second.parameter_bytes
                                               : std::vector<std::size_t>());
  }
  return sized ? agreed(code, launch, *kernel->parameters, fact->second.parameter_bytes)
               : std::variant<std::vector<Parameter>, PlanError>(*kernel->parameters);
}

std::variant<device::Step, PlanError> bind_launch(const Code& code,
                                                  const submission::Signature& signature,
                                                  const submission::Expansion& expansion,
                                                  const Facts& facts,
                                                  const std::vector<device::Address>& buffers,
                                                  const submission::Launch& launch) {
  const auto parameters = parameters_for(code, facts, launch);
  if (const auto* error = std::get_if<PlanError>(&parameters)) {
    return *error;
  }
  const auto address = [&buffers](const submission::BufferRef& ref) {
    return buffers.at(ref.buffer) + static_cast<std::uint64_t>(ref.offset_bytes);
  };
  auto bound =
      submission::bind_arguments(launch, std::get<0>(parameters), signature, expansion, address);
  if (auto* error = std::get_if<PlanError>(&bound)) {
    return *error;
  }
  device::Launch made = device_launch(launch);
  made.arguments = std::get<0>(std::move(bound));
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (const auto* ref = std::get_if<submission::MapRef>(&launch.arguments[i])) {
      const submission::TensorMap& map = expansion.maps.at(ref->map);
      const device::TensorMap bytes = device_map(map, address(map.base));
      std::memcpy(made.arguments[i].data(), &bytes, made.arguments[i].size());
      made.tensor_maps.push_back(i);
    }
  }
  return device::Step(std::move(made));
}

json parameters_to_json(const std::vector<Parameter>& parameters) {
  json list = json::array();
  for (const Parameter& p : parameters) {
    list.push_back({{"kind", static_cast<int>(p.kind)},
                    {"bytes", p.bytes},
                    {"const", p.points_to_const},
                    {"signed", p.is_signed},
                    {"pointee", p.pointee},
                    {"text", p.text}});
  }
  return list;
}

std::vector<Parameter> parameters_from_json(const json& list) {
  std::vector<Parameter> parameters;
  for (const json& item : list) {
    const auto kind = wire::field<std::int64_t>(item, "kind");
    if (kind < 0 || kind > static_cast<std::int64_t>(Parameter::Kind::opaque)) {
      throw util::InfraError({"judge", "unknown kind of parameter", ""}, "E_JUDGE_PROTOCOL");
    }
    Parameter p;
    p.kind = static_cast<Parameter::Kind>(kind);
    p.bytes = wire::field<std::uint64_t>(item, "bytes");
    p.points_to_const = wire::field<bool>(item, "const");
    p.is_signed = wire::field<bool>(item, "signed");
    p.pointee = wire::field<std::string>(item, "pointee");
    p.text = wire::field<std::string>(item, "text");
    parameters.push_back(std::move(p));
  }
  return parameters;
}

}  // namespace

Code make_code(submission::Submission submission,
               std::map<std::string, std::int64_t> overrides,
               submission::Signature signature,
               const compile::Result& compiled) {
  Code code;
  code.digest = digest_of(submission.source, compiled.image);
  code.submission = std::move(submission);
  code.overrides = std::move(overrides);
  code.signature = std::move(signature);
  code.kernels = compiled.kernels;
  code.image = compiled.image;
  return code;
}

std::variant<submission::Expansion, PlanError> expand_for(const submission::Submission& submission,
                                                          const submission::Signature& signature,
                                                          const problem::Draw& draw,
                                                          std::int64_t sm_count,
                                                          const Occupancy& occupancy,
                                                          std::int64_t launch_limit,
                                                          bool exact,
                                                          std::uint64_t rank_order) {
  submission::Binding binding;
  binding.exact = exact;
  binding.dims = draw.dims;
  for (const submission::Scalar& scalar : signature.scalars) {
    const auto found = draw.scalars.find(scalar.name);
    if (found != draw.scalars.end()) {
      binding.scalars[scalar.name] = found->second;
    }
  }
  binding.sm_count = sm_count;
  binding.occupancy = occupancy;
  binding.rank_order = rank_order;
  return submission::expand(submission, signature, binding, launch_limit);
}

std::variant<std::vector<device::Step>, PlanError> bind_steps(
    const Code& code,
    const submission::Expansion& expansion,
    const Facts& facts,
    const std::vector<device::Address>& buffers) {
  const submission::Signature signature = submission::widened(code.signature, expansion.ranks);
  std::vector<device::Step> steps;
  steps.reserve(expansion.steps.size());
  for (const submission::Step& step : expansion.steps) {
    if (const auto* launch = std::get_if<submission::Launch>(&step)) {
      auto bound = bind_launch(code, signature, expansion, facts, buffers, *launch);
      if (auto* error = std::get_if<PlanError>(&bound)) {
        return *error;
      }
      steps.push_back(std::get<device::Step>(std::move(bound)));
    } else if (const auto* zero = std::get_if<submission::Zero>(&step)) {
      steps.emplace_back(
          device::Memset{buffers.at(zero->buffer), static_cast<std::size_t>(zero->bytes)});
    } else {
      const auto& copy = std::get<submission::Copy>(step);
      steps.emplace_back(device::Memcpy{
          buffers.at(copy.to), buffers.at(copy.from), static_cast<std::size_t>(copy.bytes)});
    }
  }
  return steps;
}

json code_to_json(const Code& code) {
  if (code.library) {
    return {{"library", to_json(*code.library)}, {"image", json::array()}};
  }
  json kernels = json::array();
  for (const compile::CompiledKernel& kernel : code.kernels) {
    json item = {{"name", kernel.name}, {"lowered", kernel.lowered}};
    if (kernel.parameters) {
      item["parameters"] = parameters_to_json(*kernel.parameters);
    }
    kernels.push_back(std::move(item));
  }
  return {{"file", code.submission.file},
          {"source", to_hex(code.submission.source)},
          {"overrides", code.overrides},
          {"kernels", kernels},
          {"image", kernels_to_json(code.image)}};
}

Code code_from_json(const json& body, submission::Signature signature, device::Image image) {
  if (body.contains("library")) {
    return library_code(library_use_from_json(body.at("library")));
  }
  Code code;
  for (const auto& [name, value] : body.at("overrides").items()) {
    code.overrides[name] = value.get<std::int64_t>();
  }
  const std::string source = text_from_hex(wire::field<std::string>(body, "source"));
  auto parsed = submission::parse(wire::field<std::string>(body, "file"), source, code.overrides);
  if (const auto* error = std::get_if<PlanError>(&parsed)) {
    throw util::InfraError(
        {"judge", "a plan that was parsed before does not parse: " + error->what, ""},
        "E_JUDGE_PROTOCOL");
  }
  code.submission = std::get<submission::Submission>(std::move(parsed));
  code.signature = std::move(signature);
  for (const json& item : body.at("kernels")) {
    compile::CompiledKernel kernel;
    kernel.name = wire::field<std::string>(item, "name");
    kernel.lowered = wire::field<std::string>(item, "lowered");
    if (item.contains("parameters")) {
      kernel.parameters = parameters_from_json(item.at("parameters"));
    }
    code.kernels.push_back(std::move(kernel));
  }
  code.image = std::move(image);
  code.digest = digest_of(code.submission.source, code.image);
  return code;
}

}  // namespace sweep::evaluate

#include "evaluate/runner_protocol.h"

#include "evaluate/hex.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace sweep::evaluate {
namespace {

using nlohmann::json;
using wire::field;

[[noreturn]] void broken_message(const std::string& what) {
  throw util::InfraError({"message between roles", what, ""}, "E_JUDGE_PROTOCOL");
}

std::array<std::uint32_t, 3> extents_from_json(const json& body, const char* key) {
  const auto values = field<std::vector<std::int64_t>>(body, key);
  if (values.size() != 3) {
    broken_message("three extents expected");
  }
  std::array<std::uint32_t, 3> result{};
  for (std::size_t i = 0; i < 3; ++i) {
    if (values[i] < 0 || values[i] > std::numeric_limits<std::uint32_t>::max()) {
      broken_message("extent out of range");
    }
    result.at(i) = static_cast<std::uint32_t>(values[i]);
  }
  return result;
}

// Arguments that are tensor maps; each must have the bytes of one.
std::vector<std::size_t> maps_from_json(const json& body, const device::Launch& launch) {
  std::vector<std::size_t> maps;
  for (const std::int64_t map : field<std::vector<std::int64_t>>(body, "maps")) {
    const auto index = static_cast<std::size_t>(map);
    if (map < 0 || index >= launch.arguments.size() ||
        launch.arguments[index].size() != sizeof(device::TensorMap)) {
      broken_message("a tensor map that is no argument");
    }
    maps.push_back(index);
  }
  return maps;
}

json step_to_json(const device::Step& step) {
  if (const auto* launch = std::get_if<device::Launch>(&step)) {
    json arguments = json::array();
    for (const auto& bytes : launch->arguments) {
      arguments.push_back(to_hex(bytes));
    }
    json body = {{"kernel", launch->kernel},
                 {"grid", launch->grid},
                 {"block", launch->block},
                 {"shared", launch->shared_bytes},
                 {"arguments", std::move(arguments)}};
    // What most launches do not have is left out: a plan may have 65,536 of them.
    if (launch->attributes != device::LaunchAttributes{}) {
      body["cluster"] = launch->attributes.cluster;
      body["cooperative"] = launch->attributes.cooperative;
      body["early_start"] = launch->attributes.early_start;
    }
    if (!launch->tensor_maps.empty()) {
      body["maps"] = launch->tensor_maps;
    }
    return body;
  }
  if (const auto* set = std::get_if<device::Memset>(&step)) {
    return {{"to", set->to}, {"bytes", set->bytes}};
  }
  const auto& copy = std::get<device::Memcpy>(step);
  return {{"to", copy.to}, {"from", copy.from}, {"bytes", copy.bytes}};
}

device::Step step_from_json(const json& body) {
  if (body.contains("kernel")) {
    device::Launch launch;
    launch.kernel = field<std::string>(body, "kernel");
    launch.grid = extents_from_json(body, "grid");
    launch.block = extents_from_json(body, "block");
    launch.shared_bytes = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(field<std::uint64_t>(body, "shared"), 0xffffffffU));
    for (const std::string& hex : field<std::vector<std::string>>(body, "arguments")) {
      launch.arguments.push_back(bytes_from_hex(hex));
    }
    if (body.contains("cluster")) {
      launch.attributes.cluster = extents_from_json(body, "cluster");
      launch.attributes.cooperative = field<bool>(body, "cooperative");
      launch.attributes.early_start = field<bool>(body, "early_start");
    }
    if (body.contains("maps")) {
      launch.tensor_maps = maps_from_json(body, launch);
    }
    return launch;
  }
  if (body.contains("from")) {
    return device::Memcpy{field<std::uint64_t>(body, "to"),
                          field<std::uint64_t>(body, "from"),
                          field<std::uint64_t>(body, "bytes")};
  }
  return device::Memset{field<std::uint64_t>(body, "to"), field<std::uint64_t>(body, "bytes")};
}

}  // namespace

json steps_to_json(const std::vector<device::Step>& steps) {
  json list = json::array();
  for (const device::Step& step : steps) {
    list.push_back(step_to_json(step));
  }
  return list;
}

std::vector<device::Step> steps_from_json(const json& list) {
  if (!list.is_array()) {
    broken_message("a list of steps expected");
  }
  std::vector<device::Step> steps;
  steps.reserve(list.size());
  for (const json& body : list) {
    steps.push_back(step_from_json(body));
  }
  return steps;
}

json fault_to_json(const device::Fault& fault) {
  json body = {{"kind", static_cast<int>(fault.kind)}, {"text", fault.text}};
  if (fault.address) {
    body["address"] = *fault.address;
  }
  return body;
}

device::Fault fault_from_json(const json& body) {
  constexpr std::size_t kLongest = 4096;
  device::Fault fault;
  const auto kind = field<std::int64_t>(body, "kind");
  if (kind >= 0 && kind <= static_cast<std::int64_t>(device::Fault::Kind::other)) {
    fault.kind = static_cast<device::Fault::Kind>(kind);
  }
  fault.text = field<std::string>(body, "text").substr(0, kLongest);
  if (body.contains("address")) {
    fault.address = field<std::uint64_t>(body, "address");
  }
  return fault;
}

json facts_to_json(const device::FunctionFacts& facts) {
  return {{"registers", facts.registers},
          {"shared", facts.shared_bytes},
          {"local", facts.local_bytes},
          {"max_threads", facts.max_threads},
          {"parameters", facts.parameter_bytes}};
}

device::FunctionFacts facts_from_json(const json& body) {
  device::FunctionFacts facts;
  facts.registers =
      static_cast<int>(std::clamp<std::int64_t>(field<std::int64_t>(body, "registers"), -1, 1024));
  facts.shared_bytes = field<std::uint64_t>(body, "shared");
  facts.local_bytes = field<std::uint64_t>(body, "local");
  facts.max_threads = static_cast<int>(
      std::clamp<std::int64_t>(field<std::int64_t>(body, "max_threads"), 0, 1 << 20));
  for (const std::int64_t bytes : field<std::vector<std::int64_t>>(body, "parameters")) {
    if (bytes < 0 || bytes > (1 << 16)) {
      broken_message("size of a parameter out of range");
    }
    facts.parameter_bytes.push_back(static_cast<std::size_t>(bytes));
  }
  return facts;
}

}  // namespace sweep::evaluate

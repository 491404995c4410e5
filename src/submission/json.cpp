#include "submission/plan.h"
#include "submission/ranks.h"

#include <nlohmann/json.hpp>

namespace sweep::submission {
namespace {

using nlohmann::json;

json map_json(const TensorMap& map, const std::vector<std::string>& buffers) {
  return {{"buffer", buffers.at(map.base.buffer)},
          {"offset_bytes", map.base.offset_bytes},
          {"type", expr::name(map.base.type)},
          {"dims", map.dims},
          {"box", map.box},
          {"stride", map.steps},
          {"swizzle", map.swizzle},
          {"l2", map.l2_bytes},
          {"oob", map.nan_outside ? "nan" : "zero"}};
}

json argument_json(const Argument& argument,
                   const std::vector<std::string>& buffers,
                   const Expansion& expansion) {
  if (const auto* map = std::get_if<MapRef>(&argument)) {
    return {{"tensor_map", map_json(expansion.maps.at(map->map), buffers)}};
  }
  if (const auto* peers = std::get_if<PeersRef>(&argument)) {
    return {{"peers", expansion.peers.at(peers->table).name}};
  }
  if (const auto* ref = std::get_if<BufferRef>(&argument)) {
    return {{"buffer", buffers.at(ref->buffer)}, {"offset_bytes", ref->offset_bytes}};
  }
  if (const auto* integer = std::get_if<std::int64_t>(&argument)) {
    return *integer;
  }
  return {{"real", std::get<double>(argument)}};
}

json step_json(const Step& step,
               const std::vector<std::string>& buffers,
               const Expansion& expansion) {
  if (const auto* zero = std::get_if<Zero>(&step)) {
    return {{"zero", buffers.at(zero->buffer)}, {"bytes", zero->bytes}};
  }
  if (const auto* copy = std::get_if<Copy>(&step)) {
    return {
        {"copy", buffers.at(copy->to)}, {"from", buffers.at(copy->from)}, {"bytes", copy->bytes}};
  }
  const auto& launch = std::get<Launch>(step);
  json arguments = json::array();
  for (const Argument& argument : launch.arguments) {
    arguments.push_back(argument_json(argument, buffers, expansion));
  }
  json out = {{"launch", launch.kernel},
              {"grid", launch.grid},
              {"block", launch.block},
              {"shared_bytes", launch.shared_bytes},
              {"arguments", std::move(arguments)}};
  if (launch.cluster[0] != 0) {
    out["cluster"] = launch.cluster;
  }
  if (launch.cooperative) {
    out["cooperative"] = true;
  }
  if (launch.pdl) {
    out["pdl"] = true;
  }
  return out;
}

}  // namespace

json to_json(const Expansion& expansion, const Signature& signature) {
  std::vector<std::string> buffers;
  for (const Tensor& tensor : widened(signature, expansion.ranks).tensors) {
    buffers.push_back(tensor.name);
  }
  json scratch = json::array();
  for (const ScratchBuffer& buffer : expansion.scratch) {
    buffers.push_back(buffer.name);
    scratch.push_back(
        {{"name", buffer.name}, {"type", expr::name(buffer.type)}, {"bytes", buffer.bytes}});
  }
  json steps = json::array();
  for (const Step& step : expansion.steps) {
    steps.push_back(step_json(step, buffers, expansion));
  }
  json out = {{"schema", 1},
              {"scratch", std::move(scratch)},
              {"steps", std::move(steps)},
              {"skipped_launches", expansion.skipped_launches}};
  if (expansion.ranks > 0) {
    out["ranks"] = expansion.ranks;
  }
  return out;
}

}  // namespace sweep::submission

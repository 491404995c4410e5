// Tensor maps: what the hardware's copies accept, told with the plan's own names and order.
#include "submission/machine.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sweep::submission {
namespace {

using expr::Node;
using expr::NodePtr;

constexpr std::size_t kMaxMaps = 65536;
constexpr std::size_t kMaxRank = 5;
constexpr std::int64_t kMaxBox = 256;
constexpr std::int64_t kMaxStep = 8;
constexpr std::int64_t kAlignment = 16;  // bytes
constexpr std::int64_t kMaxDim = std::int64_t{1} << 32U;
constexpr std::int64_t kMaxStride = std::int64_t{1} << 40U;  // bytes, exclusive

[[noreturn]] void fail_map(const Node& node, std::string what, std::string next = {}) {
  throw RunFault{"E_PLAN_TENSOR_MAP", node.offset, std::move(what), std::move(next)};
}

// "8 x 100"
std::string text_of(const std::vector<std::int64_t>& extents) {
  std::string out;
  for (const std::int64_t extent : extents) {
    out += (out.empty() ? "" : " x ") + std::to_string(extent);
  }
  return out;
}

std::int64_t element_bytes(const TensorMap& map) {
  return static_cast<std::int64_t>(expr::size_of(map.base.type));
}

void check_dims(const TensorMap& map, const std::string& buffer, const Node& node) {
  if (map.base.type == expr::DType::c128) {
    fail_map(node, "a tensor map has no elements of 16 bytes, as '" + buffer + "' (c128) has");
  }
  if (map.dims.empty() || map.dims.size() > kMaxRank) {
    fail_map(node,
             "'" + buffer + "' has " + std::to_string(map.dims.size()) +
                 " dims here; a tensor map has 1 to 5",
             "give it another shape with view(T, [a, b])");
  }
  if (map.base.offset_bytes % kAlignment != 0) {
    fail_map(node,
             "the tensor map begins " + std::to_string(map.base.offset_bytes) + " bytes into '" +
                 buffer + "'; TMA needs a multiple of 16");
  }
  if (*std::max_element(map.dims.begin(), map.dims.end()) > kMaxDim) {
    fail_map(node, "'" + buffer + "' is " + text_of(map.dims) + "; a dim is at most 2^32 here");
  }
}

// A dim's stride is the next one's extent times its stride. Nothing to hold where a dim is 0.
void check_strides(const TensorMap& map, const std::string& buffer, const Node& node) {
  if (std::find(map.dims.begin(), map.dims.end(), 0) != map.dims.end()) {
    return;
  }
  std::int64_t stride = element_bytes(map);
  for (std::size_t i = map.dims.size(); i-- > 1;) {
    stride *= map.dims[i];  // within the buffer, whose bytes fit
    if (stride % kAlignment != 0 || stride >= kMaxStride) {
      fail_map(node,
               "'" + buffer + "' is " + text_of(map.dims) + " here and its rows of " +
                   std::to_string(stride) + " bytes are no multiple of 16 below 2^40, as TMA needs",
               "copy it to padded scratch first, or choose another kernel with if");
    }
  }
}

void check_box(const TensorMap& map, const Node& box) {
  if (map.box.size() != map.dims.size()) {
    fail_map(box,
             "the box has " + std::to_string(map.box.size()) + " extents for " +
                 std::to_string(map.dims.size()) + " dims",
             "one for each dim, in the tensor's own order");
  }
  for (const std::int64_t extent : map.box) {
    if (extent < 1 || extent > kMaxBox) {
      fail_map(box, "the box is " + text_of(map.box) + "; each of its extents is 1 to 256");
    }
  }
  const std::int64_t inner = map.box.back() * element_bytes(map);
  if (inner % kAlignment != 0) {
    fail_map(box,
             "the box's rows of " + std::to_string(map.box.back()) + " elements are " +
                 std::to_string(inner) + " bytes; TMA needs a multiple of 16");
  }
  if (map.swizzle != 0 && inner > map.swizzle) {
    fail_map(box,
             "the box's rows of " + std::to_string(inner) + " bytes are longer than swizzle(" +
                 std::to_string(map.swizzle) + ") allows",
             "let the box have at most " +
                 std::to_string(map.swizzle / static_cast<int>(element_bytes(map))) +
                 " elements in its last extent");
  }
}

void check_steps(const TensorMap& map, const Node& node) {
  if (map.steps.size() != map.dims.size()) {
    fail_map(node,
             "stride has " + std::to_string(map.steps.size()) + " numbers for " +
                 std::to_string(map.dims.size()) + " dims",
             "one for each dim, in the tensor's own order");
  }
  for (const std::int64_t step : map.steps) {
    if (step < 1 || step > kMaxStep) {
      fail_map(node, "stride is " + text_of(map.steps) + "; each number is 1 to 8");
    }
  }
  if (map.steps.back() != 1) {
    fail_map(node, "the last number of stride is 1: TMA copies whole rows");
  }
}

int one_of(std::int64_t value, const std::vector<int>& allowed, const Node& node) {
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
    std::string list;
    for (const int each : allowed) {
      list += (list.empty() ? "" : ", ") + std::to_string(each);
    }
    fail_map(node, node.text + "(" + std::to_string(value) + ") is none of " + list);
  }
  return static_cast<int>(value);
}

}  // namespace

void Machine::run(const MapStatement& statement) {
  const auto numbers = [this](const NodePtr& call) {
    std::vector<std::int64_t> out;
    for (const NodePtr& node : call->operands) {
      out.push_back(evaluator_.integer(*node));
    }
    return out;
  };
  const BufferValue tensor = evaluator_.buffer(*statement.tensor);
  const BufferFacts& facts = buffers_[tensor.buffer];
  TensorMap map;
  map.base = std::get<BufferRef>(argument(tensor));
  map.name = statement.name.name;
  map.dims = tensor.shape != nullptr ? *tensor.shape : facts.shape;
  map.box = numbers(statement.box);
  map.steps =
      statement.steps ? numbers(statement.steps) : std::vector<std::int64_t>(map.dims.size(), 1);
  if (statement.swizzle) {
    map.swizzle = one_of(numbers(statement.swizzle)[0], {0, 32, 64, 128}, *statement.swizzle);
  }
  if (statement.l2) {
    map.l2_bytes = one_of(numbers(statement.l2)[0], {0, 64, 128, 256}, *statement.l2);
  }
  map.nan_outside = statement.nan_outside;
  check_dims(map, facts.name, *statement.tensor);
  if (product(map.dims) > facts.elements - tensor.elements) {
    fail_map(*statement.tensor,
             "the tensor map leaves '" + facts.name + "': it is " + text_of(map.dims) +
                 " elements from the offset on",
             "say which part is meant with view(offset(T, n), [a, b])");
  }
  check_strides(map, facts.name, *statement.tensor);
  check_box(map, *statement.box);
  check_steps(map, statement.steps ? *statement.steps : *statement.box);
  const bool bytes = expr::size_of(map.base.type) == 1;  // fp8 travels as integers
  if (map.nan_outside && (bytes || !expr::is_float(map.base.type))) {
    fail_map(*statement.tensor,
             "oob(nan) needs f64, f32, f16 or bf16; '" + facts.name + "' is " +
                 std::string(expr::name(map.base.type)));
  }
  if (out_.maps.size() >= kMaxMaps / static_cast<std::size_t>(share_)) {
    throw RunFault{"E_PLAN_LIMIT", statement.name.offset, "more than 65,536 tensor maps", ""};
  }
  scope_.add(map.name, MapValue{out_.maps.size()}, false);
  out_.maps.push_back(std::move(map));
}

}  // namespace sweep::submission

#include "evaluate/tensor_map.h"

#include <algorithm>

namespace sweep::evaluate {
namespace {

using device::TensorMap;
using expr::DType;

// Types without one of their own in TMA travel as unsigned integers of their size.
TensorMap::Type type_of(DType type) {
  switch (type) {
    case DType::f64:
      return TensorMap::Type::f64;
    case DType::f32:
      return TensorMap::Type::f32;
    case DType::f16:
      return TensorMap::Type::f16;
    case DType::bf16:
      return TensorMap::Type::bf16;
    case DType::i64:
      return TensorMap::Type::i64;
    case DType::i32:
      return TensorMap::Type::i32;
    default:
      break;
  }
  switch (expr::size_of(type)) {
    case 1:
      return TensorMap::Type::u8;
    case 2:
      return TensorMap::Type::u16;
    case 4:
      return TensorMap::Type::u32;
    default:
      return TensorMap::Type::u64;
  }
}

}  // namespace

TensorMap device_map(const submission::TensorMap& map, device::Address address) {
  TensorMap out;
  const std::size_t rank = map.dims.size();
  if (std::ranges::find(map.dims, 0) != map.dims.end()) {
    return out;
  }
  out.address = address;
  out.rank = static_cast<std::uint8_t>(rank);
  out.type = type_of(map.base.type);
  out.swizzle = static_cast<std::uint8_t>(map.swizzle);
  out.l2_bytes = static_cast<std::uint16_t>(map.l2_bytes);
  out.nan_outside = map.nan_outside ? 1 : 0;
  std::uint64_t stride = expr::size_of(map.base.type);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t own = rank - 1 - i;
    out.dims.at(i) = static_cast<std::uint64_t>(map.dims[own]);
    out.box.at(i) = static_cast<std::uint16_t>(map.box[own]);
    out.steps.at(i) = static_cast<std::uint8_t>(map.steps[own]);
    stride *= out.dims.at(i);
    if (i + 1 < rank) {
      out.strides.at(i) = stride;
    }
  }
  return out;
}

}  // namespace sweep::evaluate

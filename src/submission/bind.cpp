#include "submission/plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace sweep::submission {
namespace {

using Bytes = std::vector<std::byte>;
using Kind = Parameter::Kind;

struct BindFault {
  std::string code;
  std::string what;
  std::string next;
};

template <typename T>
Bytes bytes_of(T value) {
  Bytes out(sizeof value);
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

// C++ types that may view a buffer of each element type, beside its own name, `void`, and any type
// for u8 buffers (raw storage): vectors of it, its bits, other spellings.
std::vector<std::string_view> views(expr::DType type) {
  using expr::DType;
  switch (type) {
    case DType::f64:
      return {"double2", "double4"};
    case DType::f32:
      return {"float2", "float4", "float3"};
    case DType::f16:
      return {"__half2", "unsigned short"};
    case DType::bf16:
      return {"__nv_bfloat162", "unsigned short"};
    case DType::e4m3:
      return {"__nv_fp8x2_e4m3", "__nv_fp8x4_e4m3", "unsigned char"};
    case DType::e5m2:
      return {"__nv_fp8x2_e5m2", "__nv_fp8x4_e5m2", "unsigned char"};
    case DType::i64:
      return {"long", "longlong2", "long2"};
    case DType::u64:
      return {"unsigned long", "ulonglong2", "ulong2"};
    case DType::i32:
      return {"int2", "int4"};
    case DType::u32:
      return {"uint2", "uint4"};
    case DType::i16:
      return {"short2", "short4"};
    case DType::u16:
      return {"ushort2", "ushort4"};
    case DType::i8:
      return {"char", "char2", "char4"};
    case DType::u8:
    case DType::boolean:
      return {"unsigned char", "uchar4"};
    case DType::c64:
      return {"float", "float4"};
    case DType::c128:
      return {"double"};
  }
  return {};
}

bool may_view(const std::string& pointee, expr::DType type) {
  if (pointee == "void" || pointee == expr::cpp_name(type) || type == expr::DType::u8) {
    return true;
  }
  const auto allowed = views(type);
  return std::find(allowed.begin(), allowed.end(), pointee) != allowed.end();
}

constexpr std::size_t kMapBytes = 128;

// A struct by value: cuda.h's, one of the kernel's own, or unknown but of the right size.
bool is_map(const Parameter& parameter) {
  return parameter.kind == Kind::opaque &&
         (parameter.bytes == kMapBytes || parameter.text == "CUtensorMap_st" ||
          parameter.text == "CUtensorMap");
}

Bytes bind_buffer(const BufferRef& ref,
                  const Parameter& parameter,
                  const std::string& name,
                  const std::function<std::uint64_t(const BufferRef&)>& address) {
  const std::string own =
      std::string(ref.writable ? "" : "const ") + std::string(expr::cpp_name(ref.type)) + "*";
  if (parameter.kind == Kind::opaque && parameter.bytes == 8) {
    return bytes_of(address(ref));
  }
  if (parameter.kind != Kind::pointer) {
    throw BindFault{
        "E_PLAN_ARGUMENT_TYPE",
        name + " is a buffer (" + own + ") but the kernel declares '" + parameter.text + "'",
        is_map(parameter) ? "make a tensor map of it: tensormap t = tile(T, box(..))"
                          : "check the order of the arguments"};
  }
  if (!may_view(parameter.pointee, ref.type)) {
    throw BindFault{"E_PLAN_ARGUMENT_TYPE",
                    name + " has elements of type " + std::string(expr::name(ref.type)) + " (" +
                        own + ") but the kernel declares '" + parameter.text + "'",
                    "declare " + own};
  }
  if (!ref.writable && !parameter.points_to_const) {
    throw BindFault{"E_PLAN_ARGUMENT_CONST",
                    name + " is a read-only input, the kernel wants '" + parameter.text + "'",
                    "declare '" + own + "', or copy it to scratch first"};
  }
  return bytes_of(address(ref));
}

Bytes integer_bytes(std::int64_t value, const Parameter& parameter, const std::string& name) {
  const auto bits = static_cast<int>(parameter.bytes * 8);
  const bool is_bool = parameter.text == "bool";
  const bool fits_signed = bits == 64 || (value >= -(std::int64_t{1} << (bits - 1)) &&
                                          value < (std::int64_t{1} << (bits - 1)));
  const bool fits_unsigned = value >= 0 && (bits == 64 || value < (std::int64_t{1} << bits));
  const bool either = parameter.kind == Kind::opaque && (fits_signed || fits_unsigned);
  if (is_bool ? (value != 0 && value != 1)
              : !(either || (parameter.is_signed ? fits_signed : fits_unsigned))) {
    throw BindFault{
        "E_PLAN_ARGUMENT_RANGE",
        name + " is " + std::to_string(value) + ", which does not fit '" + parameter.text + "'",
        "widen the kernel's parameter"};
  }
  const Bytes wide = bytes_of(value);  // little endian: the low bytes come first
  return {wide.begin(), wide.begin() + static_cast<std::ptrdiff_t>(parameter.bytes)};
}

Bytes real_bytes(double value, const Parameter& parameter, const std::string& name) {
  if (parameter.bytes == 8) {
    return bytes_of(value);
  }
  const auto narrow = static_cast<float>(value);
  if (std::isfinite(value) && !std::isfinite(narrow)) {
    throw BindFault{
        "E_PLAN_ARGUMENT_RANGE",
        name + " is " + std::to_string(value) + ", which does not fit '" + parameter.text + "'",
        "widen the kernel's parameter"};
  }
  return bytes_of(narrow);
}

Bytes bind_number(const Argument& argument, const Parameter& parameter, const std::string& name) {
  const auto* integer = std::get_if<std::int64_t>(&argument);
  const bool small =
      parameter.bytes == 1 || parameter.bytes == 2 || parameter.bytes == 4 || parameter.bytes == 8;
  if (parameter.kind == Kind::integer ||
      (parameter.kind == Kind::opaque && integer != nullptr && small)) {
    if (integer == nullptr) {
      throw BindFault{"E_PLAN_ARGUMENT_TYPE",
                      name + " is a real number but the kernel declares '" + parameter.text + "'",
                      "declare float or double"};
    }
    return integer_bytes(*integer, parameter, name);
  }
  const bool opaque_real = parameter.kind == Kind::opaque && integer == nullptr &&
                           (parameter.bytes == 4 || parameter.bytes == 8);
  if (parameter.kind == Kind::real || opaque_real) {
    const double value =
        integer != nullptr ? static_cast<double>(*integer) : std::get<double>(argument);
    constexpr std::int64_t kFloatExact = std::int64_t{1} << 24;
    const std::int64_t limit = parameter.bytes == 8 ? std::int64_t{1} << 53 : kFloatExact;
    if (integer != nullptr && (*integer > limit || *integer < -limit)) {
      throw BindFault{"E_PLAN_ARGUMENT_RANGE",
                      name + " is " + std::to_string(*integer) + ", which '" + parameter.text +
                          "' cannot hold exactly",
                      "pass it as an integer"};
    }
    return real_bytes(value, parameter, name);
  }
  throw BindFault{"E_PLAN_ARGUMENT_TYPE",
                  name + " is a number but the kernel declares '" + parameter.text + "'",
                  parameter.kind == Kind::pointer
                      ? "check the order of the arguments"
                      : "parameters are pointers, integers, float or double"};
}

Bytes bind_map(const Parameter& parameter, const std::string& name) {
  if (!is_map(parameter)) {
    throw BindFault{"E_PLAN_ARGUMENT_TYPE",
                    name + " is a tensor map but the kernel declares '" + parameter.text + "'",
                    "declare 'const __grid_constant__ CUtensorMap'"};
  }
  return Bytes(kMapBytes);
}

// "float const*" of "float const* const*", and whether what it points to is const.
std::pair<std::string, bool> element_of(std::string_view pointee) {
  bool is_const = false;
  const auto drop = [&pointee](std::string_view suffix) {
    const bool ends = pointee.ends_with(suffix);
    pointee.remove_suffix(ends ? suffix.size() : 0);
    return ends;
  };
  if (!drop("*")) {
    return {};
  }
  for (bool more = true; more;) {
    const bool found = drop(" const");
    is_const = is_const || found;
    more = found || drop(" volatile") || drop(" __restrict");
  }
  return {std::string(pointee), is_const};
}

Bytes bind_peers(const PeerTable& table,
                 std::uint64_t at,
                 const Parameter& parameter,
                 const std::string& name) {
  if (parameter.kind == Kind::opaque && parameter.bytes == 8) {
    return bytes_of(at);
  }
  const std::string own = std::string(table.writable ? "" : "const ") +
                          std::string(expr::cpp_name(table.type)) + "* const*";
  const auto [element, element_const] = element_of(parameter.pointee);
  if (parameter.kind != Kind::pointer || element.empty() || !may_view(element, table.type)) {
    throw BindFault{"E_PLAN_ARGUMENT_TYPE",
                    name + " is an array of pointers (" + own + ") but the kernel declares '" +
                        parameter.text + "'",
                    "declare '" + own + "'"};
  }
  if (!parameter.points_to_const || (!table.writable && !element_const)) {
    throw BindFault{"E_PLAN_ARGUMENT_CONST",
                    name +
                        (parameter.points_to_const ? " points to tensors of other ranks, which"
                                                   : " is an array that") +
                        " kernels only read; the kernel wants '" + parameter.text + "'",
                    "declare '" + own + "'"};
  }
  return bytes_of(at);
}

std::string argument_name(const Argument& argument,
                          std::size_t index,
                          const Signature& signature,
                          const Expansion& expansion) {
  std::string out = "argument " + std::to_string(index + 1);
  if (const auto* ref = std::get_if<BufferRef>(&argument)) {
    const std::size_t tensors = signature.tensors.size();
    out += " '" +
           (ref->buffer < tensors ? signature.tensors[ref->buffer].name
                                  : expansion.scratch.at(ref->buffer - tensors).name) +
           "'";
  } else if (const auto* map = std::get_if<MapRef>(&argument)) {
    out += " '" + expansion.maps.at(map->map).name + "'";
  } else if (const auto* peers = std::get_if<PeersRef>(&argument)) {
    out += " 'peers(" + expansion.peers.at(peers->table).name + ")'";
  }
  return out;
}

PlanError count_error(const Launch& launch, const std::vector<Parameter>& parameters) {
  const std::size_t given = launch.arguments.size();
  const std::size_t wanted = parameters.size();
  PlanError error{"E_PLAN_ARGUMENT_COUNT",
                  "",
                  launch.line,
                  launch.column,
                  launch.kernel + " takes " + std::to_string(wanted) +
                      (wanted == 1 ? " argument" : " arguments") + ", plan passes " +
                      std::to_string(given),
                  ""};
  std::string types;
  for (const Parameter& parameter : parameters) {
    types += (types.empty() ? "" : ", ") + parameter.text;
  }
  error.next = given + 1 == wanted ? "missing the last, '" + parameters.back().text + "'"
                                   : "the kernel declares (" + types + ")";
  return error;
}

}  // namespace

std::variant<std::vector<std::vector<std::byte>>, PlanError> bind_arguments(
    const Launch& launch,
    const std::vector<Parameter>& parameters,
    const Signature& signature,
    const Expansion& expansion,
    const std::function<std::uint64_t(const BufferRef&)>& address) {
  if (launch.arguments.size() != parameters.size()) {
    return count_error(launch, parameters);
  }
  std::vector<Bytes> out;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Argument& argument = launch.arguments[i];
    const std::string name = argument_name(argument, i, signature, expansion);
    try {
      if (const auto* ref = std::get_if<BufferRef>(&argument)) {
        out.push_back(bind_buffer(*ref, parameters[i], name, address));
      } else if (std::holds_alternative<MapRef>(argument)) {
        out.push_back(bind_map(parameters[i], name));
      } else if (const auto* peers = std::get_if<PeersRef>(&argument)) {
        const std::size_t buffer =
            signature.tensors.size() + expansion.scratch.size() + peers->table;
        const PeerTable& table = expansion.peers.at(peers->table);
        const BufferRef at{buffer, 0, false, expr::DType::u64};
        out.push_back(bind_peers(table, address(at), parameters[i], name));
      } else {
        out.push_back(bind_number(argument, parameters[i], name));
      }
    } catch (const BindFault& fault) {
      const auto& places = launch.site < expansion.sites.size()
                               ? expansion.sites[launch.site].arguments
                               : std::vector<std::pair<int, int>>{};
      const auto [line, column] =
          i < places.size() ? places[i] : std::pair{launch.line, launch.column};
      return PlanError{
          fault.code, "", line, column, fault.what + " (" + launch.kernel + ")", fault.next};
    }
  }
  return out;
}

}  // namespace sweep::submission

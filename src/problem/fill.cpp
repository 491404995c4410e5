#include "problem/fill.h"

#include "problem/device/fill.cuh"
#include "problem/device/group.cuh"
#include "problem/evaluate_rules.h"
#include "problem/groups.h"
#include "problem/resolve.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

namespace sweep::problem {
namespace {

constexpr std::int64_t kGrain = 1 << 15;
constexpr std::int64_t kCopyGrain = 1 << 21;
// One block makes a row; this bounds how long it may be alone with one.
constexpr std::int64_t kLongestDeviceRow = std::int64_t{1} << 24;

// Values of a part of a group; one of them is null.
struct PartValues {
  const Integers* integers = nullptr;
  const Reals* reals = nullptr;
};

// Bytes [begin, begin + out.size()) of values of four bits, the first in the lowest bits.
void pack(const Integers& nibbles, std::int64_t begin, std::span<std::byte> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t at = 2 * (static_cast<std::size_t>(begin) + i);
    out[i] = static_cast<std::byte>(nibbles[at] | nibbles[at + 1] << 4);
  }
}

// Values from `begin` on in the tensor's type, as many as `out` holds.
void encode(const PartValues& values,
            expr::DType dtype,
            std::int64_t begin,
            std::span<std::byte> out,
            int threads) {
  const auto type = static_cast<unsigned>(dtype);
  const int size = component_bytes(type);
  const auto count = static_cast<std::int64_t>(out.size()) / size;
  if (values.integers != nullptr && (type == kTypeI32 || type == kTypeU32)) {
    in_parallel(count, kCopyGrain, threads, [&](std::int64_t from, std::int64_t to) {
      std::memcpy(out.data() + from * size,
                  values.integers->data() + begin + from,
                  static_cast<std::size_t>((to - from) * size));
    });
    return;
  }
  in_parallel(count, kGrain, threads, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      const auto at = static_cast<std::size_t>(begin + i);
      const double value = values.reals != nullptr ? (*values.reals)[at]
                                                   : static_cast<double>((*values.integers)[at]);
      store_bits(out.data(),
                 i,
                 size,
                 is_integer_type(type) ? static_cast<U64>(to_integer(value, type))
                                       : encode_real(value, type));
    }
  });
}

}  // namespace

struct FillPlan::Impl {
  Problem problem;
  Draw draw;
  Resolver resolver;
  std::vector<FilledTensor> tensors;
  std::vector<const Located*> fills;  // beside `tensors`

  mutable std::mutex guard;
  mutable std::map<std::string, GroupData, std::less<>> groups;
  mutable std::map<std::size_t, std::shared_ptr<const std::vector<std::byte>>> wholes;

  Impl(Problem p, Draw d) : problem(std::move(p)), draw(std::move(d)), resolver(problem, draw) {
    for (const Tensor& tensor : problem.tensors) {
      if (tensor.role == Role::input || tensor.role == Role::inout) {
        add(tensor);
      }
    }
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() = default;

  [[nodiscard]] const FilledTensor* find(std::string_view name) const {
    const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const FilledTensor& t) {
      return t.tensor.name == name;
    });
    return found == tensors.end() ? nullptr : &*found;
  }

  void add(const Tensor& tensor) {
    FilledTensor made;
    made.tensor = concrete(problem, tensor, draw);
    const Located& fill = resolver.fill_of(tensor);
    const expr::Node& root = fill.expr.root();
    if (root.text == "made") {
      made.way = FillWay::made;
    } else if (root.text == "copy") {
      copy(fill, made);
    } else if (root.kind == expr::Node::Kind::name) {
      made.way = FillWay::group;
    } else {
      made.way = resolver.element(fill, root, made.tensor, made.parameters) ? FillWay::element
                                                                            : FillWay::host;
    }
    tensors.push_back(std::move(made));
    fills.push_back(&fill);
  }

  void copy(const Located& fill, FilledTensor& made) const {
    const expr::Node& root = fill.expr.root();
    const FilledTensor* source = root.operands.size() == 1 ? find(root.operands[0]->text) : nullptr;
    if (source == nullptr || source->tensor.type != made.tensor.type ||
        source->tensor.count != made.tensor.count) {
      fail_at(fill.where, "E_FILL", "copy takes an input above of the same type and size");
    }
    made.way = source->way;
    made.parameters = source->parameters;
  }

  // The group's data, made on first use; `guard` is held.
  GroupData& group(std::string_view name) const {
    if (const auto found = groups.find(name); found != groups.end()) {
      return found->second;
    }
    const auto declared = std::find_if(problem.groups.begin(),
                                       problem.groups.end(),
                                       [&](const Group& g) { return g.name == name; });
    const expr::Node& call = declared->rule.expr.root();
    GroupArguments values;
    for (const auto& [argument, nodes] : bind(call, group_signatures())) {
      values[argument] = real_of(declared->rule, *nodes.front(), resolver.env);
    }
    GroupData data = make_group(call.text,
                                values,
                                table_width(declared->name),
                                draw.key.derive("group\n" + declared->name),
                                declared->rule.where);
    return groups.emplace(declared->name, std::move(data)).first->second;
  }

  [[nodiscard]] std::int64_t table_width(const std::string& name) const {
    std::int64_t width = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (fills[i]->expr.root().text == name + ".table" && tensors[i].tensor.shape.size() == 2) {
        width = tensors[i].tensor.shape[1];
      }
    }
    return width;
  }

  // The tensor whose fill tensor `index` has: itself, or what it copies.
  [[nodiscard]] std::size_t origin(std::size_t index) const {
    const expr::Node& root = fills[index]->expr.root();
    return root.text == "copy"
               ? origin(static_cast<std::size_t>(find(root.operands[0]->text) - tensors.data()))
               : index;
  }

  // Group and name of the part that tensor `index` is; `guard` is held. Checks the size.
  [[nodiscard]] std::pair<GroupData&, std::string_view> part(std::size_t index) const {
    const Located& fill = *fills[origin(index)];
    const ConcreteTensor& tensor = tensors[index].tensor;
    const std::string_view text = fill.expr.root().text;
    const std::string_view name = text.substr(text.find('.') + 1);
    GroupData& data = group(text.substr(0, text.find('.')));
    const std::size_t have = data.size(name);
    const bool meta = name == "meta";
    if (meta ? static_cast<std::size_t>(tensor.bytes) * 2 != have
             : static_cast<std::size_t>(tensor.count) != have) {
      fail_at(fill.where,
              "E_GROUP",
              "'" + std::string(text) + "' has " + std::to_string(meta ? have / 2 : have) +
                  (meta ? " bytes" : " elements") + ", '" + tensor.name + "' " +
                  std::to_string(meta ? tensor.bytes : tensor.count));
    }
    return {data, name};
  }

  // Elements from `begin` on of a part of a group.
  void fill_part(std::size_t index,
                 std::int64_t begin,
                 std::span<std::byte> out,
                 int threads) const {
    PartValues values;
    bool meta = false;
    {
      const std::lock_guard lock(guard);
      const auto [data, name] = part(index);
      meta = name == "meta";
      if (data.is_real(name)) {
        values.reals = &data.reals(name);
      } else {
        values.integers = &data.integers(name);
      }
    }
    const expr::DType type = tensors[index].tensor.type;
    if (meta) {
      pack(*values.integers, begin * static_cast<std::int64_t>(expr::size_of(type)), out);
    } else {
      encode(values, type, begin, out, threads);
    }
  }

  [[nodiscard]] std::optional<GroupFill> on_device(std::size_t index) const {
    const ConcreteTensor& tensor = tensors.at(index).tensor;
    const bool words = tensor.type == expr::DType::i32 || tensor.type == expr::DType::u32;
    if (tensors[index].way != FillWay::group || !words) {
      return std::nullopt;
    }
    const std::lock_guard lock(guard);
    const auto [data, name] = part(index);
    const std::optional<GroupParameters> parameters = data.on_device(name);
    if (!parameters) {
      return std::nullopt;
    }
    GroupFill out;
    out.parameters = *parameters;
    if (parameters->kind == kGroupOwner || parameters->kind == kGroupColumns) {
      out.offsets = data.integers("offsets");
    }
    if (parameters->kind != kGroupColumns) {
      out.launches.push_back({"sweep_group_elements", (parameters->count + 255) / 256, 256, 8});
      return out;
    }
    std::int64_t longest = 0;
    for (std::size_t row = 0; row + 1 < out.offsets.size(); ++row) {
      longest = std::max<std::int64_t>(longest, out.offsets[row + 1] - out.offsets[row]);
    }
    if (longest > kLongestDeviceRow) {
      return std::nullopt;
    }
    out.launches.push_back({"sweep_group_short_rows", (parameters->rows + 3) / 4, 128, 16});
    if (longest > kWarpRow) {
      out.launches.push_back({"sweep_group_long_rows", parameters->rows, 1024, 2});
    }
    return out;
  }

  // 1 (or true) where the index along the last axis is below the row's length.
  [[nodiscard]] std::vector<std::byte> prefix(const Located& fill,
                                              const ConcreteTensor& tensor) const {
    const expr::Node& root = fill.expr.root();
    const FilledTensor* lengths =
        root.operands.size() == 1 ? find(root.operands[0]->text) : nullptr;
    const std::int64_t width = tensor.stacked.empty() ? 1 : tensor.stacked.back();
    if (lengths == nullptr || !expr::is_integer(lengths->tensor.type) ||
        lengths->tensor.count * width != tensor.count) {
      fail_at(
          fill.where, "E_FILL", "prefix takes an integer input above with one length for each row");
    }
    std::vector<std::byte> limits(static_cast<std::size_t>(lengths->tensor.bytes));
    fill_slice(
        static_cast<std::size_t>(lengths - tensors.data()), 0, lengths->tensor.count, limits, 0);
    std::vector<std::byte> out(static_cast<std::size_t>(tensor.bytes));
    const auto type = static_cast<unsigned>(tensor.type);
    for (std::int64_t i = 0; i < tensor.count; ++i) {
      const I64 limit =
          load_integer(limits.data(), i / width, static_cast<unsigned>(lengths->tensor.type));
      const double value = i % width < limit ? 1 : 0;
      store_bits(out.data(),
                 i,
                 component_bytes(type),
                 is_integer_type(type) ? static_cast<U64>(value) : encode_real(value, type));
    }
    return out;
  }

  [[nodiscard]] std::shared_ptr<const std::vector<std::byte>> whole(std::size_t index) const {
    {
      const std::lock_guard lock(guard);
      if (const auto found = wholes.find(index); found != wholes.end()) {
        return found->second;
      }
    }
    const Located& fill = *fills[index];
    const expr::Node& root = fill.expr.root();
    const ConcreteTensor& tensor = tensors[index].tensor;
    std::shared_ptr<const std::vector<std::byte>> made;
    if (root.text == "copy") {
      made = whole(static_cast<std::size_t>(find(root.operands[0]->text) - tensors.data()));
    } else if (root.text == "prefix") {
      made = std::make_shared<std::vector<std::byte>>(prefix(fill, tensor));
    } else {
      made = std::make_shared<std::vector<std::byte>>(make_whole(resolver, fill, tensor));
    }
    const std::lock_guard lock(guard);
    return wholes.emplace(index, std::move(made)).first->second;
  }

  void fill_slice(std::size_t index,
                  std::int64_t begin,
                  std::int64_t count,
                  std::span<std::byte> out,
                  int threads) const {
    const FilledTensor& filled = tensors.at(index);
    const auto size = static_cast<std::int64_t>(expr::size_of(filled.tensor.type));
    if (begin < 0 || count < 0 || begin + count > filled.tensor.count ||
        static_cast<std::int64_t>(out.size()) != count * size) {
      fail_at(
          {},
          "E_FILL_SLICE",
          "slice of '" + filled.tensor.name + "' is outside the tensor or does not fit the buffer");
    }
    if (filled.way == FillWay::made) {
      fail_at({}, "E_FILL_MADE", "'" + filled.tensor.name + "' is written by inputs.cu");
    }
    if (filled.way == FillWay::group) {
      fill_part(index, begin, out, threads);
      return;
    }
    if (filled.way == FillWay::host) {
      const auto data = whole(index);
      std::copy_n(data->begin() + begin * size, count * size, out.begin());
      return;
    }
    const std::int64_t parts = expr::is_complex(filled.tensor.type) ? 2 : 1;
    in_parallel(count * parts, kGrain, threads, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) {
        fill_component(filled.parameters, begin * parts + i, out.data(), i);
      }
    });
  }
};

FillPlan::FillPlan(const Problem& problem, const Draw& draw)
    : impl_(std::make_unique<Impl>(problem, draw)) {}

FillPlan::~FillPlan() = default;
FillPlan::FillPlan(FillPlan&&) noexcept = default;
FillPlan& FillPlan::operator=(FillPlan&&) noexcept = default;

const std::vector<FilledTensor>& FillPlan::tensors() const {
  return impl_->tensors;
}

const FilledTensor* FillPlan::find(std::string_view name) const {
  return impl_->find(name);
}

void FillPlan::fill(std::size_t index,
                    std::int64_t begin,
                    std::int64_t count,
                    std::span<std::byte> out,
                    int threads) const {
  impl_->fill_slice(index, begin, count, out, threads);
}

void FillPlan::make() const {
  for (std::size_t i = 0; i < tensors().size(); ++i) {
    const FillWay way = tensors()[i].way;
    if (way == FillWay::host || (way == FillWay::group && !on_device(i))) {
      fill(i, 0, 0, {});
    }
  }
}

std::optional<GroupFill> FillPlan::on_device(std::size_t index) const {
  return impl_->on_device(index);
}

expr::RealEnv FillPlan::statistics() const {
  expr::RealEnv out;
  const std::lock_guard lock(impl_->guard);
  for (const Group& group : impl_->problem.groups) {
    for (const auto& [name, value] : impl_->group(group.name).statistics()) {
      out[group.name + "." + name] = value;
    }
  }
  return out;
}

std::uint64_t FillPlan::made_seed() const {
  return impl_->draw.key.derive("made").word(0);
}

std::size_t FillPlan::host_bytes() const {
  const std::lock_guard lock(impl_->guard);
  std::size_t sum = 0;
  for (const auto& [name, data] : impl_->groups) {
    sum += data.bytes();
  }
  for (const auto& [index, data] : impl_->wholes) {
    sum += data->size();
  }
  return sum;
}

}  // namespace sweep::problem

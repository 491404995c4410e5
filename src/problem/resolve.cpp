#include "problem/resolve.h"

#include "problem/device/convert.cuh"
#include "problem/evaluate_rules.h"

#include <algorithm>
#include <cmath>

namespace sweep::problem {
namespace {

// Argument names of the fills that take two plain numbers into `a` and `b`.
struct Plain {
  std::string_view fill;
  FillKind kind;
  std::string_view a;
  double a_default;
  std::string_view b;
  double b_default;
};

constexpr std::array<Plain, 6> kPlain{{{"constant", kFillConstant, "v", 0, "", 0},
                                       {"normal", kFillNormal, "mean", 0, "std", 1},
                                       {"uniform", kFillUniform, "lo", 0, "hi", 1},
                                       {"lognormal", kFillLognormal, "mu", 0, "sigma", 1},
                                       {"spikes", kFillSpikes, "rate", 0, "scale", 1},
                                       {"bits", kFillBits, "p", 0.5, "", 0}}};

// Reads one element-wise fill after the other; `done` is false if the call is none of them.
class ElementReader {
 public:
  ElementReader(const Resolver& resolver,
                const Located& rule,
                const expr::Node& call,
                const ConcreteTensor& tensor,
                FillParameters& out)
      : resolver_(resolver),
        rule_(rule),
        call_(call),
        tensor_(tensor),
        arguments_(resolver.bound(rule, call)),
        out_(out) {}

  bool read() { return plain() || numbers() || places() || structures(); }

 private:
  [[nodiscard]] double real(std::string_view name) const {
    return resolver_.real(rule_, arguments_, name);
  }

  [[nodiscard]] double real(std::string_view name, double otherwise) const {
    return resolver_.real(rule_, arguments_, name, otherwise);
  }

  [[noreturn]] void fail(const std::string& what) const {
    fail_at(rule_.where, "E_FILL", call_.text + ": " + what);
  }

  void expect(bool right, const char* what) const {
    if (!right) {
      fail(what);
    }
  }

  void along(std::size_t axis) const {
    const Axis found = axis_of(tensor_, axis);
    out_.axis_length = std::max<std::int64_t>(1, found.length);
    out_.axis_stride = found.stride;
  }

  bool plain() {
    const auto* const found = std::find_if(
        kPlain.begin(), kPlain.end(), [&](const Plain& p) { return p.fill == call_.text; });
    if (found == kPlain.end()) {
      return false;
    }
    out_.kind = found->kind;
    out_.a = real(found->a, found->a_default);
    out_.b = found->b.empty() ? 0 : real(found->b, found->b_default);
    expect(out_.kind != kFillUniform || out_.a <= out_.b, "needs lo <= hi");
    expect((out_.kind != kFillBits && out_.kind != kFillSpikes) || (out_.a >= 0 && out_.a <= 1),
           "a probability is from 0 to 1");
    expect(out_.kind != kFillBits || expr::is_integer(tensor_.type), "needs an integer type");
    return true;
  }

  bool numbers() {
    if (call_.text == "weight") {
      out_.kind = kFillNormal;
      const double last = tensor_.shape.empty() ? 1 : static_cast<double>(tensor_.shape.back());
      out_.b = real("gain", 1) / std::sqrt(std::max(1.0, real("fan", last)));
    } else if (call_.text == "student") {
      out_.kind = kFillStudent;
      out_.a = real("df");
      expect(out_.a > 0, "needs df > 0");
      const double std = real("std", 1);
      out_.b = out_.a > 2 ? std * std::sqrt((out_.a - 2) / out_.a) : std;
    } else if (call_.text == "integer") {
      out_.kind = kFillInteger;
      out_.low = whole("lo");
      out_.high = whole("hi");
      expect(out_.low <= out_.high, "needs lo <= hi");
      expect(!expr::is_integer(tensor_.type) || (out_.low >= lowest() && out_.high <= highest()),
             "bounds outside the type");
    } else if (call_.text == "lattice") {
      lattice();
    } else if (call_.text == "choice") {
      choice();
    } else {
      return false;
    }
    return true;
  }

  [[nodiscard]] std::int64_t whole(std::string_view name) const {
    const double value = real(name);
    expect(std::fabs(value) <= 9.2e18 && value == std::floor(value), "needs integers");
    return static_cast<std::int64_t>(value);
  }

  [[nodiscard]] std::int64_t lowest() const {
    return expr::size_of(tensor_.type) == 8 || tensor_.type == expr::DType::boolean ||
                   expr::name(tensor_.type).front() == 'u'
               ? (tensor_.type == expr::DType::i64 ? INT64_MIN : 0)
               : -(std::int64_t{1} << (8 * expr::size_of(tensor_.type) - 1));
  }

  [[nodiscard]] std::int64_t highest() const {
    if (tensor_.type == expr::DType::boolean) {
      return 1;
    }
    if (expr::size_of(tensor_.type) == 8) {
      return INT64_MAX;
    }
    const auto bits =
        8 * expr::size_of(tensor_.type) - (expr::name(tensor_.type).front() == 'u' ? 0U : 1U);
    return (std::int64_t{1} << bits) - 1;
  }

  void lattice() const {
    const double bits = real("bits");
    expect(bits >= 0 && bits <= 52 && bits == std::floor(bits), "bits is an integer from 0 to 52");
    const double step = std::ldexp(1.0, -static_cast<int>(bits));
    out_.kind = kFillLattice;
    out_.a = step;
    const double low = std::ceil(real("lo") / step), high = std::floor(real("hi") / step);
    expect(low <= high && std::fabs(low) < 9e15 && std::fabs(high) < 9e15, "needs lo <= hi");
    out_.low = static_cast<std::int64_t>(low);
    out_.high = static_cast<std::int64_t>(high);
  }

  void choice() const {
    const auto& nodes = arguments_.at("values");
    expect(nodes.size() <= std::size(out_.values), "takes at most 20 values");
    out_.kind = kFillChoice;
    for (const expr::Node* node : nodes) {
      out_.values[out_.choices++] = real_of(rule_, *node, resolver_.env);
    }
  }

  bool places() {
    const bool mask = call_.text == "mask", onehot = call_.text == "onehot";
    const bool permutation = call_.text == "permutation", distinct = call_.text == "distinct";
    if (!mask && !onehot && !permutation && !distinct) {
      return false;
    }
    along(resolver_.axis(rule_, arguments_, tensor_));
    out_.kind = mask ? kFillMask
                     : (onehot ? kFillOnehot : (permutation ? kFillPermutation : kFillDistinct));
    if (mask) {
      out_.a = real("keep");
      out_.low = static_cast<std::int64_t>(real("at_least", 0));
      expect(out_.a >= 0 && out_.a <= 1, "keep is a probability");
      expect(out_.low >= 0, "at_least is not negative");
    }
    out_.high = distinct ? whole("range") : out_.axis_length;
    expect(!distinct || out_.high >= out_.axis_length, "range is shorter than the axis");
    return true;
  }

  bool structures() {
    const auto& shape = tensor_.stacked;
    if (call_.text == "lower") {
      expect(shape.size() >= 2 && shape[shape.size() - 1] == shape[shape.size() - 2],
             "needs square matrices in the last two axes");
      out_.kind = kFillLower;
      const double condition = real("condition");
      expect(condition >= 1, "condition is at least 1");
      out_.a = random::log_of(condition);
      out_.axis_length = std::max<std::int64_t>(1, shape.back());
    } else if (call_.text == "field") {
      field();
    } else if (call_.text == "jittered_lattice") {
      particles();
    } else {
      return false;
    }
    return true;
  }

  // Octaves down to the grid's own spacing; amplitudes fall by 2^-slope and give unit variance in
  // all.
  void field() const {
    const auto& shape = tensor_.shape;
    out_.kind = kFillField;
    out_.axes = static_cast<int>(std::min<std::size_t>(3, shape.size()));
    std::int64_t longest = 1;
    for (int axis = 0; axis < out_.axes; ++axis) {
      out_.extents[axis] = std::max<std::int64_t>(
          1, shape[shape.size() - static_cast<std::size_t>(out_.axes - axis)]);
      longest = std::max(longest, std::int64_t{out_.extents[axis]});
    }
    int octaves = 1;
    while (octaves < 12 && (std::int64_t{2} << octaves) <= longest) {
      ++octaves;
    }
    const double slope = real("slope", 1);
    expect(slope >= 0 && slope <= 8, "slope is from 0 to 8");
    out_.low = octaves;
    out_.b = 2.0 / static_cast<double>(longest);
    double power = 0;
    for (int octave = 0; octave < octaves; ++octave) {
      out_.values[octave] = random::exp_of(-slope * octave * 0.6931471805599453);
      power += out_.values[octave] * out_.values[octave];
    }
    // Mean of s^2 + (1-s)^2 for s = 3 t^2 - 2 t^3 is 26/35 an axis.
    for (int axis = 0; axis < out_.axes; ++axis) {
      power *= 26.0 / 35.0;
    }
    const double scale = 1.0 / std::sqrt(power);
    for (int octave = 0; octave < octaves; ++octave) {
      out_.values[octave] *= scale;
    }
  }

  void particles() const {
    out_.kind = kFillParticles;
    expect(!tensor_.shape.empty(), "needs components in the last axis");
    out_.axis_length = std::max<std::int64_t>(1, tensor_.shape.back());
    out_.axes = static_cast<int>(std::min<std::int64_t>(3, out_.axis_length));
    out_.low = std::max<std::int64_t>(1, whole("count"));
    std::int64_t cells = 1;
    while (std::pow(static_cast<double>(cells), out_.axes) < static_cast<double>(out_.low)) {
      ++cells;
    }
    out_.high = cells;
    out_.a = real("side") / static_cast<double>(cells);
    out_.b = real("jitter");
    expect(out_.a > 0, "side is above 0");
    expect(out_.b >= 0 && out_.b < 0.5, "jitter is from 0 to below 0.5");
  }

  const Resolver& resolver_;
  const Located& rule_;
  const expr::Node& call_;
  const ConcreteTensor& tensor_;
  Arguments arguments_;
  FillParameters& out_;
};

}  // namespace

Resolver::Resolver(const Problem& p, const Draw& d) : problem(p), draw(d), env(real_env(p, d)) {}

const Located& Resolver::fill_of(const Tensor& tensor) const {
  for (const Content& content : problem.contents) {
    if (content.name == draw.content) {
      for (const auto& [name, fill] : content.fills) {
        if (name == tensor.name) {
          return fill;
        }
      }
    }
  }
  return *tensor.fill;
}

Arguments Resolver::bound(const Located& rule, const expr::Node& call) const {
  try {
    return bind(call, fill_signatures());
  } catch (const BindError& fault) {
    Location where = rule.where;
    where.column += static_cast<int>(fault.offset);
    fail_at(where, "E_PROBLEM_FILL", fault.what, fault.next);
  }
}

double Resolver::real(const Located& rule,
                      const Arguments& arguments,
                      std::string_view name,
                      double otherwise) const {
  const auto found = arguments.find(name);
  return found == arguments.end() ? otherwise : real_of(rule, *found->second.front(), env);
}

double Resolver::real(const Located& rule,
                      const Arguments& arguments,
                      std::string_view name) const {
  return real_of(rule, *arguments.find(name)->second.front(), env);
}

std::size_t Resolver::axis(const Located& rule,
                           const Arguments& arguments,
                           const ConcreteTensor& tensor) const {
  const auto axes = static_cast<double>(tensor.shape.size());
  if (axes == 0) {
    return 0;
  }
  const double given = real(rule, arguments, "axis", axes - 1);
  const double axis = given < 0 ? given + axes : given;
  if (!(axis >= 0 && axis < axes) || axis != std::floor(axis)) {
    fail_at(rule.where,
            "E_FILL",
            "axis " + std::to_string(given) + " is no axis of '" + tensor.name + "'");
  }
  return static_cast<std::size_t>(axis) + tensor.stacked.size() - tensor.shape.size();
}

bool Resolver::element(const Located& rule,
                       const expr::Node& call,
                       const ConcreteTensor& tensor,
                       FillParameters& out) const {
  if (call.kind != expr::Node::Kind::call) {
    return false;
  }
  out.type = static_cast<unsigned>(tensor.type);
  seed_parameters(draw, tensor.name, out);
  return ElementReader(*this, rule, call, tensor, out).read();
}

void seed_parameters(const Draw& draw, const std::string& tensor, FillParameters& out) {
  const Key key = draw.key.derive("tensor\n" + tensor);
  out.key = key.word(0);
  out.stream = key.word(1) >> 5;
}

Axis axis_of(const ConcreteTensor& tensor, std::size_t axis) {
  Axis out;
  for (std::size_t k = axis + 1; k < tensor.stacked.size(); ++k) {
    out.stride *= tensor.stacked[k];
  }
  out.length = axis < tensor.stacked.size() ? tensor.stacked[axis] : 1;
  out.stride = std::max<std::int64_t>(1, out.stride);
  return out;
}

}  // namespace sweep::problem

#include "problem/device/fill.cuh"
#include "problem/evaluate_rules.h"
#include "problem/resolve.h"
#include "problem/stream.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

// Fills that need a row, a matrix or the whole tensor: made on the host, the same on every machine.
namespace sweep::problem {
namespace {

class Whole {
 public:
  Whole(const Resolver& resolver, const Located& rule, const ConcreteTensor& tensor)
      : resolver_(resolver),
        rule_(rule),
        call_(rule.expr.root()),
        tensor_(tensor),
        arguments_(resolver.bound(rule, call_)),
        parts_(expr::is_complex(tensor.type) ? 2 : 1),
        out_(static_cast<std::size_t>(tensor.bytes)) {
    seed_parameters(resolver.draw, tensor.name, seed_);
  }

  std::vector<std::byte> make() {
    const std::string& fill = call_.text;
    if (fill == "formula") {
      formula();
    } else if (fill == "sorted") {
      sorted();
    } else if (fill == "probability" || fill == "unit" || fill == "quaternion") {
      rows();
    } else if (fill == "rotation" || fill == "spd" || fill == "dominant") {
      matrices();
    } else {
      fail("is no fill of a whole tensor");
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    fail_at(rule_.where, "E_FILL", call_.text + ": " + what);
  }

  [[nodiscard]] Stream stream(std::int64_t row) const {
    return Stream(seed_.key,
                  (seed_.stream << 5) + 0x100000000ULL + static_cast<std::uint64_t>(row) * 2 + 1);
  }

  void store(std::int64_t component, double value) {
    const auto type = static_cast<unsigned>(tensor_.type);
    store_bits(out_.data(),
               component,
               component_bytes(type),
               is_integer_type(type) ? static_cast<U64>(to_integer(value, type))
                                     : encode_real(value, type));
  }

  void formula() {
    const expr::Node& node = *arguments_.at("expression").front();
    in_parallel(tensor_.count, 4096, 0, [&](std::int64_t begin, std::int64_t end) {
      expr::RealEnv env = resolver_.env;
      for (std::int64_t i = begin; i < end; ++i) {
        std::int64_t rest = i;
        for (std::size_t axis = tensor_.shape.size(); axis-- > 0; rest /= tensor_.shape[axis]) {
          env["i" + std::to_string(axis)] = static_cast<double>(rest % tensor_.shape[axis]);
        }
        const double value = real_of(rule_, node, env);
        store(i * parts_, value);
        if (parts_ == 2) {
          store(i * 2 + 1, 0.0);
        }
      }
    });
  }

  void sorted() {
    FillParameters inner;
    if (parts_ == 2 || !resolver_.element(rule_, *arguments_.at("fill").front(), tensor_, inner)) {
      fail("takes an element-wise fill of real numbers");
    }
    const Axis axis = axis_of(tensor_, resolver_.axis(rule_, arguments_, tensor_));
    const auto bytes = static_cast<std::size_t>(component_bytes(inner.type));
    const std::int64_t rows = axis.length == 0 ? 0 : tensor_.count / axis.length;
    in_parallel(rows, 16, 0, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::byte> row(static_cast<std::size_t>(axis.length) * bytes);
      std::vector<std::int64_t> order(static_cast<std::size_t>(axis.length));
      for (std::int64_t r = begin; r < end; ++r) {
        const std::int64_t start = r / axis.stride * axis.stride * axis.length + r % axis.stride;
        for (std::int64_t k = 0; k < axis.length; ++k) {
          fill_component(inner, start + k * axis.stride, row.data(), k);
        }
        sort_row(row.data(), inner.type, order);
        for (std::int64_t k = 0; k < axis.length; ++k) {
          std::memcpy(
              out_.data() + static_cast<std::size_t>(start + k * axis.stride) * bytes,
              row.data() + static_cast<std::size_t>(order[static_cast<std::size_t>(k)]) * bytes,
              bytes);
        }
      }
    });
  }

  static void sort_row(const void* row, unsigned type, std::vector<std::int64_t>& order) {
    std::iota(order.begin(), order.end(), 0);
    const auto less = [&](std::int64_t a, std::int64_t b) {
      if (!is_integer_type(type)) {
        return load_real(row, a, type) < load_real(row, b, type);
      }
      const I64 x = load_integer(row, a, type), y = load_integer(row, b, type);
      return type == kTypeU64 ? static_cast<U64>(x) < static_cast<U64>(y) : x < y;
    };
    std::stable_sort(order.begin(), order.end(), less);
  }

  // Gamma(shape) by Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
  static double gamma(double shape, Stream& stream) {
    if (shape < 1) {
      const double boost = random::exp_of(random::log_of(random::open_unit(stream.word())) / shape);
      return gamma(shape + 1, stream) * boost;
    }
    const double d = shape - 1.0 / 3.0, c = 1.0 / std::sqrt(9 * d);
    while (true) {
      const double x = stream.normal(), t = 1 + c * x;
      const double v = t * t * t;
      const double u = random::open_unit(stream.word());
      if (v > 0 && random::log_of(u) < 0.5 * x * x + d - d * v + d * random::log_of(v)) {
        return d * v;
      }
    }
  }

  // Fills the row; the sum of its values.
  static double gammas(double concentration, Stream& values, std::vector<double>& row) {
    double sum = 0;
    for (double& value : row) {
      value = gamma(concentration, values);
      sum += value;
    }
    return sum;
  }

  // Fills the row; its Euclidean norm.
  static double normals(Stream& values, std::vector<double>& row) {
    double sum = 0;
    for (double& value : row) {
      value = values.normal();
      sum += value * value;
    }
    return std::sqrt(sum);
  }

  void rows() {
    const bool probability = call_.text == "probability";
    const double concentration =
        probability ? resolver_.real(rule_, arguments_, "concentration", 1) : 0;
    if (parts_ == 2 || (probability && !(concentration > 0))) {
      fail(parts_ == 2 ? "makes real numbers" : "concentration is above 0");
    }
    const std::size_t last = tensor_.stacked.empty() ? 0 : tensor_.stacked.size() - 1;
    const Axis axis = axis_of(
        tensor_, call_.text == "quaternion" ? last : resolver_.axis(rule_, arguments_, tensor_));
    if (call_.text == "quaternion" && axis.length != 4) {
      fail("needs a last axis of 4");
    }
    const std::int64_t rows = axis.length == 0 ? 0 : tensor_.count / axis.length;
    in_parallel(rows, 64, 0, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> row(static_cast<std::size_t>(axis.length));
      for (std::int64_t r = begin; r < end; ++r) {
        Stream values = stream(r);
        const double norm = probability ? gammas(concentration, values, row) : normals(values, row);
        const std::int64_t start = r / axis.stride * axis.stride * axis.length + r % axis.stride;
        for (std::int64_t k = 0; k < axis.length; ++k) {
          store(start + k * axis.stride, norm > 0 ? row[static_cast<std::size_t>(k)] / norm : 0.0);
        }
      }
    });
  }

  void matrices() {
    const auto& shape = tensor_.stacked;
    if (parts_ == 2 || shape.size() < 2 || shape[shape.size() - 1] != shape[shape.size() - 2]) {
      fail("needs real square matrices in the last two axes");
    }
    const std::int64_t n = shape.back();
    const std::int64_t count = n == 0 ? 0 : tensor_.count / (n * n);
    in_parallel(count, 1, 0, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> a(static_cast<std::size_t>(n * n));
      for (std::int64_t m = begin; m < end; ++m) {
        Stream values = stream(m);
        if (call_.text == "rotation") {
          rotation(a, n, values);
        } else if (call_.text == "spd") {
          positive(a, n, values);
        } else {
          dominant(a, n, values);
        }
        for (std::int64_t i = 0; i < n * n; ++i) {
          store(m * n * n + i, a[static_cast<std::size_t>(i)]);
        }
      }
    });
  }

  // Rows of normals made orthonormal (twice, for accuracy); the last is negated where the
  // determinant would be -1.
  static void rotation(std::vector<double>& a, std::int64_t n, Stream& values) {
    const auto at = [&](std::int64_t i, std::int64_t j) -> double& {
      return a[static_cast<std::size_t>(i * n + j)];
    };
    for (double& x : a) {
      x = values.normal();
    }
    for (std::int64_t i = 0; i < n; ++i) {
      for (int pass = 0; pass < 2; ++pass) {
        for (std::int64_t k = 0; k < i; ++k) {
          double dot = 0;
          for (std::int64_t j = 0; j < n; ++j) {
            dot += at(i, j) * at(k, j);
          }
          for (std::int64_t j = 0; j < n; ++j) {
            at(i, j) -= dot * at(k, j);
          }
        }
      }
      double norm = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        norm += at(i, j) * at(i, j);
      }
      for (std::int64_t j = 0; j < n; ++j) {
        at(i, j) /= std::sqrt(norm);
      }
    }
    if (determinant_sign(a, n) < 0) {
      for (std::int64_t j = 0; j < n; ++j) {
        at(n - 1, j) = -at(n - 1, j);
      }
    }
  }

  static double determinant_sign(std::vector<double> a, std::int64_t n) {
    double sign = 1;
    const auto at = [&](std::int64_t i, std::int64_t j) -> double& {
      return a[static_cast<std::size_t>(i * n + j)];
    };
    for (std::int64_t k = 0; k < n; ++k) {
      std::int64_t best = k;
      for (std::int64_t i = k + 1; i < n; ++i) {
        best = std::fabs(at(i, k)) > std::fabs(at(best, k)) ? i : best;
      }
      for (std::int64_t j = 0; best != k && j < n; ++j) {
        std::swap(at(k, j), at(best, j));
      }
      sign = (best != k ? -sign : sign) * (at(k, k) < 0 ? -1 : 1);
      for (std::int64_t i = k + 1; i < n; ++i) {
        const double factor = at(i, k) / at(k, k);
        for (std::int64_t j = k; j < n; ++j) {
          at(i, j) -= factor * at(k, j);
        }
      }
    }
    return sign;
  }

  // Eigenvalues from 1 to `condition`, geometric, in random order, turned by six reflections I - 2
  // v v^T. The upper triangle is mirrored, so the matrix is symmetric to the last bit.
  void positive(std::vector<double>& a, std::int64_t n, Stream& values) const {
    const double condition = resolver_.real(rule_, arguments_, "condition");
    if (!(condition >= 1)) {
      fail("condition is at least 1");
    }
    const auto at = [&](std::int64_t i, std::int64_t j) -> double& {
      return a[static_cast<std::size_t>(i * n + j)];
    };
    std::fill(a.begin(), a.end(), 0.0);
    const std::uint64_t order = values.word();
    const double slope = n > 1 ? random::log_of(condition) / static_cast<double>(n - 1) : 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto place =
          random::permuted(order, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(n));
      at(i, i) = random::exp_of(slope * static_cast<double>(place));
    }
    std::vector<double> v(static_cast<std::size_t>(n)), w(static_cast<std::size_t>(n));
    for (int turn = 0; turn < 6 && n > 1; ++turn) {
      reflect(a, n, v, w, values);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < i; ++j) {
        at(i, j) = at(j, i);
      }
    }
  }

  // A <- H A H with H = I - 2 v v^T: A - v w^T - w v^T, w = 2 A v - 2 (v^T A v) v.
  static void reflect(std::vector<double>& a,
                      std::int64_t n,
                      std::vector<double>& v,
                      std::vector<double>& w,
                      Stream& values) {
    double norm = 0;
    for (double& x : v) {
      x = values.normal();
      norm += x * x;
    }
    for (double& x : v) {
      x /= std::sqrt(norm);
    }
    double quadratic = 0;
    const auto size = static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < size; ++i) {
      double dot = 0;
      for (std::size_t j = 0; j < size; ++j) {
        dot += a[i * size + j] * v[j];
      }
      w[i] = 2 * dot;
      quadratic += v[i] * dot;
    }
    for (std::size_t i = 0; i < size; ++i) {
      w[i] -= 2 * quadratic * v[i];
    }
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        a[i * size + j] -= v[i] * w[j] + w[i] * v[j];
      }
    }
  }

  // Diagonal = (1 + margin) times the sum of the row's other magnitudes.
  void dominant(std::vector<double>& a, std::int64_t n, Stream& values) const {
    const double margin = resolver_.real(rule_, arguments_, "margin");
    if (!(margin > 0)) {
      fail("margin is above 0");
    }
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        double& x = a[static_cast<std::size_t>(i * n + j)];
        x = values.normal();
        sum += i == j ? 0.0 : std::fabs(x);
      }
      a[static_cast<std::size_t>(i * n + i)] = n > 1 ? (1 + margin) * sum : 1 + margin;
    }
  }

  const Resolver& resolver_;
  const Located& rule_;
  const expr::Node& call_;
  const ConcreteTensor& tensor_;
  Arguments arguments_;
  std::int64_t parts_;
  std::vector<std::byte> out_;
  FillParameters seed_;
};

}  // namespace

std::vector<std::byte> make_whole(const Resolver& resolver,
                                  const Located& rule,
                                  const ConcreteTensor& tensor) {
  return Whole(resolver, rule, tensor).make();
}

}  // namespace sweep::problem

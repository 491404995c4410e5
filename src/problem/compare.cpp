#include "problem/compare.h"

#include "problem/device/compare.cuh"
#include "problem/evaluate_rules.h"
#include "problem/resolve.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>

namespace sweep::problem {
namespace {

// Sums over every unit; rows and tensor are summed from them in order, so threads do not change the
// result.
class Passes {
 public:
  Passes(const CompareParameters& parameters, const CompareData& data, int threads)
      : p_(parameters),
        data_(data),
        threads_(threads),
        units_(units_a_row(parameters)),
        rows_(parameters.row_length > 0 ? parameters.count / parameters.row_length : 0),
        scale_(static_cast<std::size_t>(rows_), 1.0) {}

  CompareResult run() {
    const bool known = p_.known_e_max >= 0;
    if (p_.bitwise == 0) {
      scales();
    }
    if (known) {
      result_.e_max = p_.known_e_max;
    } else if (p_.bitwise == 0) {
      seed_errors();
    }
    components();
    if (p_.bitwise == 0 && !known) {
      rms_rules();
    }
    finish();
    return result_;
  }

 private:
  using Add = std::function<void(std::int64_t, double, CompareSums&)>;

  std::vector<CompareSums> sums_of_rows(const Add& add) {
    std::vector<CompareSums> units(static_cast<std::size_t>(rows_ * units_));
    in_parallel(rows_ * units_, 16, threads_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t unit = begin; unit < end; ++unit) {
        const std::int64_t row = unit / units_;
        const std::int64_t first = row * p_.row_length + unit % units_ * kCompareUnit;
        const std::int64_t last = std::min(first + kCompareUnit, (row + 1) * p_.row_length);
        CompareSums& sums = units[static_cast<std::size_t>(unit)];
        for (std::int64_t i = first; i < last; ++i) {
          add(i, scale_[static_cast<std::size_t>(row)], sums);
        }
      }
    });
    std::vector<CompareSums> rows(static_cast<std::size_t>(rows_));
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      CompareSums& row = rows[unit / static_cast<std::size_t>(units_)];
      row = joined(row, units[unit]);
    }
    return rows;
  }

  static CompareSums total(const std::vector<CompareSums>& rows) {
    CompareSums out;
    for (const CompareSums& row : rows) {
      out = joined(out, row);
    }
    return out;
  }

  void scales() {
    const auto rows = sums_of_rows(
        [&](std::int64_t i, double, CompareSums& sums) { add_scale(p_, data_, i, sums); });
    const CompareSums all = total(rows);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const CompareSums& sums = p_.scale == kScaleTensor ? all : rows[row];
      scale_[row] = rms_of(sums.square, sums.n);
    }
  }

  void seed_errors() {
    if (data_.seed == nullptr) {
      seed_rows_.assign(static_cast<std::size_t>(rows_), {});
    } else {
      seed_rows_ = sums_of_rows([&](std::int64_t i, double scale, CompareSums& sums) {
        add_seed(p_, data_, i, scale, sums);
      });
    }
    const CompareSums all = total(seed_rows_);
    result_.e_max = clamped_error(p_, all.largest);
    result_.e_rms = clamped_error(p_, rms_of(all.square, all.n));
    CompareSums terms;
    for (const CompareSums& row : seed_rows_) {
      terms = joined(terms, row_term(p_, row));
    }
    result_.e_row = typical_error(p_, terms);
  }

  void components() {
    const std::int64_t rows = p_.columns > 0 ? p_.count / p_.columns : 0;
    row_hit_.assign(static_cast<std::size_t>(rows), 0);
    column_hit_.assign(static_cast<std::size_t>(p_.columns), 0);
    std::mutex guard;
    in_parallel(p_.count, 1 << 14, threads_, [&](std::int64_t begin, std::int64_t end) {
      CompareResult part;
      std::vector<std::int64_t> bad;
      for (std::int64_t i = begin; i < end; ++i) {
        component(i, part, bad);
      }
      const std::lock_guard lock(guard);
      merge(part, bad);
    });
  }

  void component(std::int64_t i, CompareResult& part, std::vector<std::int64_t>& bad) const {
    const ComponentVerdict verdict = judge_component(
        p_, data_, i, scale_[static_cast<std::size_t>(i / p_.row_length)], result_.e_max);
    part.worst = std::max(part.worst, verdict.share);
    part.ambiguous += verdict.differs ? 1 : 0;
    if (!verdict.bad) {
      return;
    }
    bad.push_back(i);
    part.nan += verdict.not_finite ? 1 : 0;
    part.unwritten += still_poison(p_, data_, i) ? 1 : 0;
  }

  void merge(const CompareResult& part, const std::vector<std::int64_t>& bad) {
    result_.worst = std::max(result_.worst, part.worst);
    result_.ambiguous += part.ambiguous;
    result_.nan += part.nan;
    result_.unwritten += part.unwritten;
    result_.bad += static_cast<std::int64_t>(bad.size());
    for (const std::int64_t i : bad) {
      result_.first_bad = result_.first_bad < 0 ? i : std::min<long long>(result_.first_bad, i);
      result_.last_bad = std::max<long long>(result_.last_bad, i);
      row_hit_[static_cast<std::size_t>(i / p_.columns)] = 1;
      column_hit_[static_cast<std::size_t>(i % p_.columns)] = 1;
    }
  }

  void rms_rules() {
    const auto rows = sums_of_rows([&](std::int64_t i, double scale, CompareSums& sums) {
      add_got(p_, data_, i, scale, sums);
    });
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const double share = rms_share(p_, rows[row], row_error(p_, seed_rows_[row], result_));
      result_.worst_rms = std::max(result_.worst_rms, share);
      if (share > 1.0) {
        ++result_.bad_rows;
        result_.first_bad_row =
            result_.first_bad_row < 0 ? static_cast<long long>(row) : result_.first_bad_row;
      }
    }
    const double share = rms_share(p_, total(rows), result_.e_rms);
    result_.worst_rms = std::max(result_.worst_rms, share);
    result_.tensor_rms_bad = share > 1.0 ? 1 : 0;
  }

  static void extent(const std::vector<char>& hit,
                     long long& count,
                     long long& low,
                     long long& high) {
    for (std::size_t k = 0; k < hit.size(); ++k) {
      if (hit[k] != 0) {
        low = count == 0 ? static_cast<long long>(k) : low;
        high = static_cast<long long>(k);
        ++count;
      }
    }
  }

  void finish() {
    extent(row_hit_, result_.rows_hit, result_.row_min, result_.row_max);
    extent(column_hit_, result_.columns_hit, result_.column_min, result_.column_max);
    const std::int64_t at = result_.first_bad;
    if (at < 0) {
      return;
    }
    result_.expected = oracle_at(p_, data_, at);
    result_.got = value_at(p_, data_.got, at);
    if (p_.bitwise == 0) {
      const double common = scale_[static_cast<std::size_t>(at / p_.row_length)];
      result_.allowed = allowed_at(
          p_, result_.expected, scale_at(p_, data_, at, result_.expected, common), result_.e_max);
    }
  }

  const CompareParameters& p_;
  const CompareData& data_;
  int threads_;
  std::int64_t units_, rows_;
  std::vector<double> scale_;  // of each row, or the tensor's for each
  std::vector<CompareSums> seed_rows_;
  std::vector<char> row_hit_, column_hit_;
  CompareResult result_;
};

const void* pointer(std::span<const std::byte> bytes) {
  return bytes.empty() ? nullptr : bytes.data();
}

}  // namespace

std::int64_t checked_prefix(const CompareParameters& p, const CompareBytes& bytes) {
  const auto count = static_cast<std::size_t>(p.count);
  const std::size_t values = count * static_cast<std::size_t>(component_bytes(p.type));
  const std::size_t reals = count * sizeof(double);
  const bool narrow = p.seed_rule != 0 || is_integer_type(p.type);
  const auto fits = [](std::size_t have, std::size_t want) { return have == 0 || have == want; };
  if (bytes.got != values || bytes.oracle != (narrow ? values : reals) ||
      !fits(bytes.seed, values) || !fits(bytes.base, values) || !fits(bytes.scale, reals) ||
      !fits(bytes.otherwise, reals) || (p.scale == kScaleAux && bytes.scale == 0 && count > 0)) {
    fail_at({}, "E_COMPARE_SIZE", "the tensors of a comparison differ in size");
  }
  if (bytes.unless == 0) {
    return 1;
  }
  if (count % bytes.unless != 0) {
    fail_at({}, "E_COMPARE_SIZE", "`unless` has a shape that is no prefix of the output's");
  }
  return static_cast<std::int64_t>(count / bytes.unless);
}

std::vector<ComparePass> compare_passes(const CompareParameters& p) {
  constexpr std::int64_t kBlock = 8, kWarp = 32;
  const std::int64_t rows = p.row_length > 0 ? p.count / p.row_length : 0;
  std::vector<ComparePass> out;
  const auto sums = [&](int pass, bool tensor) {
    out.push_back({"sweep_compare_units", rows * units_a_row(p), pass});
    out.push_back({"sweep_compare_rows", rows, pass});
    if (tensor) {
      out.push_back({"sweep_compare_tensor", kBlock, pass});
    }
  };
  const bool close = p.bitwise == 0, known = p.known_e_max >= 0;
  if (close && (p.scale == kScaleRow || p.scale == kScaleTensor)) {
    sums(0, p.scale == kScaleTensor);
  }
  if (close && !known) {
    sums(1, true);
  }
  out.push_back({"sweep_compare_components", p.count / kWarp + 1, 0});
  if (close && !known) {
    sums(2, true);
  }
  out.push_back({"sweep_compare_finish", kBlock, 0});
  return out;
}

std::size_t compare_workspace_bytes(const CompareParameters& parameters) {
  return compare_space(parameters, nullptr).bytes;
}

Comparison compare(const CompareParameters& parameters,
                   const std::vector<std::int64_t>& shape,
                   const CompareInputs& inputs,
                   int threads) {
  CompareParameters p = parameters;
  p.prefix = checked_prefix(parameters,
                            {inputs.got.size(),
                             inputs.oracle.size(),
                             inputs.seed.size(),
                             inputs.base.size(),
                             inputs.scale.size_bytes(),
                             inputs.unless.size(),
                             inputs.otherwise.size_bytes()});
  p.has_poison = inputs.poison ? 1 : 0;
  p.poison = inputs.poison.value_or(0);
  CompareData data;
  data.got = pointer(inputs.got);
  data.oracle = pointer(inputs.oracle);
  data.seed = pointer(inputs.seed);
  data.base = pointer(inputs.base);
  data.scale = inputs.scale.empty() ? nullptr : inputs.scale.data();
  data.otherwise = inputs.otherwise.empty() ? nullptr : inputs.otherwise.data();
  data.unless = inputs.unless.empty() ? nullptr : inputs.unless.data();
  return to_comparison(p, shape, Passes(p, data, threads).run());
}

Comparison compare_errors(const std::vector<std::int64_t>& shape, std::span<const double> errors) {
  // Each error is measured against the allowance 1.
  CompareResult result;
  CompareParameters p;
  p.type = kTypeF64;
  p.count = static_cast<long long>(errors.size());
  p.columns = shape.empty() ? 1 : std::max<std::int64_t>(1, shape.back());
  std::vector<char> rows(errors.size() / static_cast<std::size_t>(p.columns) + 1, 0),
      columns(static_cast<std::size_t>(p.columns), 0);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const double error = std::fabs(errors[i]);
    constexpr double kInfinite = std::numeric_limits<double>::infinity();
    result.worst = std::max(result.worst, std::isnan(error) ? kInfinite : error);
    if (error <= 1.0) {
      continue;
    }
    ++result.bad;
    result.nan += std::isnan(error) ? 1 : 0;
    result.first_bad = result.first_bad < 0 ? static_cast<long long>(i) : result.first_bad;
    result.last_bad = static_cast<long long>(i);
  }
  result.got = result.first_bad < 0 ? 0 : errors[static_cast<std::size_t>(result.first_bad)];
  result.allowed = 1;
  return to_comparison(p, shape, result);
}

std::vector<std::uint8_t> evaluate_unless(
    const Located& unless,
    const Problem& problem,
    const Draw& draw,
    const std::map<std::string, std::span<const double>>& aux) {
  std::size_t count = 0;
  std::vector<std::pair<std::string, std::span<const double>>> used;
  for (const std::string& name : expr::names(unless.expr)) {
    if (const auto found = aux.find(name); found != aux.end()) {
      if (!used.empty() && found->second.size() != count) {
        fail_at(unless.where, "E_COMPARE_SIZE", "aux tensors of one condition differ in size");
      }
      count = found->second.size();
      used.emplace_back(name, found->second);
    }
  }
  if (used.empty()) {
    fail_at(unless.where, "E_COMPARE_UNLESS", "the condition names no aux tensor");
  }
  std::vector<std::uint8_t> out(count, 0);
  in_parallel(
      static_cast<std::int64_t>(count), 1 << 12, 0, [&](std::int64_t begin, std::int64_t end) {
        expr::RealEnv env = real_env(problem, draw);
        for (std::int64_t i = begin; i < end; ++i) {
          bool known = true;
          for (const auto& [name, values] : used) {
            env[name] = values[static_cast<std::size_t>(i)];
            known = known && !std::isnan(env[name]);
          }
          out[static_cast<std::size_t>(i)] = known && real_of(unless, env) != 0 ? 1 : 0;
        }
      });
  return out;
}

}  // namespace sweep::problem

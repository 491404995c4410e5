#include "problem/check.h"

#include "problem/compare.h"
#include "problem/draw.h"
#include "problem/evaluate_rules.h"
#include "problem/fill.h"
#include "problem/reader.h"
#include "problem/signatures.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace sweep::problem {
namespace {

constexpr double kCpuOps = 2e8;
constexpr double kDeviceBytes = 141e9;  // H200
constexpr double kLongTime = 50e-6;
constexpr double kShortTime = 3e-6;
constexpr int kStressDraws = 200;
// Host data larger than this is not made by a check.
constexpr double kMostHostElements = 1 << 18;

class Checker {
 public:
  explicit Checker(const Problem& problem)
      : problem_(problem), reader_(problem.toml.path.string(), mistakes_) {}

  std::vector<Mistake> run() {
    folder();
    for (const Shape& shape : problem_.shapes) {
      shape_costs(shape);
    }
    largest_time();
    fills();
    masks();
    draws();
    return std::move(mistakes_);
  }

 private:
  // Runs `body`; a UsageError becomes a mistake at `where`, or where the error says.
  bool attempt(const Location& where, const std::function<void()>& body) {
    try {
      body();
      return true;
    } catch (const util::UsageError& fault) {
      const bool placed = fault.message().where.rfind(reader_.file(), 0) == 0;
      add(fault.code(),
          placed ? Location{fault.message().where, 0, 0} : where,
          fault.message().what,
          fault.message().next);
    } catch (const util::InfraError& fault) {
      add(fault.code(), where, fault.message().what, fault.message().next);
    }
    return false;
  }

  void add(const std::string& code,
           const Location& where,
           const std::string& what,
           const std::string& next,
           bool warning = false) {
    if (told_.insert(where.text() + what).second) {
      mistakes_.push_back({code, where, what, next, warning});
    }
  }

  [[nodiscard]] Location at_work() const { return problem_.work.reference_ops.where; }

  // The folder's name agrees with the id.
  void folder() {
    if (problem_.folder.empty()) {
      return;
    }
    const std::filesystem::path whole =
        std::filesystem::absolute(problem_.folder).lexically_normal();
    const std::filesystem::path path = whole.has_filename() ? whole : whole.parent_path();
    std::string name = path.filename().string();
    const std::string part = problem_.id.substr(problem_.id.find('/') + 1);
    name.erase(0, std::min(name.find_first_not_of('0'), name.size()));
    if (name != part && name.rfind(part + "_", 0) != 0) {
      add("E_PROBLEM_ID",
          {reader_.file(), 0, 0},
          "id '" + problem_.id + "' does not suit the folder '" + path.filename().string() + "'",
          "name the folder " + part + "_WORDS or change the id");
    }
  }

  void shape_costs(const Shape& shape) {
    attempt(shape.where, [&] {
      const Draw draw = make_draw(problem_, shape.name, shape.free, "default", Key{});
      const Sizes sizes = sizes_of(problem_, draw);
      const WorkValues work = work_of(problem_, draw);
      for (const Check& check : problem_.checks) {
        for (const Located& extent : check.shape) {
          (void)integer_of(extent, draw.dims);
        }
      }
      (void)scratch_limit(problem_, draw);
      constraints(shape, draw, sizes);
      limits(shape, sizes, nominal_seconds(problem_, work));
    });
  }

  void constraints(const Shape& shape, const Draw& draw, const Sizes& sizes) {
    expr::RealEnv env = real_env(problem_, draw);
    env["input_bytes"] = sizes.input_bytes;
    env["output_bytes"] = sizes.output_bytes;
    env["reference_bytes"] = sizes.oracle_bytes + sizes.reference_scratch;
    env["reference_ops"] = sizes.reference_ops;
    env["reference_depth"] = sizes.reference_depth;
    env["device_bytes"] = kDeviceBytes;
    for (const Located& rule : problem_.constraints) {
      if (real_of(rule, env) == 0) {
        add("E_PROBLEM_CONSTRAINT",
            shape.where,
            "shape '" + shape.name + "' breaks '" + rule.expr.text() + "'",
            "change one of them");
      }
    }
  }

  void limits(const Shape& shape, const Sizes& sizes, double floor) {
    const auto said = [](double value) { return util::human_seconds(value); };
    if (shape.uses.cpu && sizes.reference_ops > kCpuOps) {
      add("E_PROBLEM_COST",
          shape.where,
          "cpu shape '" + shape.name + "' has reference_ops above 2e8",
          "make it smaller");
    }
    const bool checked = shape.uses.check || shape.uses.time;
    if (checked && sizes.oracle_seconds() > problem_.limits.oracle_seconds) {
      add("E_PROBLEM_COST",
          shape.where,
          "the oracle needs about " + said(sizes.oracle_seconds()) + " at shape '" + shape.name +
              "', oracle_seconds is " + said(problem_.limits.oracle_seconds),
          "make the shape smaller, or the reference faster");
    }
    const double bytes =
        3 * (sizes.input_bytes + sizes.output_bytes) + sizes.oracle_bytes + sizes.reference_scratch;
    if (checked && bytes > 0.9 * kDeviceBytes) {
      add("E_PROBLEM_COST",
          shape.where,
          "shape '" + shape.name + "' needs " +
              util::human_bytes(static_cast<std::uint64_t>(bytes)),
          "make it smaller");
    }
    if (shape.uses.time && floor < kShortTime) {
      add("E_PROBLEM_COST",
          shape.where,
          "timed shape '" + shape.name + "' has a floor of " + said(floor) + ", under 3 us",
          "give it use = [\"check\"]",
          true);
    }
  }

  // The largest timed shape keeps the device busy for at least 50 us.
  void largest_time() {
    double longest = -1;
    attempt(at_work(), [&] {
      for (const Shape& shape : problem_.shapes) {
        if (shape.uses.time) {
          const Draw draw = make_draw(problem_, shape.name, shape.free, "default", Key{});
          const WorkValues work = work_of(problem_, draw);
          longest = std::max(longest, nominal_seconds(problem_, work));
        }
      }
    });
    if (longest >= 0 && longest < kLongTime) {
      add("E_PROBLEM_COST",
          at_work(),
          "the largest timed shape takes at least " + util::human_seconds(longest) +
              ", under 50 us",
          "add a larger shape");
    }
    if (longest < 0) {
      add("E_PROBLEM_COST", at_work(), "no shape has the use 'time'", "add one", true);
    }
  }

  // Every fill resolves at every shape and content; those made on the host are made at the cpu
  // shapes.
  void fills() {
    std::vector<std::string> contents{"default"};
    for (const Content& content : problem_.contents) {
      contents.push_back(content.name);
    }
    for (const Shape& shape : problem_.shapes) {
      for (const std::string& content : contents) {
        attempt(shape.where, [&] { fill(shape, content); });
      }
    }
  }

  void fill(const Shape& shape, const std::string& content) {
    const Draw draw = visible_draw(problem_, shape, content, Key::from_seed(0));
    const FillPlan plan(problem_, draw);
    double elements = 0;
    for (const FilledTensor& tensor : plan.tensors()) {
      elements += static_cast<double>(tensor.tensor.count);
    }
    if (elements > kMostHostElements) {
      return;
    }
    (void)work_of(problem_, draw, plan.statistics());
    for (std::size_t i = 0; i < plan.tensors().size(); ++i) {
      const FilledTensor& filled = plan.tensors()[i];
      if (filled.way != FillWay::made) {
        std::vector<std::byte> bytes(static_cast<std::size_t>(filled.tensor.bytes));
        plan.fill(i, 0, filled.tensor.count, bytes);
        constant(filled, bytes, content);
      }
    }
  }

  // A float input of many equal elements teaches nothing and can be hard-coded.
  void constant(const FilledTensor& filled,
                const std::vector<std::byte>& bytes,
                const std::string& content) {
    const std::size_t size = expr::size_of(filled.tensor.type);
    const bool same =
        std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(std::min(size, bytes.size())),
                   bytes.end(),
                   bytes.begin());
    if (content == "default" && filled.tensor.count >= 16 && same) {
      add("W_PROBLEM_TRIVIAL",
          problem_.tensor(filled.tensor.name)->where,
          "all elements of '" + filled.tensor.name + "' are equal",
          "draw them, or make it a scalar",
          true);
    }
  }

  // Shapes of what a tolerance refers to.
  void masks() {
    for (const Shape& shape : problem_.shapes) {
      attempt(shape.where, [&] {
        const Draw draw = make_draw(problem_, shape.name, shape.free, "default", Key{});
        for (const auto& [name, tolerance] : problem_.tolerances) {
          mask(name, tolerance, draw);
        }
      });
    }
  }

  [[nodiscard]] std::int64_t count_of(const std::string& name, const Draw& draw) const {
    return concrete(problem_, *problem_.tensor(name), draw).count;
  }

  void mask(const std::string& name, const Tolerance& tolerance, const Draw& draw) {
    const Tensor& output = *problem_.tensor(name);
    const std::int64_t count = count_of(name, draw);
    const auto equal = [&](const std::string& other, const char* key) {
      if (!other.empty() && count_of(other, draw) != count) {
        add("E_PROBLEM_TOLERANCE",
            output.where,
            "'" + other + "' (" + key + ") and '" + name + "' differ in size",
            "give them one shape");
      }
    };
    equal(tolerance.base, "base");
    equal(tolerance.otherwise, "else");
    equal(tolerance.scale_aux, "scale");
    if (tolerance.unless) {
      for (const std::string& used : expr::names(tolerance.unless->expr)) {
        const Tensor* aux = problem_.tensor(used);
        if (aux != nullptr &&
            (count_of(used, draw) == 0 ||
             count % std::max<std::int64_t>(1, count_of(used, draw)) != 0) &&
            count > 0) {
          add("E_PROBLEM_TOLERANCE",
              tolerance.unless->where,
              "the shape of '" + used + "' is no prefix of that of '" + name + "'",
              "make it one");
        }
      }
    }
  }

  void draws() {
    const Location where = problem_.stress.empty() ? Location{reader_.file(), 0, 0}
                                                   : problem_.stress.front().rule.where;
    Machine gpu;
    gpu.device_bytes = kDeviceBytes;
    Machine cpu;
    cpu.cpu = true;
    attempt(where, [&] { (void)stress_draws(problem_, Key::from_seed(0), 0, kStressDraws, gpu); });
    attempt(where, [&] {
      for (const Draw& draw : stress_draws(problem_, Key::from_seed(0), 0, 20, cpu)) {
        groups(draw);
      }
    });
    attempt(where, [&] {
      for (const Draw& draw : edge_draws(problem_, Key::from_seed(0), cpu)) {
        groups(draw);
      }
    });
    attempt(where, [&] { (void)HeldOut("check", 0, problem_).checked(problem_, gpu); });
    attempt(where, [&] { (void)HeldOut("check", 0, problem_).timed(problem_, gpu); });
  }

  // Groups must be possible at every draw.
  void groups(const Draw& draw) {
    const FillPlan plan(problem_, draw);
    double elements = 0;
    for (const FilledTensor& tensor : plan.tensors()) {
      elements += static_cast<double>(tensor.tensor.count);
    }
    if (elements <= kMostHostElements) {
      (void)plan.statistics();
    }
  }

  const Problem& problem_;
  std::vector<Mistake> mistakes_;
  Reader reader_;
  std::set<std::string> told_;
};

}  // namespace

std::vector<Mistake> check(const Problem& problem) {
  return Checker(problem).run();
}

std::vector<Mistake> check_folder(const std::filesystem::path& folder) {
  Loaded loaded = load(folder);
  if (!loaded.problem) {
    return std::move(loaded.mistakes);
  }
  std::vector<Mistake> out = std::move(loaded.mistakes);
  for (Mistake& mistake : check(*loaded.problem)) {
    out.push_back(std::move(mistake));
  }
  return out;
}

}  // namespace sweep::problem

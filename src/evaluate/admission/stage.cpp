#include "evaluate/admission/stage.h"

#include "evaluate/admission/drawn.h"
#include "evaluate/admission/rule_check.h"
#include "evaluate/admission/shared_use.h"
#include "evaluate/golden.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/text.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sweep::evaluate::admission {
namespace {

RuleResult golden_rule(Session& session, const Options& options) {
  RuleResult result;
  result.rule = Rule::golden;
  if (options.golden.empty()) {
    result.fail("there are no golden vectors: " + options.golden_file + " is missing");
    result.next =
        "write that file with a program of its own that computes small cases (docs/admission.md)";
    return result;
  }
  const GoldenReport report = check_golden(
      session.problem(),
      options.golden,
      [&](const HostTensors& inputs, const problem::Draw& draw) {
        return session.truth(inputs, draw);
      },
      session.device());
  for (const std::string& failure : report.failures) {
    result.fail(failure);
  }
  if (report.cases == 0) {
    result.fail(options.golden_file + " holds no case");
  }
  result.worst = fmt::format("{} cases, {} values, worst {:.2g} of what is allowed",
                             report.cases,
                             report.values,
                             report.worst);
  result.numbers = {{"cases", static_cast<double>(report.cases)},
                    {"values", static_cast<double>(report.values)},
                    {"worst_share", report.worst}};
  if (result.state == State::fails) {
    result.next = "find out which of the two is wrong: reference.cu or the script in tests/oracle";
  }
  return result;
}

class Admission {
 public:
  Admission(Session& session, const Options& options, const Tick& tick)
      : session_(session), options_(options), tick_(tick), store_(session.device()) {}

  std::vector<RuleResult> run() {
    session_.comparer().explain(false);
    visible_rules(visible_draws(session_, options_.replicates));
    whole_rule(Rule::work, [this] { return work_rule(session_, options_); });
    whole_rule(Rule::draws, [this] { return draws_rule(session_, store_, options_, tick_); });
    if (broken_) {
      blame_reference();
    }
    std::ranges::sort(results_, {}, &RuleResult::rule);
    return std::move(results_);
  }

 private:
  static RuleResult unmeasured(Rule rule, const std::string& why) {
    RuleResult result;
    result.rule = rule;
    result.state = State::not_measured;
    result.worst = why;
    return result;
  }

  // What a rule throws of the problem's fault is its failure.
  template <class Make>
  void whole_rule(Rule rule, const Make& make) {
    if (!options_.wants(rule)) {
      return;
    }
    if (broken_) {
      results_.push_back(unmeasured(rule, "the reference failed before"));
      return;
    }
    tick_(std::string(info(rule).name), 0, 0);
    const double begin = clock_.monotonic();
    RuleResult result;
    try {
      result = make();
    } catch (const util::Error& error) {
      result.rule = rule;
      take_fault(error, result);
    }
    result.seconds = clock_.monotonic() - begin;
    results_.push_back(std::move(result));
  }

  // Rethrows what is not the problem's fault.
  void take_fault(const util::Error& error, RuleResult& result) {
    if (error.code() == "E_ORACLE") {
      broken_ = error.what();
    } else if (error.code() == "E_SEED_FAULT") {
      session_.seed().reset();
    } else if (dynamic_cast<const util::UsageError*>(&error) == nullptr &&
               error.code() != "E_DRAW_EXHAUSTED") {
      throw;
    }
    result.fail(error.message().where + ": " + error.message().what);
    result.next = error.message().next;
  }

  struct Wanted {
    Rule rule{};
    std::unique_ptr<RuleCheck> check;
    std::vector<std::string> left_out;  // shapes
    std::vector<std::string> faults;
    double seconds = 0;
  };

  [[nodiscard]] std::vector<Wanted> wanted_checks() const {
    const problem::Problem& problem = session_.problem();
    std::vector<Wanted> wanted;
    const auto add = [&](Rule rule, std::unique_ptr<RuleCheck> check) {
      if (options_.wants(rule)) {
        wanted.push_back({rule, std::move(check), {}, {}, 0});
      }
    };
    add(Rule::nulls, make_null_rule());
    add(Rule::precision, make_precision_rule(problem.precision));
    add(Rule::honest, make_honest_rule(options_));
    add(Rule::influence, make_influence_rule(problem));
    return wanted;
  }

  void visible_rules(const std::vector<VisibleDraw>& draws) {
    std::vector<problem::Draw> plain;
    std::ranges::transform(draws, std::back_inserter(plain), &VisibleDraw::draw);
    SharedUse use(session_, plain);
    whole_rule(Rule::golden, [this] { return golden_rule(session_, options_); });
    std::vector<Wanted> wanted = wanted_checks();
    if (wanted.empty()) {
      return;
    }
    smallest_ = smallest_of(plain);
    std::size_t done = 0;
    for (const VisibleDraw& visible : draws) {
      tick_(visible.draw.shape + ", " + visible.draw.content, done++, draws.size());
      if (!broken_) {
        use.pass();
        see(visible, wanted);
      }
    }
    for (Wanted& one : wanted) {
      RuleResult result =
          broken_ ? unmeasured(one.rule, "the reference failed") : one.check->result();
      for (const std::string& fault : one.faults) {
        result.fail(fault);
      }
      if (!one.left_out.empty()) {
        result.worst +=
            fmt::format("; not at {} (more than {})",
                        fmt::join(one.left_out, ", "),
                        util::human_bytes(static_cast<std::uint64_t>(options_.host_bytes)));
      }
      result.seconds = one.seconds;
      results_.push_back(std::move(result));
    }
  }

  // The shape with the fewest bytes: a rule that looks at none would have nothing to say.
  [[nodiscard]] std::string smallest_of(const std::vector<problem::Draw>& draws) const {
    const auto bytes = [this](const problem::Draw& draw) {
      const problem::Sizes sizes = problem::sizes_of(session_.problem(), draw);
      return sizes.input_bytes + sizes.output_bytes;
    };
    return draws.empty() ? std::string() : std::ranges::min(draws, {}, bytes).shape;
  }

  void see(const VisibleDraw& visible, std::vector<Wanted>& wanted) {
    try {
      Case one(session_, store_, visible.draw);
      for (Wanted& rule : wanted) {
        if (rule.check->on_host() && one.bytes() > static_cast<std::size_t>(options_.host_bytes) &&
            visible.draw.shape != smallest_) {
          if (visible.first && visible.draw.content == "default") {
            rule.left_out.push_back(visible.draw.shape);
          }
          continue;
        }
        const double begin = clock_.monotonic();
        rule.check->see(one, visible.first);
        rule.seconds += clock_.monotonic() - begin;
      }
    } catch (const util::Error& error) {
      RuleResult fault;
      take_fault(error, fault);
      for (Wanted& rule : wanted) {
        // The seed's own rule; a fault of the reference is that of the rule of draws.
        if (!broken_ && (rule.rule == Rule::honest || error.code() != "E_SEED_FAULT")) {
          rule.faults.push_back(place_of(visible.draw) + ": " + fault.failures.front());
        }
      }
    }
  }

  // A reference that fails does so on a draw that can be asked for.
  void blame_reference() {
    const auto found = std::ranges::find(results_, Rule::draws, &RuleResult::rule);
    if (found != results_.end() && found->state != State::fails) {
      found->fail(*broken_);
      found->next = "correct reference.cu";
    } else if (found == results_.end() &&
               std::ranges::none_of(results_, [](const RuleResult& result) {
                 return result.state == State::fails;
               })) {
      results_.front().fail(*broken_);
    }
  }

  Session& session_;
  const Options& options_;
  const Tick& tick_;
  Store store_;
  util::RealClock clock_;
  std::vector<RuleResult> results_;
  std::string smallest_;               // name of the visible shape with the fewest bytes
  std::optional<std::string> broken_;  // what the reference did: its device is dead
};

}  // namespace

std::vector<RuleResult> run_admission(Session& session, const Options& options, const Tick& tick) {
  return Admission(session, options, tick).run();
}

}  // namespace sweep::evaluate::admission

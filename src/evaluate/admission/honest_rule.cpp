// Rule 4: honest arithmetic passes on every visible shape and content.
#include "evaluate/admission/rule_check.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace sweep::evaluate::admission {
namespace {

class HonestRule final : public RuleCheck {
 public:
  explicit HonestRule(const Options& options)
      : narrowed_(options.narrowed),
        reason_(options.narrowed_reason),
        host_bytes_(static_cast<std::size_t>(options.host_bytes)) {}

  [[nodiscard]] bool on_host() const override { return false; }

  void see(Case& one, bool /*first*/) override {
    note(seed_, one, one.of_seed());
    if (one.bytes() <= host_bytes_) {
      note(rounding_, one, one.of_all(one.right()));
    }
    if (narrowed_) {
      see_narrowed(one);
    }
  }

  [[nodiscard]] RuleResult result() const override {
    RuleResult result;
    result.rule = Rule::honest;
    for (const Variant* variant : {&seed_, &rounding_, &fp32_}) {
      for (const std::string& failure : variant->failures) {
        result.fail(failure);
      }
    }
    result.numbers = {{"seed_share", seed_.share}, {"rounded_share", rounding_.share}};
    result.worst = fmt::format("the seed takes {} of what is allowed", share_text(seed_.share));
    if (narrowed_) {
      result.numbers.push_back({"fp32_share", fp32_.share});
      result.worst +=
          fmt::format(", the reference in fp32 {}{}", share_text(fp32_.share), at(fp32_));
    } else {
      result.worst += fmt::format("{}; no reference in fp32: {}", at(seed_), reason_);
    }
    if (result.state == State::fails) {
      result.next =
          "correct the seed, or widen [tolerance] (c_max, c_rms, scale) as far as rule 3 lets you";
    }
    return result;
  }

 private:
  struct Variant {
    std::string name;
    double share = 0;
    std::string place;  // of the largest share
    std::vector<std::string> failures;
  };

  static std::string at(const Variant& variant) {
    return variant.place.empty() ? "" : " at " + variant.place;
  }

  static void note(Variant& variant, Case& one, const Opinion& opinion) {
    if (opinion.share >= variant.share) {
      variant.share = opinion.share;
      variant.place = place_of(one.draw());
    }
    if (!opinion.passes) {
      variant.failures.push_back(fmt::format("{}: {} has {} of what is allowed: {}",
                                             place_of(one.draw()),
                                             variant.name,
                                             share_text(opinion.share),
                                             opinion.text));
    }
  }

  // It is no part of the problem: where it does not run, it says nothing.
  void see_narrowed(Case& one) {
    Session& session = one.session();
    try {
      note(fp32_,
           one,
           one.of(session.play(session.candidate(), one.bench(), one.draw(), false).outputs));
      return;
    } catch (const ArmFault& fault) {
      reason_ = fault.what();
    } catch (const PlanFault& fault) {
      reason_ = fault.what();
    }
    session.candidate().reset();
    narrowed_ = false;
    fp32_.failures.clear();
  }

  bool narrowed_;
  std::string reason_;
  std::size_t host_bytes_;  // of a case that is rounded on the host
  Variant seed_{"the seed", 0, "", {}}, rounding_{"the rounded reference", 0, "", {}},
      fp32_{"the reference in fp32", 0, "", {}};
};

}  // namespace

std::unique_ptr<RuleCheck> make_honest_rule(const Options& options) {
  return std::make_unique<HonestRule>(options);
}

}  // namespace sweep::evaluate::admission

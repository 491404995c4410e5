// A submission's plan: parsed, expanded for two shapes, its arguments bound, written as JSON.
#include "submission/plan.h"
#include "submission/ranks.h"
#include "target.h"

#include <nlohmann/json.hpp>

#include <string>

namespace sweep::fuzz {
namespace {

using submission::Role;

expr::Expr expression(std::string_view text) {
  return std::get<expr::Expr>(expr::parse(text));
}

submission::Signature signature(bool ranked) {
  submission::Signature out;
  out.problem = "level1/3";
  out.dims = {"m", "n"};
  out.scalars = {{"alpha", expr::DType::f32}, {"steps", expr::DType::i32}};
  out.tensors = {{"a", expr::DType::f32, Role::input, {expression("m"), expression("n")}},
                 {"ids", expr::DType::i32, Role::input, {expression("m")}},
                 {"state", expr::DType::bf16, Role::inout, {expression("n")}},
                 {"c", expr::DType::f32, Role::output, {expression("m"), expression("n")}}};
  if (ranked) {
    out.ranked = true;
    out.dims.emplace_back("ranks");
    for (const std::size_t tensor : {0U, 2U, 3U}) {
      out.tensors[tensor].per_rank = true;
    }
  }
  return out;
}

// `ranks` 0: of a problem without them.
void expand(const submission::Submission& parsed,
            std::int64_t m,
            std::int64_t n,
            std::int64_t ranks = 0) {
  submission::Binding binding;
  binding.dims = {{"m", m}, {"n", n}, {"ranks", ranks}};
  binding.rank_order = 7;
  binding.scalars = {{"alpha", 0.25}, {"steps", std::int64_t{3}}};
  binding.sm_count = 4;
  binding.occupancy = [](const std::string&, std::int64_t, std::int64_t) {
    return std::int64_t{2};
  };
  const submission::Signature means = signature(ranks > 0);
  const auto result = submission::expand(parsed, means, binding, 512);
  const auto* expansion = std::get_if<submission::Expansion>(&result);
  if (expansion == nullptr) {
    const auto& error = std::get<submission::PlanError>(result);
    must(error.code.starts_with("E_PLAN_"));
    must(!error.text(parsed.source).empty());
    return;
  }
  must(expansion->steps.size() <= 512);
  must(expansion->ranks == ranks);
  (void)submission::to_json(*expansion, means).dump();
  const submission::Signature wide = submission::widened(means, ranks);
  const std::size_t buffers = wide.tensors.size() + expansion->scratch.size();
  for (const submission::PeerTable& table : expansion->peers) {
    must(static_cast<std::int64_t>(table.buffers.size()) == ranks);
    for (const std::size_t buffer : table.buffers) {
      must(buffer < buffers);
    }
  }
  for (const submission::Step& step : expansion->steps) {
    if (const auto* launch = std::get_if<submission::Launch>(&step)) {
      for (const std::int64_t extent : launch->grid) {
        must(extent >= 1);
      }
      (void)submission::bind_arguments(
          *launch,
          submission::opaque_parameters(std::vector<std::size_t>(launch->arguments.size(), 8)),
          wide,
          *expansion,
          [&](const submission::BufferRef& ref) {
            must(ref.buffer < buffers + expansion->peers.size());
            return std::uint64_t{1} << 40U;
          });
    }
  }
}

}  // namespace

void fuzz(std::string_view input) {
  const auto result = submission::parse("mine.cu", std::string(input));
  if (const auto* error = std::get_if<submission::PlanError>(&result)) {
    must(error->code.starts_with("E_PLAN_"));
    must(!error->text(input).empty());
    return;
  }
  const auto& parsed = std::get<submission::Submission>(result);
  for (const std::string& name : submission::name_expressions(parsed.plan)) {
    (void)submission::parameters_of(name);
  }
  expand(parsed, 37, 65);
  expand(parsed, 0, 4096);
  expand(parsed, 37, 65, 3);
}

}  // namespace sweep::fuzz

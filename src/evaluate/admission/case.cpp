#include "evaluate/admission/case.h"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace sweep::evaluate::admission {
namespace {

// Judgements write an infinite share as a number beyond every other.
constexpr double kInfinite = 1e200;

Opinion opinion_of(const Judgement& judgement) {
  const bool infinite = judgement.worst_share >= kInfinite;
  return {!judgement.failure,
          infinite ? std::numeric_limits<double>::infinity() : judgement.worst_share,
          judgement.failure ? judgement.failure->text : ""};
}

}  // namespace

Case::Case(Session& session, Store& store, const problem::Draw& draw)
    : session_(session),
      store_(store),
      draw_(draw),
      bench_(session.bench_for(draw)),
      least_(session.least_scales(bench_, draw_)) {
  bench_.fill(draw_);
  truth_ = session_.truth(bench_, draw_);
  seed_ = session_.play_trusted(session_.seed(), bench_, draw_, false).outputs;
}

std::size_t Case::bytes() const {
  std::size_t sum = 0;
  for (const Bench::Slot& slot : bench_.slots()) {
    sum += static_cast<std::size_t>(slot.tensor.bytes);
  }
  return sum;
}

const HostTensors& Case::inputs() {
  if (!inputs_) {
    inputs_.emplace();
    for (const Bench::Slot& slot : bench_.slots()) {
      if (slot.pristine) {
        (*inputs_)[slot.tensor.name] = bench_.read_pristine(slot);
      }
    }
  }
  return *inputs_;
}

const HostTensors& Case::oracle() {
  if (!oracle_) {
    oracle_ = download(truth_.outputs);
  }
  return *oracle_;
}

const HostTensors& Case::right() {
  if (!right_) {
    right_ = narrow(oracle());
  }
  return *right_;
}

HostTensors Case::download(const Tensors& tensors) {
  HostTensors values;
  for (const auto& [name, piece] : tensors) {
    values[name] = evaluate::download(session_.device(), piece.address(), piece.bytes());
  }
  return values;
}

HostTensors Case::narrow(const HostTensors& oracle) {
  HostTensors values;
  for (const auto& [name, wide] : oracle) {
    values[name] = narrowed(problem().tensor(name)->type, wide);
  }
  return values;
}

Tensors Case::upload(const HostTensors& tensors) {
  Tensors pieces;
  for (const auto& [name, values] : tensors) {
    Store::Piece piece = store_.take(values.size());
    if (!values.empty()) {
      session_.device().upload(piece.address(), values);
    }
    pieces[name] = std::move(piece);
  }
  return pieces;
}

Case::Answer Case::reference(const HostTensors& inputs, const problem::Draw& draw) {
  Answer answer;
  answer.oracle = download(session_.truth(inputs, draw).outputs);
  answer.narrowed = narrow(answer.oracle);
  return answer;
}

Opinion Case::of(const Tensors& outputs) {
  return opinion_of(session_.comparer().with_oracle(draw_, truth_, bench_, outputs, seed_, least_));
}

Opinion Case::of_seed() {
  return of(seed_);
}

Opinion Case::of_one(const std::string& output, const Bytes& values) {
  if (right_pieces_.empty()) {
    right_pieces_ = upload(right());
  }
  Tensors changed = upload({{output, values}});
  std::swap(right_pieces_.at(output), changed.at(output));
  const Opinion opinion = of(right_pieces_);
  std::swap(right_pieces_.at(output), changed.at(output));
  return opinion;
}

Opinion Case::of_all(const HostTensors& outputs) {
  return of(upload(outputs));
}

std::string place_of(const problem::Draw& draw) {
  return draw.content == "default" ? draw.shape : draw.shape + ", " + draw.content;
}

std::string share_text(double share) {
  return fmt::format("{:.2g}", share);
}

std::string times_text(double share) {
  return std::isinf(share) ? "other bits where none may differ"
                           : share_text(share) + " times what is allowed";
}

}  // namespace sweep::evaluate::admission

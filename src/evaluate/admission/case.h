#pragma once

#include "evaluate/admission/values.h"
#include "evaluate/session.h"

#include <optional>
#include <string>

namespace sweep::evaluate::admission {

// How the problem's comparison takes some outputs.
struct Opinion {
  bool passes = false;
  double share = 0;  // largest error as a share of what is allowed; infinite for wrong bits
  std::string text;  // what is wrong with it
};

// One draw with its contents, the reference's and the seed's outputs on the device, and what is
// asked for of them on the host. The session's bench holds it: one case at a time.
class Case {
 public:
  // Fills, runs reference and seed. Throws util::InfraError E_ORACLE or E_SEED_FAULT where one of
  // them fails.
  Case(Session& session, Store& store, const problem::Draw& draw);

  [[nodiscard]] const problem::Draw& draw() const { return draw_; }

  [[nodiscard]] const problem::Problem& problem() const { return session_.problem(); }

  [[nodiscard]] Session& session() { return session_; }

  [[nodiscard]] Bench& bench() { return bench_; }

  // Bytes of all inputs and outputs.
  [[nodiscard]] std::size_t bytes() const;

  // Inputs and inout tensors; outputs as the reference has them, in f64 where the problem says
  // float; the same rounded to the outputs' own types.
  [[nodiscard]] const HostTensors& inputs();
  [[nodiscard]] const HostTensors& oracle();
  [[nodiscard]] const HostTensors& right();

  // What the reference makes of other inputs or other parameters, rounded to the outputs' types,
  // and in its own.
  struct Answer {
    HostTensors oracle, narrowed;
  };

  [[nodiscard]] Answer reference(const HostTensors& inputs, const problem::Draw& draw);

  [[nodiscard]] Opinion of_seed();
  [[nodiscard]] Opinion of(const Tensors& outputs);
  // The other outputs are right.
  [[nodiscard]] Opinion of_one(const std::string& output, const Bytes& values);
  [[nodiscard]] Opinion of_all(const HostTensors& outputs);

 private:
  [[nodiscard]] HostTensors download(const Tensors& tensors);
  [[nodiscard]] HostTensors narrow(const HostTensors& oracle);
  [[nodiscard]] Tensors upload(const HostTensors& tensors);

  Session& session_;
  Store& store_;
  problem::Draw draw_;
  Bench& bench_;
  ByOutput least_;
  Truth truth_;
  Tensors seed_, right_pieces_;  // right_pieces_: right() on the device, made when first needed
  std::optional<HostTensors> inputs_, oracle_, right_;
};

// "tiny", or "tiny, hot" where the content is not the default one.
[[nodiscard]] std::string place_of(const problem::Draw& draw);

// "2.1", "70", "6e+04"; for an infinite share, of wrong bits, "inf".
[[nodiscard]] std::string share_text(double share);

// "70 times what is allowed"; for an infinite share "other bits where none may differ".
[[nodiscard]] std::string times_text(double share);

}  // namespace sweep::evaluate::admission

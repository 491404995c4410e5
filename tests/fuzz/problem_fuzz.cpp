// problem.toml: read, and drawn where it can be used.
#include "problem/draw.h"
#include "problem/problem.h"
#include "target.h"

namespace sweep::fuzz {

void fuzz(std::string_view input) {
  const problem::Loaded loaded = problem::parse(input, {});
  must(loaded.problem.has_value() || !loaded.mistakes.empty());
  for (const problem::Mistake& mistake : loaded.mistakes) {
    must(!mistake.text().empty());
  }
  if (!loaded.problem || !loaded.mistakes.empty()) {
    return;
  }
  const problem::Problem& usable = *loaded.problem;
  const problem::Key key{};
  for (const problem::Shape& shape : usable.shapes) {
    accepted([&] { (void)problem::visible_draw(usable, shape, "default", key); });
  }
}

}  // namespace sweep::fuzz

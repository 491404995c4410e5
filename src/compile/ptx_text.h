#pragma once

#include "submission/plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace sweep::compile {

// One statement of a PTX text without label, guard and line information: an instruction or a
// directive, as words and punctuation. A quoted string is one token that begins with '"'.
struct PtxStatement {
  int function = 0;  // number of the last .entry or .func before it, from 1; 0: before the first
  std::vector<std::string_view> tokens;

  // Tokens of operand `index` (0 follows the opcode); empty: none.
  [[nodiscard]] std::vector<std::string_view> operand(std::size_t index) const;
};

// A kernel and the sizes that its .param declarations give. Integers are of unknown kind (opaque):
// PTX does not tell a pointer from a number.
struct PtxEntry {
  std::string name;
  std::vector<submission::Parameter> parameters;
};

// A PTX text cut into statements. The text may be hostile: nothing is assumed about its lines, and
// what ptxas would refuse may come out in any form. Owns the text; statements point into it.
class PtxText {
 public:
  explicit PtxText(std::string_view text);
  PtxText(const PtxText&) = delete;
  PtxText& operator=(const PtxText&) = delete;
  ~PtxText() = default;

  [[nodiscard]] const std::vector<PtxStatement>& statements() const { return statements_; }

  [[nodiscard]] std::vector<PtxEntry> entries() const;

 private:
  std::string text_;
  std::vector<PtxStatement> statements_;
};

}  // namespace sweep::compile

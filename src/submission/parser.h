#pragma once

#include "expr/ast.h"
#include "submission/ast.h"
#include "submission/plan.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sweep::submission {

// A fault while parsing, at a byte of the source (npos: at none).
struct ParseFault {
  std::string code;
  std::size_t offset = 0;
  std::string what;
  std::string next;
};

[[noreturn]] inline void fail_parse(std::string code,
                                    std::size_t offset,
                                    std::string what,
                                    std::string next = {}) {
  throw ParseFault{std::move(code), offset, std::move(what), std::move(next)};
}

// Parses plan text (plan_text.h). Throws ParseFault or expr::SyntaxError.
class PlanParser {
 public:
  PlanParser(std::string_view text, const std::map<std::string, std::int64_t>& overrides);

  [[nodiscard]] Plan plan();

 private:
  enum class Where { top, branch, loop };

  void statement(Where where, std::vector<Statement>& out);
  [[nodiscard]] std::vector<Statement> body(Where where);
  void end_statement();
  void skip_empty();
  bool keyword_statement(std::string_view word, Where where, std::vector<Statement>& out);

  void problem();
  void constants();
  void flags();
  [[nodiscard]] LetStatement let();
  [[nodiscard]] ScratchStatement scratch();
  [[nodiscard]] ActionStatement action(std::string_view word);
  [[nodiscard]] ForStatement loop();
  void loop_step(ForStatement& out, const std::string& variable);
  [[nodiscard]] IfStatement choice(Where where);
  [[nodiscard]] LaunchStatement launch();
  void launch_slots(LaunchStatement& out);
  [[nodiscard]] MapStatement tensor_map();
  void prepare();
  void not_yet(std::size_t offset, std::string_view what);

  [[nodiscard]] std::string kernel_name(std::vector<Named>& types);
  [[nodiscard]] std::string template_argument(std::vector<Named>& types);
  [[nodiscard]] expr::NodePtr occupancy(expr::Parser& parser);
  [[nodiscard]] Named declared_name(std::string_view what);
  [[nodiscard]] std::int64_t constant(const expr::Node& node) const;

  [[nodiscard]] bool at_word(std::string_view word) const;
  [[nodiscard]] bool at_end() const;

  std::vector<expr::Token> tokens_;
  expr::Parser parser_;
  const std::map<std::string, std::int64_t>& overrides_;
  std::map<std::string, bool> overridden_;
  expr::IntEnv constants_;
  std::vector<std::string> lets_;
  std::vector<ParseFault> not_yet_;  // the first one is reported once everything else is right
  int blocks_ = 0;
  int statements_ = 0;
  Plan plan_;
};

}  // namespace sweep::submission

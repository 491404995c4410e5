#include "submission/plan.h"

#include "submission/ast.h"
#include "submission/parser.h"
#include "submission/plan_text.h"

#include <algorithm>
#include <utility>

namespace sweep::submission {
namespace {

constexpr std::size_t kMaxSource = std::size_t{1} << 20U;

void add(std::vector<std::string>& found, const std::string& name) {
  if (std::find(found.begin(), found.end(), name) == found.end()) {
    found.push_back(name);
  }
}

void collect(const std::vector<Statement>& statements, std::vector<std::string>& found) {
  for (const Statement& statement : statements) {
    if (const auto* launch = std::get_if<LaunchStatement>(&statement.what)) {
      add(found, launch->kernel);
    } else if (const auto* loop = std::get_if<ForStatement>(&statement.what)) {
      collect(loop->body, found);
    } else if (const auto* choice = std::get_if<IfStatement>(&statement.what)) {
      collect(choice->yes, found);
      collect(choice->no, found);
    }
  }
}

}  // namespace

Plan::Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

std::vector<std::string> name_expressions(const Plan& plan) {
  std::vector<std::string> found;
  collect(plan.statements, found);
  return found;
}

std::variant<Submission, PlanError> parse(std::string file,
                                          std::string source,
                                          const std::map<std::string, std::int64_t>& overrides) {
  if (source.size() > kMaxSource) {
    return PlanError{
        "E_PLAN_LIMIT", std::move(file), 0, 0, "source is larger than 1 MiB", "shorten it"};
  }
  auto text = plan_text(file, source);
  if (auto* error = std::get_if<PlanError>(&text)) {
    return std::move(*error);
  }
  Submission out;
  try {
    out.plan = PlanParser(std::get<std::string>(text), overrides).plan();
  } catch (const ParseFault& fault) {
    if (fault.offset == std::string::npos) {
      return PlanError{fault.code, std::move(file), 0, 0, fault.what, fault.next};
    }
    return error_at(file, source, fault.offset, fault.code, fault.what, fault.next);
  } catch (const expr::SyntaxError& error) {
    return error_at(file, source, error.offset, plan_code(error.code), error.what);
  }
  if (out.plan.statements.empty()) {
    return PlanError{"E_PLAN_EMPTY",
                     std::move(file),
                     0,
                     0,
                     "no launch in the plan",
                     "say how to launch, as in: //@ kernel<<<ceildiv(n, 256), 256>>>(x, y, n)"};
  }
  out.language = file.ends_with(".ptx") ? Language::ptx : Language::cuda;
  out.file = std::move(file);
  out.source = std::move(source);
  return out;
}

}  // namespace sweep::submission

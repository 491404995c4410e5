#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sweep::cli {

// Runs the process as a role when its first argument is a role's word (`__worker`, `__compile`,
// `__judge`, `__run`, `__replay`, `__web`,
// `__endpoint`, `__devices`) and returns the exit code; none for everything that a user types.
// Roles are started by the program itself and find their channel at descriptor 3
// (wire::Channel::kRoleFd).
[[nodiscard]] std::optional<int> run_role(const std::vector<std::string>& arguments);

}  // namespace sweep::cli

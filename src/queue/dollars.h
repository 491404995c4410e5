#pragma once

#include <string>

namespace sweep::queue {

// "$12.50", "$0.00"; with two digits that count where cents show fewer: "$0.012", "$0.00050".
[[nodiscard]] std::string dollars(double amount);

}  // namespace sweep::queue

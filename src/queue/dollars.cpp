#include "queue/dollars.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sweep::queue {

std::string dollars(double amount) {
  // Money is counted in nano-dollars.
  const bool small = amount >= 1e-9 && amount < 0.1;
  const int digits = small ? std::min(9, 1 - static_cast<int>(std::floor(std::log10(amount)))) : 2;
  return fmt::format("${:.{}f}", amount, digits);
}

}  // namespace sweep::queue

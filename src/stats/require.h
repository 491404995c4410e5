#pragma once

#include <stdexcept>

namespace sweep::stats {

// Throws std::invalid_argument that names `what` unless it holds.
inline void require(bool holds, const char* what) {
  if (!holds) {
    throw std::invalid_argument(what);
  }
}

}  // namespace sweep::stats

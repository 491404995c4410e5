#pragma once

#include <cstddef>
#include <functional>

namespace sweep::util {

// Calls work(0) to work(count - 1), each once, in rising order of their beginnings, on this thread
// and at most `workers` - 1 others, and returns when all have ended. After an exception no further
// one begins, and the first exception is thrown here.
void in_parallel(std::size_t count, unsigned workers, const std::function<void(std::size_t)>& work);

}  // namespace sweep::util

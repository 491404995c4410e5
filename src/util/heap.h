#pragma once

#include <cstddef>

namespace sweep::util {

// For a program that soon fills much memory with small things, before it starts threads: the heap
// of this thread takes `bytes` of addresses at once, which cost nothing until they are used, and
// the kernel is asked for large pages there, so that it need not be asked for each 4 KiB. Freed
// memory stays with the process. Does nothing where the system or a sanitizer's heap has no such
// thing.
void expect_much_memory(std::size_t bytes);

}  // namespace sweep::util

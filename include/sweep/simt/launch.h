#pragma once
// From a kernel's name to the table that the cpu device reads. Used by the generated end of a
// translation unit only.

#include "runtime.h"

namespace sweep_simt {

template <unsigned... I>
struct Indices {};

template <auto K>
struct Entry;

template <typename... A, void (*K)(A...)>
struct Entry<K> {
  static constexpr unsigned kBytes[sizeof...(A) + 1] = {sizeof(A)..., 0};

  static void loop(ThreadLoop* threads, void* const* arguments) {
    run(threads, arguments, Indices<__integer_pack(sizeof...(A))...>{});
  }

  static constexpr unsigned kParameters = sizeof...(A);

 private:
  // Runs thread after thread on the calling fiber. A thread that waits keeps this frame's fiber;
  // another fiber then enters this function for the rest.
  template <unsigned... I>
  __attribute__((flatten)) static void run(ThreadLoop* threads,
                                           void* const* arguments,
                                           Indices<I...>) {
    auto body = [... a = *static_cast<const A*>(arguments[I])] { K(a...); };
    while (threads->next < threads->count) {
      threadIdx = threads->order[threads->next++];
      body();
      if (__builtin_expect(threads->blocked, false) && sweep_simt_thread_end()) {
        return;
      }
    }
  }
};

}  // namespace sweep_simt

// One row of the module table. `kernel` is a name expression.
#define SWEEP_SIMT_ENTRY(name, ...)                                                             \
  {                                                                                             \
    name, &::sweep_simt::Entry<__VA_ARGS__>::loop, reinterpret_cast<void (*)()>(__VA_ARGS__),   \
        ::sweep_simt::Entry<__VA_ARGS__>::kBytes, ::sweep_simt::Entry<__VA_ARGS__>::kParameters \
  }

#pragma once
// Atomic functions of CUDA; the _block and _system forms are the same here.

#include "half2.h"

namespace sweep_simt {

template <typename T>
struct Same {
  using type = T;
};

template <typename T>
using Fixed = typename Same<T>::type;  // a parameter that follows the pointer's type

template <unsigned Bytes>
struct WordOf;

template <>
struct WordOf<2> {
  using type = unsigned short;
};

template <>
struct WordOf<4> {
  using type = unsigned;
};

template <>
struct WordOf<8> {
  using type = unsigned long long;
};

// *p = next(*p) in one step; returns the old value.
template <typename T, typename F>
T update(T* p, F next) {
  using Word = typename WordOf<sizeof(T)>::type;
  auto* word = reinterpret_cast<Word*>(p);
  Word old = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    T value;
    memcpy(static_cast<void*>(&value), &old, sizeof value);
    const T wanted = next(value);
    Word replacement;
    memcpy(&replacement, &wanted, sizeof replacement);
    if (__atomic_compare_exchange_n(
            word, &old, replacement, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
      return value;
    }
  }
}

}  // namespace sweep_simt

#define SWEEP_ATOMIC(name, suffix)                                                              \
  template <typename T>                                                                         \
  inline T atomicAdd##suffix(T* p, sweep_simt::Fixed<T> v) {                                    \
    if constexpr (std::is_integral_v<T>) {                                                      \
      return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                        \
    } else {                                                                                    \
      return sweep_simt::update(p, [v](T old) { return static_cast<T>(old + v); });             \
    }                                                                                           \
  }                                                                                             \
  template <typename T>                                                                         \
  inline T atomicSub##suffix(T* p, sweep_simt::Fixed<T> v) {                                    \
    return sweep_simt::update(p, [v](T old) { return static_cast<T>(old - v); });               \
  }                                                                                             \
  template <typename T>                                                                         \
  inline T atomicMin##suffix(T* p, sweep_simt::Fixed<T> v) {                                    \
    return sweep_simt::update(p, [v](T old) { return v < old ? v : old; });                     \
  }                                                                                             \
  template <typename T>                                                                         \
  inline T atomicMax##suffix(T* p, sweep_simt::Fixed<T> v) {                                    \
    return sweep_simt::update(p, [v](T old) { return old < v ? v : old; });                     \
  }                                                                                             \
  template <typename T>                                                                         \
  inline T atomicExch##suffix(T* p, sweep_simt::Fixed<T> v) {                                   \
    return sweep_simt::update(p, [v](T) { return v; });                                         \
  }                                                                                             \
  template <typename T>                                                                         \
  inline T atomicAnd##suffix(T* p, sweep_simt::Fixed<T> v) {                                    \
    return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);                                          \
  }                                                                                             \
  template <typename T>                                                                         \
  inline T atomicOr##suffix(T* p, sweep_simt::Fixed<T> v) {                                     \
    return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);                                           \
  }                                                                                             \
  template <typename T>                                                                         \
  inline T atomicXor##suffix(T* p, sweep_simt::Fixed<T> v) {                                    \
    return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);                                          \
  }                                                                                             \
  inline unsigned atomicInc##suffix(unsigned* p, unsigned limit) {                              \
    return sweep_simt::update(p, [limit](unsigned old) { return old >= limit ? 0 : old + 1; }); \
  }                                                                                             \
  inline unsigned atomicDec##suffix(unsigned* p, unsigned limit) {                              \
    return sweep_simt::update(                                                                  \
        p, [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });        \
  }                                                                                             \
  /* A failed exchange yields: another thread of the block may hold the lock. */                \
  template <typename T>                                                                         \
  inline T atomicCAS##suffix(T* p, sweep_simt::Fixed<T> compare, sweep_simt::Fixed<T> v) {      \
    T old = compare;                                                                            \
    if (!__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {  \
      sweep_simt_contended();                                                                   \
    }                                                                                           \
    return old;                                                                                 \
  }
SWEEP_ATOMIC(device, )
SWEEP_ATOMIC(block, _block)
SWEEP_ATOMIC(system, _system)
#undef SWEEP_ATOMIC

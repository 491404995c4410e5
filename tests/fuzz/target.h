#pragma once

#include "util/error.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

// A fuzz target defines fuzz(): it reads `input` as hostile text and calls must() for what has to
// hold. util::Error is how a reader refuses; anything else that it throws is a finding. Each target
// is one program: with libFuzzer in the fuzz preset, else with replay.cpp, which runs files and
// fixed mutations of them.
namespace sweep::fuzz {

void fuzz(std::string_view input);

// Ends the process where a promise does not hold, so that the fuzzer keeps the input.
inline void must(bool holds) {
  if (!holds) {
    std::abort();
  }
}

// Runs `read`; false if it refused its input as promised.
template <typename Read>
bool accepted(const Read& read) {
  try {
    read();
    return true;
  } catch (const util::Error&) {
    return false;
  }
}

}  // namespace sweep::fuzz

// The entry point of libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

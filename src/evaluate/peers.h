#pragma once

#include "device/device.h"
#include "problem/fill.h"
#include "submission/plan.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sweep::evaluate {

// How many buffers a candidate's plan has of the tensor: one, or one of each rank.
[[nodiscard]] std::size_t parts_of(const problem::ConcreteTensor& tensor);

// What the tables of peers hold, each from a multiple of 256 bytes on.
struct PeerWords {
  std::vector<std::uint64_t> words;
  std::vector<std::size_t> begins;  // bytes, of each of Expansion::peers
};

// `buffers`: where peers reach the tensors and scratch of the expansion.
[[nodiscard]] PeerWords peer_words(const submission::Expansion& expansion,
                                   const std::vector<device::Address>& buffers);

}  // namespace sweep::evaluate

#include "evaluate/peers.h"

namespace sweep::evaluate {

std::size_t parts_of(const problem::ConcreteTensor& tensor) {
  return tensor.stacked.size() > tensor.shape.size()
             ? static_cast<std::size_t>(tensor.stacked.front())
             : 1;
}

PeerWords peer_words(const submission::Expansion& expansion,
                     const std::vector<device::Address>& buffers) {
  constexpr std::size_t kAlignment = 256 / sizeof(std::uint64_t);
  PeerWords out;
  for (const submission::PeerTable& table : expansion.peers) {
    out.begins.push_back(out.words.size() * sizeof(std::uint64_t));
    for (const std::size_t buffer : table.buffers) {
      out.words.push_back(buffers.at(buffer));
    }
    out.words.resize((out.words.size() + kAlignment - 1) / kAlignment * kAlignment);
  }
  return out;
}

}  // namespace sweep::evaluate

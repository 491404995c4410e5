#pragma once

#include "device/device.h"
#include "evaluate/window.h"

#include <cstddef>
#include <map>
#include <memory>
#include <string>

namespace sweep::evaluate {

// Memory of the judge that no runner sees, recycled: a fresh buffer with guard pages costs 0.13 ms
// on an H200. One thread.
class Store {
  struct Shelf;

 public:
  // A tensor's bytes; given back to the store at the end. Contents are undefined at first.
  class Piece {
   public:
    Piece() = default;
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    Piece(Piece&& other) noexcept;
    Piece& operator=(Piece&& other) noexcept;
    ~Piece();

    [[nodiscard]] device::Address address() const { return window_ ? window_.address() : 0; }

    [[nodiscard]] std::size_t bytes() const { return bytes_; }  // as asked for

    // Of device memory.
    [[nodiscard]] std::size_t held() const { return window_ ? window_.reachable() : 0; }

   private:
    friend class Store;
    void give_back() noexcept;

    std::shared_ptr<Shelf> shelf_;
    Window window_;
    std::size_t bytes_ = 0;
  };

  explicit Store(device::Device& device);

  // Throws util::InfraError when the device is full.
  [[nodiscard]] Piece take(std::size_t bytes);
  // Frees what nobody holds, if that is more than `most` bytes.
  void trim(std::size_t most);

 private:
  device::Device& device_;
  std::shared_ptr<Shelf> shelf_;
};

// Tensors of one call by name, in the judge's memory.
using Tensors = std::map<std::string, Store::Piece, std::less<>>;

}  // namespace sweep::evaluate

#include "evaluate/store.h"

#include <algorithm>
#include <utility>

namespace sweep::evaluate {
struct Store::Shelf {
  std::multimap<std::size_t, Window> free;  // by reachable bytes
};

Store::Piece::Piece(Piece&& other) noexcept
    : shelf_(std::move(other.shelf_)),
      window_(std::move(other.window_)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Store::Piece& Store::Piece::operator=(Piece&& other) noexcept {
  if (this != &other) {
    give_back();
    shelf_ = std::move(other.shelf_);
    window_ = std::move(other.window_);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Store::Piece::~Piece() {
  give_back();
}

void Store::Piece::give_back() noexcept {
  if (!window_) {
    return;
  }
  try {
    const std::size_t size = window_.reachable();
    shelf_->free.emplace(size, std::move(window_));
  } catch (const std::bad_alloc&) {
    window_ = {};
  }
}

Store::Store(device::Device& device) : device_(device), shelf_(std::make_shared<Shelf>()) {}

Store::Piece Store::take(std::size_t bytes) {
  Piece piece;
  piece.shelf_ = shelf_;
  piece.bytes_ = bytes;
  const auto found = shelf_->free.lower_bound(Window::padded(bytes));
  if (found != shelf_->free.end() && found->second.fits(bytes)) {
    piece.window_ = std::move(found->second);
    piece.window_.resize(bytes);
    shelf_->free.erase(found);
  } else {
    piece.window_ = {device_.allocate(Window::padded(bytes)), bytes};
  }
  return piece;
}

void Store::trim(std::size_t most) {
  std::size_t idle = 0;
  for (const auto& [size, window] : shelf_->free) {
    idle += size;
  }
  if (idle > most) {
    shelf_->free.clear();
  }
}

}  // namespace sweep::evaluate

#include "evaluate/store.h"

#include <algorithm>
#include <utility>

namespace sweep::evaluate {
namespace {

constexpr std::size_t kAlignment = 256;

}  // namespace

struct Store::Shelf {
  std::multimap<std::size_t, std::unique_ptr<device::Buffer>> free;
};

Store::Piece::Piece(Piece&& other) noexcept
    : shelf_(std::move(other.shelf_)),
      buffer_(std::move(other.buffer_)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Store::Piece& Store::Piece::operator=(Piece&& other) noexcept {
  if (this != &other) {
    give_back();
    shelf_ = std::move(other.shelf_);
    buffer_ = std::move(other.buffer_);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Store::Piece::~Piece() {
  give_back();
}

void Store::Piece::give_back() noexcept {
  if (buffer_ == nullptr) {
    return;
  }
  try {
    const std::size_t size = buffer_->bytes();
    shelf_->free.emplace(size, std::move(buffer_));
  } catch (const std::bad_alloc&) {
    buffer_.reset();
  }
}

Store::Store(device::Device& device) : device_(device), shelf_(std::make_shared<Shelf>()) {}

Store::Piece Store::take(std::size_t bytes) {
  const std::size_t size =
      std::max((bytes + kAlignment - 1) / kAlignment, std::size_t{1}) * kAlignment;
  Piece piece;
  piece.shelf_ = shelf_;
  piece.bytes_ = bytes;
  if (auto node = shelf_->free.extract(size); !node.empty()) {
    piece.buffer_ = std::move(node.mapped());
  } else {
    piece.buffer_ = device_.allocate(size);
  }
  return piece;
}

void Store::trim() {
  shelf_->free.clear();
}

}  // namespace sweep::evaluate

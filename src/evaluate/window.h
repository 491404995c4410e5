#pragma once

#include "device/device.h"

#include <cstddef>
#include <memory>

namespace sweep::evaluate {

// Contents at the end of a buffer, right before its guard, so that one buffer serves contents of
// many sizes: on an H200 a buffer costs 0.14 ms, and a runner's mapping of it 1.1 ms. They span
// whole 256 bytes. What is left over lies before them and is as reachable as they are.
class Window {
 public:
  static constexpr std::size_t kAlignment = 256;
  // More than this before the contents is not worth filling before every call.
  static constexpr std::size_t kMostFront = std::size_t{2} << 20U;

  // `bytes` rounded up to 256; at least 256.
  [[nodiscard]] static constexpr std::size_t padded(std::size_t bytes) {
    return bytes == 0 ? kAlignment : (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  // Owns nothing.
  Window() = default;

  // Contents of `bytes` in a buffer of padded(bytes) or more.
  Window(std::unique_ptr<device::Buffer> buffer, std::size_t bytes)
      : buffer_(std::move(buffer)), span_(padded(bytes)) {}

  explicit operator bool() const { return buffer_ != nullptr; }

  [[nodiscard]] const device::Buffer& buffer() const { return *buffer_; }

  // Bytes from the first reachable one to the guard.
  [[nodiscard]] std::size_t reachable() const {
    return buffer_->front() + padded(buffer_->bytes());
  }

  [[nodiscard]] device::Address begin() const { return buffer_->address() - buffer_->front(); }

  [[nodiscard]] device::Address address() const { return begin() + front(); }

  [[nodiscard]] std::size_t span() const { return span_; }

  [[nodiscard]] std::size_t front() const { return reachable() - span_; }

  // Whether contents of `bytes` have room with at most kMostFront before them.
  [[nodiscard]] bool fits(std::size_t bytes) const {
    return padded(bytes) <= reachable() && reachable() - padded(bytes) < kMostFront;
  }

  // Needs fits(bytes).
  void resize(std::size_t bytes) { span_ = padded(bytes); }

  // Ends the window; its buffer is the caller's.
  [[nodiscard]] std::unique_ptr<device::Buffer> release() { return std::move(buffer_); }

 private:
  std::unique_ptr<device::Buffer> buffer_;
  std::size_t span_ = 0;
};

}  // namespace sweep::evaluate

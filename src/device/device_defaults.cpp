// What Device does through host memory where a device has no better way.
#include "device/device.h"
#include "util/error.h"

#include <algorithm>
#include <cstring>

namespace sweep::device {
namespace {

// Ranges are compared in pieces of this many bytes.
constexpr std::size_t kPiece = std::size_t{1} << 22U;

[[noreturn]] void throw_fault(const Fault& fault) {
  throw util::InfraError({"device", "a kernel of the harness failed: " + fault.text, ""},
                         "E_HARNESS_KERNELS");
}

}  // namespace

void Device::copy(Address to, Address from, std::size_t bytes) {
  std::vector<std::byte> piece(std::min(bytes, kPiece));
  for (std::size_t done = 0; done < bytes; done += piece.size()) {
    const auto part = std::span(piece).first(std::min(piece.size(), bytes - done));
    download(part, from + done);
    upload(to + done, part);
  }
}

bool Device::equal(Address a, Address b, std::size_t bytes) {
  std::vector<std::byte> left(std::min(bytes, kPiece));
  std::vector<std::byte> right(left.size());
  for (std::size_t done = 0; done < bytes; done += left.size()) {
    const std::size_t size = std::min(left.size(), bytes - done);
    download(std::span(left).first(size), a + done);
    download(std::span(right).first(size), b + done);
    if (std::memcmp(left.data(), right.data(), size) != 0) {
      return false;
    }
  }
  return true;
}

bool Device::all_words(Address at, std::size_t bytes, std::uint32_t pattern) {
  std::vector<std::uint32_t> words(std::min(bytes, kPiece) / 4);
  for (std::size_t done = 0; done < bytes; done += words.size() * 4) {
    const auto part = std::span(words).first(std::min(words.size(), (bytes - done) / 4));
    download(std::as_writable_bytes(part), at + done);
    if (std::any_of(part.begin(), part.end(), [&](std::uint32_t w) { return w != pattern; })) {
      return false;
    }
  }
  return true;
}

std::vector<bool> Device::holds(std::span<const Claim> claims) {
  std::vector<bool> held;
  for (const Claim& claim : claims) {
    held.push_back(claim.pattern ? all_words(claim.at, claim.bytes, *claim.pattern)
                                 : equal(claim.at, claim.other, claim.bytes));
  }
  return held;
}

bool Device::update(Sequence& /*sequence*/, std::span<const Step> /*steps*/) {
  return false;
}

std::unique_ptr<Module> Device::open_library(std::string_view function,
                                             const std::string& /*path*/) {
  throw util::UsageError(
      {std::string(function), "the cpu device has no vendor libraries", "use --device cuda:N"},
      "E_LIBRARY_DEVICE");
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): devices that need it keep it.
void Device::use_own_code(Image /*image*/) {}

void Device::launch(Module& module, const Launch& launch) {
  const std::vector<Step> steps{launch};
  auto made = prepare(module, steps);
  if (const auto* fault = std::get_if<Fault>(&made)) {
    throw_fault(*fault);
  }
  const auto ran = run(*std::get<0>(made));
  if (const auto* fault = std::get_if<Fault>(&ran)) {
    throw_fault(*fault);
  }
}

}  // namespace sweep::device

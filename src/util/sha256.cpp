#include "util/sha256.h"

#include "util/error.h"
#include "util/fd.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/random.h>

namespace sweep::util {

namespace {

[[noreturn]] void hash_failed(const char* call) {
  throw InfraError({"sha256", std::string(call) + " failed", "check the OpenSSL installation"},
                   "E_SYSTEM");
}

}  // namespace

struct Sha256::Impl {
  struct FreeContext {
    void operator()(EVP_MD_CTX* held) const { EVP_MD_CTX_free(held); }
  };

  std::unique_ptr<EVP_MD_CTX, FreeContext> context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {
  if (!impl_->context || EVP_DigestInit_ex(impl_->context.get(), EVP_sha256(), nullptr) != 1) {
    hash_failed("EVP_DigestInit_ex");
  }
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(std::string_view bytes) {
  return update(bytes.data(), bytes.size());
}

Sha256& Sha256::update(const void* data, std::size_t bytes) {
  if (EVP_DigestUpdate(impl_->context.get(), data, bytes) != 1) {
    hash_failed("EVP_DigestUpdate");
  }
  return *this;
}

Digest Sha256::finish() {
  Digest digest{};
  unsigned size = 0;
  if (EVP_DigestFinal_ex(impl_->context.get(), digest.data(), &size) != 1 ||
      size != digest.size()) {
    hash_failed("EVP_DigestFinal_ex");
  }
  return digest;
}

Digest sha256(std::string_view bytes) {
  return Sha256().update(bytes).finish();
}

std::string sha256_hex(std::string_view bytes) {
  return to_hex(sha256(bytes));
}

std::string sha256_file(const std::filesystem::path& path) {
  const Fd fd = open_file(path.string(), O_RDONLY);
  Sha256 hash;
  std::vector<char> buffer(1U << 18);
  for (;;) {
    const std::size_t n = read_all(fd.get(), buffer.data(), buffer.size(), path.string());
    hash.update(buffer.data(), n);
    if (n < buffer.size()) {
      return to_hex(hash.finish());
    }
  }
}

Digest hmac_sha256(std::string_view key, std::string_view bytes) {
  Digest digest{};
  unsigned size = 0;
  // OpenSSL takes a null key for "no key given before", so an empty key needs an address.
  const char* key_data = key.empty() ? "" : key.data();
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  if (HMAC(EVP_sha256(),
           key_data,
           static_cast<int>(key.size()),
           data,
           bytes.size(),
           digest.data(),
           &size) == nullptr) {
    hash_failed("HMAC");
  }
  return digest;
}

std::string to_hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(digest.size() * 2);
  for (const std::uint8_t byte : digest) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  return out;
}

std::uint64_t leading_u64(const Digest& digest) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    value |= static_cast<std::uint64_t>(digest[i]) << (8U * i);
  }
  return value;
}

std::string random_bytes(std::size_t bytes) {
  std::string out(bytes, '\0');
  std::size_t got = 0;
  while (got < bytes) {
    const ssize_t n = ::getrandom(out.data() + got, bytes - got, 0);
    if (n < 0) {
      if (errno == EINTR) {
        continue;
      }
      throw_errno("getrandom", "random bytes");
    }
    got += static_cast<std::size_t>(n);
  }
  return out;
}

}  // namespace sweep::util

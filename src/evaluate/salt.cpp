#include "evaluate/salt.h"

#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"

namespace sweep::evaluate {

std::string salt_commitment(std::string_view salt) {
  return util::sha256_hex("sweep salt commitment 1\n" + std::string(salt));
}

std::string read_revealed_salt(const std::filesystem::path& file) {
  constexpr std::size_t shortest = 32;
  constexpr std::size_t longest = std::size_t{1} << 20U;
  std::string salt = util::read_file(file, longest);
  if (salt.size() < shortest) {
    throw util::UsageError({file.string(),
                            "holds fewer than 32 bytes: it is no salt",
                            "give the file that the publisher revealed"},
                           "E_SALT");
  }
  return salt;
}

}  // namespace sweep::evaluate

#include "util/error.h"

#include <cerrno>
#include <system_error>
#include <utility>

namespace sweep::util {

std::string Message::text() const {
  std::string out = where.empty() ? what : where + ": " + what;
  return next.empty() ? out : out + "; " + next;
}

Error::Error(Message message, std::string code)
    : std::runtime_error(message.text()), message_(std::move(message)), code_(std::move(code)) {}

void throw_errno(const std::string& call, const std::string& where, const std::string& next) {
  const int error = errno;
  throw InfraError({where, call + " failed: " + std::system_category().message(error), next},
                   "E_SYSTEM");
}

}  // namespace sweep::util

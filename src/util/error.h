#pragma once

#include <stdexcept>
#include <string>

namespace sweep::util {

// Every message that a user sees has three parts: where it happened, what is wrong, what to do
// next. `where` is "file:line:column", a key path, a role or a path; `next` may be empty only where
// nothing helps.
struct Message {
  std::string where;
  std::string what;
  std::string next;

  // "where: what; next" with the empty parts left out.
  [[nodiscard]] std::string text() const;
};

// Base of all failures of the harness. A failing kernel is data (evaluate/verdict.h), never an
// Error.
class Error : public std::runtime_error {
 public:
  Error(Message message, std::string code);

  [[nodiscard]] const Message& message() const noexcept { return message_; }

  // Stable identifier for --json, e.g. "E_CONFIG_UNKNOWN_KEY".
  [[nodiscard]] const std::string& code() const noexcept { return code_; }

 private:
  Message message_;
  std::string code_;
};

// The user's input is wrong: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// The machine, the device, the disk, an endpoint or a role failed: exit code 3.
class InfraError : public Error {
 public:
  using Error::Error;
};

// The user interrupted: exit code 130.
class Interrupted : public Error {
 public:
  using Error::Error;
};

// InfraError for a failed system call: reads errno; `call` is its name, `where` the path or role.
[[noreturn]] void throw_errno(const std::string& call,
                              const std::string& where,
                              const std::string& next = {});

}  // namespace sweep::util

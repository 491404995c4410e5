#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace sweep::endpoint {

// An OpenAI-compatible server on a loopback port that plays scripts (docs/scripts.md): for each
// model a list of turns with text, reasoning, tool calls and faults. Which turn is due follows from
// the conversation alone (its assistant messages), so a resumed run gets the same answers; faults
// count their tries by conversation.

inline constexpr std::string_view kBuiltinPrefix = "builtin:";

// "builtin:demo" -> "demo"; empty for other URLs.
[[nodiscard]] std::string_view builtin_name(std::string_view base_url);

// The folder NAME of the first of `places` that has it, one name and never a path. UsageError
// E_BUILTIN_NAME when none has.
[[nodiscard]] std::filesystem::path find_scripts(std::span<const std::filesystem::path> places,
                                                 std::string_view name);

// Reads all scripts of a folder; util::UsageError E_SCRIPT_* for the first mistake, and
// E_SCRIPT_MODEL where `model`, unless empty, is played by none of them.
void check_scripts(const std::filesystem::path& folder, std::string_view model = {});

// A server inside this process, for tests and for the hidden role. Listens when constructed.
class ScriptServer {
 public:
  // Hears the body of each request before it is answered, from several threads at a time.
  using Seen = std::function<void(const std::string& body)>;

  // `folder` holds *.toml scripts; util::UsageError E_SCRIPT_* with file and place for a bad one.
  explicit ScriptServer(const std::filesystem::path& folder, Seen seen = {});
  ScriptServer(const ScriptServer&) = delete;
  ScriptServer& operator=(const ScriptServer&) = delete;
  ~ScriptServer();

  [[nodiscard]] int port() const;
  [[nodiscard]] std::string base_url() const;  // "http://127.0.0.1:PORT/v1"

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Role `sweep __endpoint FOLDER`: writes "PORT\n" to standard output when it listens and serves
// until standard input ends. Returns the exit status.
[[nodiscard]] int serve_scripts(const std::filesystem::path& folder);

// `sweep __endpoint` as a child process that ends with this object.
class BuiltinProcess {
 public:
  // Scripts are in the folder NAME of the first of `places` that has it. UsageError
  // E_BUILTIN_NAME when none has, InfraError E_BUILTIN_START when the server does not come up
  // within 10 s.
  BuiltinProcess(std::span<const std::filesystem::path> places,
                 std::string_view name,
                 const std::filesystem::path& program);
  BuiltinProcess(const BuiltinProcess&) = delete;
  BuiltinProcess& operator=(const BuiltinProcess&) = delete;
  ~BuiltinProcess();

  [[nodiscard]] const std::string& base_url() const { return base_url_; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string base_url_;
};

}  // namespace sweep::endpoint

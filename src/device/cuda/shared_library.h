#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace sweep::device::cuda {

// An open shared library; closed with its owner. Symbols stay valid no longer than this object.
class SharedLibrary {
 public:
  // Opens the first of `candidates` that loads (a path, or a bare name for the loader's own
  // search). Nothing loads: empty, and `reasons` gets the loader's text for each.
  [[nodiscard]] static std::optional<SharedLibrary> open(
      std::span<const std::filesystem::path> candidates, std::string& reasons);

  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&& other) noexcept;
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary();

  // Address of `name`; nullptr where the library has no such symbol.
  [[nodiscard]] void* symbol(const char* name) const noexcept;

  // The candidate that was opened.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  SharedLibrary(void* handle, std::filesystem::path path) noexcept;

  void* handle_ = nullptr;
  std::filesystem::path path_;
};

// Sets `function` to the symbol of that name; false where it is missing.
template <typename Function>
[[nodiscard]] bool resolve(const SharedLibrary& library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(library.symbol(name));
  return function != nullptr;
}

}  // namespace sweep::device::cuda

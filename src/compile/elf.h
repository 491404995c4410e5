#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::compile {

// Read-only view of a 64-bit little-endian ELF file made by a compiler from hostile text: every
// offset is checked. Views point into the bytes given to parse().
class ElfFile {
 public:
  struct Section {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::span<const std::byte> bytes;  // empty for NOBITS
    std::uint64_t size = 0;
    std::uint32_t link = 0;
    std::uint32_t info = 0;
  };

  struct Symbol {
    std::string_view name;
    unsigned type = 0;     // STT_*
    unsigned binding = 0;  // STB_*
    unsigned other = 0;    // st_other
    std::uint16_t section = 0;
    std::uint64_t value = 0;
    std::uint64_t size = 0;
  };

  struct Relocation {
    std::uint64_t offset = 0;
    std::uint32_t symbol = 0;
    std::uint32_t type = 0;
    std::int64_t addend = 0;
  };

  // Empty where the bytes are not such a file.
  [[nodiscard]] static std::optional<ElfFile> parse(std::span<const std::byte> bytes);

  [[nodiscard]] const std::vector<Section>& sections() const { return sections_; }

  // Of .symtab, or of .dynsym where there is none.
  [[nodiscard]] const std::vector<Symbol>& symbols() const { return symbols_; }

  // Of .dynsym.
  [[nodiscard]] const std::vector<Symbol>& dynamic_symbols() const { return dynamic_symbols_; }

  [[nodiscard]] const Section* section(std::string_view name) const;

  // All relocations that apply to section `index`.
  [[nodiscard]] std::vector<Relocation> relocations(std::size_t index) const;

 private:
  bool read_sections(std::span<const std::byte> bytes);
  [[nodiscard]] std::vector<Symbol> read_symbols(std::uint32_t type) const;

  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::vector<Symbol> dynamic_symbols_;
};

// C++ name of a mangled one; the name itself where it is not mangled.
[[nodiscard]] std::string demangled(std::string_view name);

}  // namespace sweep::compile

#include "compile/elf.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <cxxabi.h>
#include <elf.h>

namespace sweep::compile {
namespace {

template <typename T>
std::optional<T> read(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    return std::nullopt;
  }
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view text_at(std::span<const std::byte> table, std::uint64_t offset) {
  if (offset >= table.size()) {
    return {};
  }
  const char* begin = reinterpret_cast<const char*>(table.data()) + offset;
  return {begin, strnlen(begin, table.size() - offset)};
}

}  // namespace

bool ElfFile::read_sections(std::span<const std::byte> bytes) {
  const auto header = read<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_shentsize != sizeof(Elf64_Shdr)) {
    return false;
  }
  std::vector<std::uint32_t> names;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto raw = read<Elf64_Shdr>(bytes, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!raw) {
      return false;
    }
    Section section{{}, raw->sh_type, raw->sh_flags, {}, raw->sh_size, raw->sh_link, raw->sh_info};
    if (raw->sh_type != SHT_NOBITS && raw->sh_type != SHT_NULL) {
      if (raw->sh_offset > bytes.size() || raw->sh_size > bytes.size() - raw->sh_offset) {
        return false;
      }
      section.bytes = bytes.subspan(raw->sh_offset, raw->sh_size);
    }
    names.push_back(raw->sh_name);
    sections_.push_back(section);
  }
  if (header->e_shstrndx >= sections_.size()) {
    return false;
  }
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    sections_[i].name = text_at(sections_[header->e_shstrndx].bytes, names[i]);
  }
  return true;
}

std::vector<ElfFile::Symbol> ElfFile::read_symbols(std::uint32_t type) const {
  std::vector<Symbol> symbols;
  for (const Section& section : sections_) {
    if (section.type != type || section.link >= sections_.size()) {
      continue;
    }
    const auto strings = sections_[section.link].bytes;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.bytes.size();
         at += sizeof(Elf64_Sym)) {
      const auto raw = read<Elf64_Sym>(section.bytes, at);
      symbols.push_back({text_at(strings, raw->st_name),
                         static_cast<unsigned>(ELF64_ST_TYPE(raw->st_info)),
                         static_cast<unsigned>(ELF64_ST_BIND(raw->st_info)),
                         raw->st_other,
                         raw->st_shndx,
                         raw->st_value,
                         raw->st_size});
    }
    break;
  }
  return symbols;
}

std::optional<ElfFile> ElfFile::parse(std::span<const std::byte> bytes) {
  ElfFile file;
  if (!file.read_sections(bytes)) {
    return std::nullopt;
  }
  file.symbols_ = file.read_symbols(SHT_SYMTAB);
  file.dynamic_symbols_ = file.read_symbols(SHT_DYNSYM);
  return file;
}

const ElfFile::Section* ElfFile::section(std::string_view name) const {
  const auto at = std::find_if(
      sections_.begin(), sections_.end(), [&](const Section& s) { return s.name == name; });
  return at == sections_.end() ? nullptr : &*at;
}

std::vector<ElfFile::Relocation> ElfFile::relocations(std::size_t index) const {
  std::vector<Relocation> all;
  for (const Section& section : sections_) {
    if (section.type != SHT_RELA || section.info != index) {
      continue;
    }
    for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= section.bytes.size();
         at += sizeof(Elf64_Rela)) {
      const auto raw = read<Elf64_Rela>(section.bytes, at);
      all.push_back({raw->r_offset,
                     static_cast<std::uint32_t>(ELF64_R_SYM(raw->r_info)),
                     static_cast<std::uint32_t>(ELF64_R_TYPE(raw->r_info)),
                     raw->r_addend});
    }
  }
  return all;
}

std::string demangled(std::string_view name) {
  std::string text(name);
  if (!name.starts_with("_Z")) {
    return text;  // the library would take "g" for the type that it encodes
  }
  int status = -1;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && plain ? std::string(plain.get()) : text;
}

}  // namespace sweep::compile

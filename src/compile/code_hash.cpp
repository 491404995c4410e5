#include "compile/code_hash.h"

#include "compile/elf.h"
#include "util/sha256.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace sweep::compile {

std::string code_sha256(std::span<const std::byte> image) {
  const auto file = ElfFile::parse(image);
  if (!file || file->section(".nv.info") == nullptr) {
    return {};
  }
  constexpr std::array<std::string_view, 7> left_out = {
      ".debug", ".nv_debug", ".strtab", ".symtab", ".shstrtab", ".note", ".comment"};
  std::vector<std::pair<std::string_view, std::string_view>> parts;
  for (const ElfFile::Section& section : file->sections()) {
    const bool skip = section.name.empty() ||
                      std::any_of(left_out.begin(), left_out.end(), [&](std::string_view prefix) {
                        return section.name.starts_with(prefix) ||
                               section.name.starts_with(".rel" + std::string(prefix));
                      });
    if (!skip) {
      parts.emplace_back(section.name,
                         std::string_view(reinterpret_cast<const char*>(section.bytes.data()),
                                          section.bytes.size()));
    }
  }
  std::sort(parts.begin(), parts.end());
  util::Sha256 hash;
  for (const auto& [name, bytes] : parts) {
    hash.update(std::to_string(name.size()) + ":" + std::string(name) +
                std::to_string(bytes.size()) + ":");
    hash.update(bytes);
  }
  return util::to_hex(hash.finish());
}

}  // namespace sweep::compile

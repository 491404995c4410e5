#include "compile/elf.h"

#include "util/file.h"

#include <gmock/gmock.h>

#include <random>

namespace sweep::compile {
namespace {

std::vector<std::byte> own_program() {
  const std::string text = util::read_file("/proc/self/exe", std::size_t{1} << 30);
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

TEST(Elf, ReadsThisProgram) {
  const auto bytes = own_program();
  const auto file = ElfFile::parse(bytes);
  ASSERT_TRUE(file);
  ASSERT_NE(file->section(".text"), nullptr);
  EXPECT_GT(file->section(".text")->bytes.size(), 1000U);
  EXPECT_FALSE(file->dynamic_symbols().empty());
}

TEST(Elf, RefusesOtherFiles) {
  EXPECT_FALSE(ElfFile::parse({}));
  const std::vector<std::byte> zeros(4096);
  EXPECT_FALSE(ElfFile::parse(zeros));
}

// Damaged headers and tables never read outside the bytes (run under AddressSanitizer in CI).
TEST(Elf, SurvivesDamage) {
  auto bytes = own_program();
  const auto original = bytes;
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    bytes = std::vector<std::byte>(original.begin(), original.begin() + 64);
    const std::size_t keep = 64 + random() % std::min<std::size_t>(original.size() - 64, 1U << 16);
    bytes.assign(original.begin(), original.begin() + static_cast<std::ptrdiff_t>(keep));
    for (int i = 0; i < 8; ++i) {
      bytes[16 + random() % 48] = static_cast<std::byte>(random());
    }
    const auto file = ElfFile::parse(bytes);
    if (file) {
      (void)file->relocations(random() % 64);
    }
  }
}

TEST(Demangled, LeavesPlainNames) {
  EXPECT_EQ(demangled("_Z1kILi3EEvPf"), "void k<3>(float*)");
  EXPECT_EQ(demangled("plain"), "plain");
  EXPECT_EQ(demangled("g"), "g");  // as a type: __float128
  EXPECT_EQ(demangled("Pi"), "Pi");
}

}  // namespace
}  // namespace sweep::compile

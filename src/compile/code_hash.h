#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace sweep::compile {

// SHA-256 of what a cubin does: every section but those for debuggers, linkers' names and notes, by
// name and content. Two texts that differ in comments, layout or local names have the same. Empty
// where the bytes are no cubin (code of the cpu device, too).
[[nodiscard]] std::string code_sha256(std::span<const std::byte> image);

}  // namespace sweep::compile

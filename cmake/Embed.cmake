# Writes FILES (paths, ;-list) into one C++ table; names are relative to BASE.
file(WRITE "${HEADER}" "#pragma once
#include <span>
#include <string_view>
#ifndef SWEEP_EMBEDDED_FILE
#define SWEEP_EMBEDDED_FILE
namespace sweep::embedded {
struct File {
  std::string_view name;
  std::string_view text;
};
}  // namespace sweep::embedded
#endif
namespace sweep::embedded {
// Files built into the program: `name` is relative to the folder they came from.
[[nodiscard]] std::span<const File> ${SYMBOL}();
}  // namespace sweep::embedded
")
set(body "#include \"embedded_${SYMBOL}.h\"\n#include <array>\nnamespace sweep::embedded {\nnamespace {\n")
set(table "")
set(count 0)
foreach(path IN LISTS FILES)
  file(READ "${path}" hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR bytes "${digits} / 2")
  string(REGEX REPLACE "(................................................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" hex "${hex}")
  string(REGEX REPLACE "([^\n]+)" "\"\\1\"" hex "${hex}")
  file(RELATIVE_PATH name "${BASE}" "${path}")
  string(APPEND body "constexpr char f${count}[] =\n${hex}\"\";\n")
  string(APPEND table "  File{\"${name}\", std::string_view(f${count}, ${bytes})},\n")
  math(EXPR count "${count} + 1")
endforeach()
string(APPEND body "constexpr std::array<File, ${count}> kFiles = {\n${table}};\n}  // namespace\nstd::span<const File> ${SYMBOL}() { return kFiles; }\n}  // namespace sweep::embedded\n")
file(WRITE "${OUT}" "${body}")

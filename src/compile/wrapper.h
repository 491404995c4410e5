#pragma once

#include "compile/compile.h"

#include <optional>
#include <string>
#include <string_view>

namespace sweep::compile {

// A file name for messages that is safe inside a quoted include: letters, digits, '.', '_', '-', at
// most 64, ending in .cu; anything else becomes "submission.cu".
[[nodiscard]] std::string safe_file_name(const std::string& file);

// "#define NAME (VALUE)" lines. A name that is no identifier or is reserved ("__x", "defined"):
// empty optional. Values are numbers: nothing can be injected.
[[nodiscard]] std::optional<std::string> define_lines(
    const std::vector<std::pair<std::string, std::int64_t>>& defines);

// Whether `name` is a qualified name with optional template arguments made of literals, names and
// operators; no quotes, semicolons, braces or preprocessor characters.
[[nodiscard]] bool is_name_expression(std::string_view name);

// Makes printf in device code a function that does nothing.
inline constexpr std::string_view kNoPrintf =
    "template <class... A> __device__ __forceinline__ int sweep_no_printf(const char*, A...) { "
    "return 0; }\n#define printf sweep_no_printf\n";

// Text of the cpu device's translation unit, which includes the submission from `file` in the same
// folder and ends in the module table.
[[nodiscard]] std::string cpu_unit(const std::string& file,
                                   const std::string& define_text,
                                   const std::vector<std::string>& kernels,
                                   bool device_printf);

// Assembly that defines the dynamic shared memory and every name in `labels` at its start.
[[nodiscard]] std::string dynamic_shared_unit(const std::vector<std::string>& labels);

// A use of __DATE__, __TIME__ or __TIMESTAMP__ outside comments and literals: the text would not be
// the same at every compilation. Pasted spellings are not found; they change nothing but the date.
[[nodiscard]] bool uses_build_time(std::string_view given);

}  // namespace sweep::compile

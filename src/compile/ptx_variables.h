#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::compile {

// Module variables (.global and .const) of a PTX text, by what the code does with them. Whatever is
// not known to leave a variable alone counts as a write.
struct PtxVariables {
  std::set<std::string, std::less<>> only_read;
  std::vector<std::string> written;  // written to, or the address is stored, passed or returned
  // First of what no module may declare: "texture reference", "managed variable", "extern
  // variable"; empty: none.
  std::string forbidden;
};

// `printf_texts`: texts named "$str.." may be passed to functions, as printf needs it.
[[nodiscard]] PtxVariables ptx_variables(std::string_view ptx, bool printf_texts);

}  // namespace sweep::compile

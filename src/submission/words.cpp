#include "submission/words.h"

#include "expr/ast.h"
#include "expr/dtype.h"

#include <algorithm>
#include <array>

namespace sweep::submission {
namespace {

constexpr std::array<std::string_view, 12> kStatements{"problem",
                                                       "const",
                                                       "let",
                                                       "scratch",
                                                       "zero",
                                                       "copy",
                                                       "swap",
                                                       "for",
                                                       "if",
                                                       "flags",
                                                       "tensormap",
                                                       "prepare"};

constexpr std::array kWords{// the plan
                            std::string_view("sm_count"),
                            std::string_view("occupancy"),
                            std::string_view("offset"),
                            std::string_view("dim3"),
                            std::string_view("list"),
                            std::string_view("tile"),
                            std::string_view("box"),
                            std::string_view("swizzle"),
                            std::string_view("view"),
                            std::string_view("cluster"),
                            std::string_view("cooperative"),
                            std::string_view("pdl"),
                            std::string_view("else"),
                            std::string_view("peers"),
                            std::string_view("rank"),
                            std::string_view("ranks"),
                            std::string_view("signal"),
                            // C++
                            std::string_view("alignas"),
                            std::string_view("alignof"),
                            std::string_view("asm"),
                            std::string_view("auto"),
                            std::string_view("bool"),
                            std::string_view("break"),
                            std::string_view("case"),
                            std::string_view("catch"),
                            std::string_view("char"),
                            std::string_view("class"),
                            std::string_view("concept"),
                            std::string_view("constexpr"),
                            std::string_view("continue"),
                            std::string_view("decltype"),
                            std::string_view("default"),
                            std::string_view("defined"),
                            std::string_view("delete"),
                            std::string_view("do"),
                            std::string_view("double"),
                            std::string_view("enum"),
                            std::string_view("explicit"),
                            std::string_view("export"),
                            std::string_view("extern"),
                            std::string_view("false"),
                            std::string_view("float"),
                            std::string_view("friend"),
                            std::string_view("goto"),
                            std::string_view("inline"),
                            std::string_view("int"),
                            std::string_view("long"),
                            std::string_view("mutable"),
                            std::string_view("namespace"),
                            std::string_view("new"),
                            std::string_view("noexcept"),
                            std::string_view("nullptr"),
                            std::string_view("operator"),
                            std::string_view("private"),
                            std::string_view("protected"),
                            std::string_view("public"),
                            std::string_view("register"),
                            std::string_view("requires"),
                            std::string_view("return"),
                            std::string_view("short"),
                            std::string_view("signed"),
                            std::string_view("sizeof"),
                            std::string_view("static"),
                            std::string_view("struct"),
                            std::string_view("switch"),
                            std::string_view("template"),
                            std::string_view("this"),
                            std::string_view("throw"),
                            std::string_view("true"),
                            std::string_view("try"),
                            std::string_view("typedef"),
                            std::string_view("typename"),
                            std::string_view("union"),
                            std::string_view("unsigned"),
                            std::string_view("using"),
                            std::string_view("virtual"),
                            std::string_view("void"),
                            std::string_view("volatile"),
                            std::string_view("while"),
                            // CUDA
                            std::string_view("threadIdx"),
                            std::string_view("blockIdx"),
                            std::string_view("blockDim"),
                            std::string_view("gridDim"),
                            std::string_view("warpSize")};

template <typename Range>
bool has(const Range& range, std::string_view name) {
  return std::find(range.begin(), range.end(), name) != range.end();
}

}  // namespace

std::vector<std::string> statement_words() {
  return {kStatements.begin(), kStatements.end()};
}

bool is_reserved(std::string_view name) {
  const bool implementation =
      name.find("__") != std::string_view::npos ||
      (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z');
  return implementation || has(kStatements, name) || has(kWords, name) ||
         has(expr::function_names(), name) || expr::parse_dtype(name).has_value();
}

}  // namespace sweep::submission

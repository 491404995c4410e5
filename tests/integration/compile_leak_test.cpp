// No text that is compiled reads a file outside the toolchain's folders, however it spells the
// wish: the log tells nothing, the image holds nothing, and a wish that can be made is not granted.

#include "compile_fixture.h"

#include <gmock/gmock.h>

namespace sweep::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Status = compile::Result::Status;

class CompileLeak : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (const std::string why = missing(GetParam()); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }

  // The secret is in nothing that comes back.
  void expect_nothing(const std::string& source) const {
    const compile::Result result = compile_by(GetParam(), source);
    EXPECT_THAT(result.log, Not(HasSubstr(kSecret))) << source;
    EXPECT_THAT(result.ptx, Not(HasSubstr(kSecret))) << source;
    const std::string image(reinterpret_cast<const char*>(result.image.bytes.data()),
                            result.image.bytes.size());
    EXPECT_EQ(image.find(kSecret), std::string::npos) << source;
  }

  PlantedFile file;
};

const std::string kKernel = "\n__global__ void k(int* o) { o[0] = 1; }\n";

std::vector<std::string> includes_of(const std::string& path) {
  const std::string relative = "../../../../../../../.." + path;
  const std::string quoted = "\"" + path + "\"";
  return {
      "#include " + quoted,
      "#include <" + path + ">",
      "#include \"" + relative + "\"",
      "#include <" + relative + ">",
      "#include \"/tmp/.." + path + "\"",
      "#include \"/usr/include/../.." + path + "\"",
      "#include \"/proc/self/root" + path + "\"",
      "#include \"/proc/self/cwd/../.." + path + "\"",
      "#include \"/dev/fd/../../.." + path + "\"",
      "#define F " + quoted + "\n#include F",
      "#define S(x) #x\n#define T(x) S(x)\n#include T(" + path + ")",
      "#define L <\n#include L" + path + ">",
      "%:include " + quoted,
      "?\?=include " + quoted,
      "#inc\\\nlude " + quoted,
      "#/**/include " + quoted,
      "# /* a\n b */ include /**/ " + quoted,
      "#include_next " + quoted,
      "#import " + quoted,
      "#include " + quoted + " // comment",
      "_Pragma(\"GCC dependency \\\"" + path + "\\\"\")",
      "#pragma GCC dependency " + quoted,
      "#pragma GCC pch_preprocess " + quoted,
      "#pragma include_alias(\"x.h\", " + quoted + ")\n#include \"x.h\"",
      "#line 1 " + quoted + "\nint x = undeclared_name;",
      "# 1 " + quoted + "\nint x = undeclared_name;",
      "#line 1 " + quoted + "\n#error here",
      "#line 1 " + quoted + "\n#warning here",
      "__asm__(\".incbin \\\"" + path + "\\\"\");",
      "__asm__(\".include \\\"" + path + "\\\"\");",
      "__device__ void f() { asm(\".file 1 \\\"" + path + "\\\"\"); }",
      "const unsigned char t[] = {\n#embed " + quoted + "\n};",
      "import " + quoted + ";",
  };
}

TEST_P(CompileLeak, NoSpellingReadsAFile) {
  if (GetParam() == Way::ptxas) {
    for (const std::string& line : {".include \"" + file.path() + "\"",
                                    "#include \"" + file.path() + "\"",
                                    "#line 1 \"" + file.path() + "\"\nbogus;",
                                    ".file 1 \"" + file.path() + "\"",
                                    "@@DWARF .file 1 \"" + file.path() + "\""}) {
      expect_nothing(ptx_kernel("", line));
      expect_nothing(ptx_kernel(".loc 1 1 1\nbogus;", line));
    }
    return;
  }
  for (const std::string& text : includes_of(file.path())) {
    expect_nothing(text + kKernel);
  }
}

// A file becomes part of the text without a word in the log.
TEST_P(CompileLeak, NoFileDecidesWhatIsCompiled) {
  if (GetParam() == Way::ptxas) {
    GTEST_SKIP() << "no preprocessor";
  }
  const util::TempDir folder("sweep-planted");
  const auto header = folder.path() / "value.h";
  std::ofstream(header) << "#define VALUE 47\n";
  chmod(folder.path().c_str(), 0755);
  chmod(header.c_str(), 0644);
  const std::string path = header.native();
  for (const std::string& text : {"#include \"" + path + "\"",
                                  "#include <../../../../.." + path + ">",
                                  "#include \"/proc/self/root" + path + "\"",
                                  "#define F \"" + path + "\"\n#include F"}) {
    const compile::Result result = compile_by(
        GetParam(), text + "\n__global__ void k(int* o) { static_assert(VALUE == 47); o[0] = 1; }");
    EXPECT_NE(result.status, Status::ok) << text;
  }
}

TEST_P(CompileLeak, ExistenceIsHidden) {
  if (GetParam() == Way::ptxas) {
    GTEST_SKIP() << "no preprocessor";
  }
  for (const std::string word : {"__has_include", "__has_include_next"}) {
    const auto answer = [&](const std::string& path) {
      return compile_by(GetParam(),
                        "#ifdef " + word + "\n#if " + word + "(\"" + path +
                            "\")\n#error it is there\n#endif\n#endif" + kKernel)
          .log.find("it is there");
    };
    EXPECT_EQ(answer(file.path()), std::string::npos) << word;
    EXPECT_EQ(answer("/etc/passwd"), std::string::npos) << word;
  }
}

// The test can fail: the planted file can be read by this user, and the question is answered for
// what a compiler may read.
TEST_P(CompileLeak, WhatMayBeReadIsRead) {
  EXPECT_THAT(util::read_file(file.path(), 4096), HasSubstr(kSecret));
  if (GetParam() == Way::ptxas) {
    EXPECT_EQ(compile_by(GetParam(), ptx_kernel("")).status, Status::ok);
    return;
  }
  const std::string header = GetParam() == Way::nvrtc ? "cuda_fp16.h" : "/usr/include/math.h";
  const compile::Result result =
      compile_by(GetParam(),
                 "#if !__has_include(\"" + header + "\")\n#error missing\n#endif\n#include \"" +
                     header + "\"" + kKernel);
  EXPECT_EQ(result.status, Status::ok) << result.log;
}

// nvcc gives what it is given to a shell.
TEST_P(CompileLeak, DefinesRunNothing) {
  const util::TempDir folder("sweep-injected");
  chmod(folder.path().c_str(), 0777);
  const std::string mark = (folder.path() / "mark").native();
  const std::string source = GetParam() == Way::ptxas ? ptx_kernel("") : kKernel;
  for (const std::string& text : {"X=`touch " + mark + "`",
                                  "X=$(touch " + mark + ")",
                                  "X;touch " + mark,
                                  "X\ntouch " + mark}) {
    compile::Request request = request_for(GetParam(), source);
    request.defines = {{text, 1}};
    if (GetParam() != Way::ptxas) {
      EXPECT_EQ(compiler().compile(request).status, Status::compile_error) << text;
    }
    request = request_for(GetParam(), source, {"k" + text});
    EXPECT_EQ(compiler().compile(request).status, Status::compile_error) << text;
    request = request_for(GetParam(), source);
    request.file = text + ".cu";
    EXPECT_EQ(compiler().compile(request).status, Status::ok) << text;
  }
  EXPECT_FALSE(std::filesystem::exists(mark));
}

INSTANTIATE_TEST_SUITE_P(Ways,
                         CompileLeak,
                         testing::Values(Way::gxx, Way::nvrtc, Way::nvcc, Way::ptxas),
                         [](const auto& way) { return std::string(name(way.param)); });

}  // namespace
}  // namespace sweep::test

#include "submission/plan.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace sweep::submission {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// "input f32 a[m, k]"
Tensor tensor(const std::string& text) {
  std::istringstream in(text);
  std::string role;
  std::string type;
  std::string rest;
  in >> role >> type;
  std::getline(in, rest);
  Tensor out;
  out.role = role == "input" ? Role::input : (role == "inout" ? Role::inout : Role::output);
  out.type = expr::parse_dtype(type).value();
  const auto open = rest.find('[');
  out.name = rest.substr(1, open - 1);
  std::istringstream shape(rest.substr(open + 1, rest.size() - open - 2));
  for (std::string extent; std::getline(shape, extent, ',');) {
    out.shape.push_back(std::get<expr::Expr>(expr::parse(extent)));
  }
  return out;
}

Signature signature(const json& doc) {
  Signature out;
  out.problem = doc["problem"];
  out.dims = doc["dims"].get<std::vector<std::string>>();
  for (const auto& [name, type] : doc["scalars"].items()) {
    out.scalars.push_back({name, expr::parse_dtype(type.get<std::string>()).value()});
  }
  for (const json& text : doc["tensors"]) {
    out.tensors.push_back(tensor(text));
  }
  return out;
}

Binding binding(const json& doc) {
  Binding out;
  for (const auto& [name, value] : doc["dims"].items()) {
    out.dims[name] = value.get<std::int64_t>();
  }
  for (const auto& [name, value] : doc["scalars"].items()) {
    out.scalars[name] = value.get<double>();
  }
  out.sm_count = doc["sm_count"];
  return out;
}

std::string triple(const std::array<std::int64_t, 3>& e) {
  return "(" + std::to_string(e[0]) + ", " + std::to_string(e[1]) + ", " + std::to_string(e[2]) +
         ")";
}

std::string buffer(const Signature& sig, const Expansion& expansion, std::size_t index) {
  const std::size_t tensors = sig.tensors.size();
  return index < tensors ? sig.tensors[index].name : expansion.scratch.at(index - tensors).name;
}

std::string extents(const std::vector<std::int64_t>& list) {
  std::string out;
  for (const std::int64_t each : list) {
    out += (out.empty() ? "" : "x") + std::to_string(each);
  }
  return out;
}

std::string shown(const BufferRef& ref, const Signature& sig, const Expansion& expansion) {
  return buffer(sig, expansion, ref.buffer) +
         (ref.offset_bytes != 0 ? "+" + std::to_string(ref.offset_bytes) : "");
}

std::string shown(const TensorMap& map, const Signature& sig, const Expansion& expansion) {
  const bool whole = map.steps == std::vector<std::int64_t>(map.dims.size(), 1);
  return "map " + map.name + " of " + shown(map.base, sig, expansion) + ": " + extents(map.dims) +
         " box " + extents(map.box) + (whole ? "" : " stride " + extents(map.steps)) +
         (map.swizzle != 0 ? " swizzle " + std::to_string(map.swizzle) : "") +
         (map.l2_bytes != 0 ? " l2 " + std::to_string(map.l2_bytes) : "") +
         (map.nan_outside ? " nan" : "");
}

std::string shown(const Argument& argument, const Signature& sig, const Expansion& expansion) {
  if (const auto* ref = std::get_if<BufferRef>(&argument)) {
    return shown(*ref, sig, expansion);
  }
  if (const auto* map = std::get_if<MapRef>(&argument)) {
    return shown(expansion.maps.at(map->map), sig, expansion);
  }
  if (const auto* integer = std::get_if<std::int64_t>(&argument)) {
    return std::to_string(*integer);
  }
  return json(std::get<double>(argument)).dump();
}

std::string shown(const Step& step, const Signature& sig, const Expansion& expansion) {
  if (const auto* zero = std::get_if<Zero>(&step)) {
    return "zero " + buffer(sig, expansion, zero->buffer) + " " + std::to_string(zero->bytes);
  }
  if (const auto* copy = std::get_if<Copy>(&step)) {
    return "copy " + buffer(sig, expansion, copy->to) + " " + buffer(sig, expansion, copy->from) +
           " " + std::to_string(copy->bytes);
  }
  const auto& launch = std::get<Launch>(step);
  std::string out = launch.kernel + "<<<" + triple(launch.grid) + ", " + triple(launch.block) +
                    ", " + std::to_string(launch.shared_bytes) +
                    (launch.cluster[0] != 0 ? ", cluster " + triple(launch.cluster) : "") +
                    (launch.cooperative ? ", cooperative" : "") + (launch.pdl ? ", pdl" : "") +
                    ">>>(";
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    out += (i == 0 ? "" : ", ") + shown(launch.arguments[i], sig, expansion);
  }
  return out + ")";
}

std::variant<Expansion, PlanError> run(const std::string& source, const json& doc) {
  auto submission =
      parse("mine.cu", source, doc["overrides"].get<std::map<std::string, std::int64_t>>());
  if (auto* error = std::get_if<PlanError>(&submission)) {
    return *error;
  }
  return expand(
      std::get<Submission>(submission), signature(doc["signature"]), binding(doc["binding"]));
}

void expect_error(const PlanError& error, const json& doc, const std::string& source) {
  ASSERT_TRUE(doc.contains("error")) << error.text(source);
  const json& wanted = doc["error"];
  EXPECT_EQ(error.code, wanted["code"].get<std::string>()) << error.text(source);
  EXPECT_EQ(error.line, wanted["line"].get<int>()) << error.text(source);
  if (!wanted["column"].is_null()) {
    EXPECT_EQ(error.column, wanted["column"].get<int>()) << error.text(source);
  }
  if (wanted.contains("text")) {
    EXPECT_EQ(error.text(source), wanted["text"].get<std::string>());
  }
}

class PlanVector : public testing::TestWithParam<std::string> {};

TEST_P(PlanVector, GivesWhatItsFileSays) {
  const fs::path path = fs::path(SWEEP_SOURCE_DIR) / "tests/vectors/plan" / GetParam();
  const std::string source = read(path.string() + ".cu");
  const json doc = json::parse(read(path.string() + ".json"));
  const auto result = run(source, doc);
  if (const auto* error = std::get_if<PlanError>(&result)) {
    expect_error(*error, doc, source);
    return;
  }
  ASSERT_TRUE(doc.contains("expect")) << "the plan was accepted";
  const auto& expansion = std::get<Expansion>(result);
  const Signature sig = signature(doc["signature"]);
  std::vector<std::string> steps;
  for (const Step& step : expansion.steps) {
    steps.push_back(shown(step, sig, expansion));
  }
  EXPECT_EQ(steps, doc["expect"]["steps"].get<std::vector<std::string>>());
  json scratch = json::array();
  for (const ScratchBuffer& one : expansion.scratch) {
    scratch.push_back({one.name, expr::name(one.type), one.bytes});
  }
  EXPECT_EQ(scratch, doc["expect"]["scratch"]);
  EXPECT_EQ(expansion.skipped_launches, doc["expect"].value("skipped", 0));
  EXPECT_EQ(to_json(expansion, sig)["steps"].size(), steps.size());
}

std::vector<std::string> vectors() {
  std::vector<std::string> out;
  for (const auto& entry :
       fs::directory_iterator(fs::path(SWEEP_SOURCE_DIR) / "tests/vectors/plan")) {
    if (entry.path().extension() == ".cu") {
      out.push_back(entry.path().stem().string());
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

INSTANTIATE_TEST_SUITE_P(Files, PlanVector, testing::ValuesIn(vectors()), [](const auto& param) {
  return param.param;
});

std::set<std::string> codes_in(const std::string& text) {
  const std::regex code("E_PLAN_[A-Z_]+");
  return {std::sregex_token_iterator(text.begin(), text.end(), code), {}};
}

// The closed list of codes in the documentation is the one that the sources use.
TEST(PlanCodes, AreAllDocumented) {
  std::set<std::string> used;
  for (const char* folder : {"src/submission", "src/evaluate", "src/compile", "src/cli"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(SWEEP_SOURCE_DIR) / folder)) {
      if (entry.path().extension() == ".cpp") {
        used.merge(codes_in(read(entry.path())));
      }
    }
  }
  EXPECT_EQ(used, codes_in(read(fs::path(SWEEP_SOURCE_DIR) / "docs/submission.md")));
}

TEST(PlanVectors, AreAtLeastTwenty) {
  EXPECT_GE(vectors().size(), 20U);
}

}  // namespace
}  // namespace sweep::submission

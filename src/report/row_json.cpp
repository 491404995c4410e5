// The JSON of a row.
#include "report/row_fields.h"
#include "util/error.h"

#include <nlohmann/json.hpp>

#include <type_traits>

namespace sweep::report {

namespace {

using Json = nlohmann::json;

constexpr int kSchema = 1;

[[noreturn]] void fail(const std::string& path, const std::string& expected) {
  throw util::InfraError({path, expected + " was expected", "the row is none of this version's"},
                         "E_ROW");
}

class RowWriter {
 public:
  Json out = Json::object();

  template <class T>
  void operator()(const char* name, const T& value) {
    out[name] = encode(value);
  }

 private:
  static Json encode(const std::string& value) { return value; }

  template <class T>
  requires std::is_arithmetic_v<T>

  static Json encode(const T& value) { return value; }

  template <class T>
  static Json encode(const std::optional<T>& value) {
    return value ? encode(*value) : Json(nullptr);
  }

  template <class T>
  static Json encode(const std::vector<T>& value) {
    Json list = Json::array();
    for (const T& one : value) {
      list.push_back(encode(one));
    }
    return list;
  }

  template <class T>
  static Json encode(const std::map<std::string, T>& value) {
    Json object = Json::object();
    for (const auto& [name, one] : value) {
      object[name] = encode(one);
    }
    return object;
  }

  template <class T>
  requires std::is_class_v<T>

  static Json encode(const T& value) {
    RowWriter inner;
    fields(inner, value);
    return std::move(inner.out);
  }
};

class RowReader {
 public:
  RowReader(const Json& from, std::string path) : from_(from), path_(std::move(path)) {
    if (!from.is_object()) {
      fail(path_, "an object");
    }
  }

  template <class T>
  void operator()(const char* name, T& value) {
    const auto found = from_.find(name);
    if (found == from_.end()) {
      fail(path_ + "." + name, "a value");
    }
    ++read_;
    decode(*found, path_ + "." + name, value);
  }

  // Nothing else may be there.
  void end() const {
    if (read_ != from_.size()) {
      fail(path_, std::to_string(read_) + " fields and no others");
    }
  }

 private:
  static void decode(const Json& from, const std::string& path, std::string& value) {
    if (!from.is_string()) {
      fail(path, "a text");
    }
    value = from.get_ref<const std::string&>();
  }

  static void decode(const Json& from, const std::string& path, bool& value) {
    if (!from.is_boolean()) {
      fail(path, "true or false");
    }
    value = from.get<bool>();
  }

  static void decode(const Json& from, const std::string& path, double& value) {
    if (!from.is_number()) {
      fail(path, "a number");
    }
    value = from.get<double>();
  }

  static void decode(const Json& from, const std::string& path, std::int64_t& value) {
    if (!from.is_number_integer()) {
      fail(path, "a whole number");
    }
    value = from.get<std::int64_t>();
  }

  template <class T>
  static void decode(const Json& from, const std::string& path, std::optional<T>& value) {
    value.reset();
    if (!from.is_null()) {
      decode(from, path, value.emplace());
    }
  }

  template <class T>
  static void decode(const Json& from, const std::string& path, std::vector<T>& value) {
    if (!from.is_array()) {
      fail(path, "a list");
    }
    value.clear();
    value.reserve(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      decode(from[i], path + "[" + std::to_string(i) + "]", value.emplace_back());
    }
  }

  template <class T>
  static void decode(const Json& from, const std::string& path, std::map<std::string, T>& value) {
    if (!from.is_object()) {
      fail(path, "an object");
    }
    value.clear();
    for (const auto& [name, one] : from.items()) {
      decode(one, path + "." + name, value[name]);
    }
  }

  template <class T>
  requires std::is_class_v<T>

  static void decode(const Json& from, const std::string& path, T& value) {
    RowReader inner(from, path);
    fields(inner, value);
    inner.end();
  }

  const Json& from_;
  std::string path_;
  std::size_t read_ = 0;
};

}  // namespace

Json to_json(const Row& row) {
  RowWriter writer;
  fields(writer, row);
  writer.out["schema"] = kSchema;
  return std::move(writer.out);
}

Row row_from_json(const Json& from) {
  Row row;
  RowReader reader(from, "row");
  std::int64_t schema = 0;
  reader("schema", schema);
  if (schema != kSchema) {
    fail("row.schema", std::to_string(kSchema));
  }
  fields(reader, row);
  reader.end();
  return row;
}

}  // namespace sweep::report

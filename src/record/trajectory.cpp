#include "record/trajectory.h"

#include "record/json.h"
#include "record/trajectory_fields.h"
#include "util/error.h"

#include <charconv>
#include <type_traits>

namespace sweep::record {

namespace {

using nlohmann::json;

class Writer {
 public:
  json out = json::object();

  template <class T>
  void operator()(const char* name, const T& value) {
    out[name] = encode(value);
  }

  void or_minus_one(const char* name, const std::optional<double>& value) {
    out[name] = value.value_or(-1);
  }

  void number_or_text(const char* name, const std::string& value) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && std::to_string(number) == value) {
      out[name] = number;
    } else {
      out[name] = value;
    }
  }

 private:
  template <class T>
  static json encode(const T& value) {
    if constexpr ((requires { json(value); } && !std::is_class_v<T>) ||
                  std::is_same_v<T, std::string> || std::is_same_v<T, json>) {
      return value;
    } else if constexpr (requires { value.has_value(); }) {
      return value ? encode(*value) : json(nullptr);
    } else if constexpr (
        requires { value.push_back(value.front()); } || requires { value.begin(); }) {
      json list = json::array();
      for (const auto& element : value) {
        list.push_back(encode(element));
      }
      return list;
    } else {
      Writer inner;
      fields(inner, value);
      return std::move(inner.out);
    }
  }
};

// Takes texts and values out of what it reads.
class Reader {
 public:
  Reader(json& from, std::string path) : from_(from), path_(std::move(path)) {
    if (!from.is_object()) {
      fail(path_, "an object");
    }
  }

  template <class T>
  void operator()(const char* name, T& value) {
    const auto found = from_.find(name);
    if (found != from_.end()) {
      decode(*found, path_ + "." + name, value);
    }
  }

  void or_minus_one(const char* name, std::optional<double>& value) {
    (*this)(name, value);
    if (value && *value < 0) {
      value.reset();
    }
  }

  void number_or_text(const char* name, std::string& value) {
    const auto found = from_.find(name);
    if (found != from_.end() && found->is_number_integer()) {
      value = std::to_string(found->get<std::int64_t>());
    } else {
      (*this)(name, value);
    }
  }

 private:
  [[noreturn]] static void fail(const std::string& path, const std::string& expected) {
    throw util::InfraError({path,
                            expected + " was expected",
                            "the trajectory was changed or comes from another program"},
                           "E_TRAJECTORY");
  }

  static void decode(json& from, const std::string&, json& value) { value = std::move(from); }

  static void decode(json& from, const std::string& path, std::string& value) {
    if (from.is_null()) {
      return;
    }
    if (!from.is_string()) {
      fail(path, "a text");
    }
    value = std::move(from.get_ref<std::string&>());
  }

  static void decode(json& from, const std::string& path, bool& value) {
    if (from.is_null()) {
      return;
    }
    if (!from.is_boolean()) {
      fail(path, "true or false");
    }
    value = from.get<bool>();
  }

  static void decode(json& from, const std::string& path, double& value) {
    if (from.is_null()) {
      return;
    }
    if (!from.is_number()) {
      fail(path, "a number");
    }
    value = from.get<double>();
  }

  static void decode(json& from, const std::string& path, std::int64_t& value) {
    if (from.is_null()) {
      return;
    }
    if (!from.is_number_integer()) {
      fail(path, "a whole number");
    }
    value = from.get<std::int64_t>();
  }

  template <class T>
  static void decode(json& from, const std::string& path, std::optional<T>& value) {
    if (from.is_null()) {
      value.reset();
      return;
    }
    decode(from, path, value.emplace());
  }

  template <class T>
  static void decode(json& from, const std::string& path, std::vector<T>& value) {
    if (from.is_null()) {
      return;
    }
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
  requires std::is_class_v<T>

  static void decode(json& from, const std::string& path, T& value) {
    Reader inner(from, path);
    fields(inner, value);
  }

  json& from_;
  std::string path_;
};

}  // namespace

json to_json(const Trajectory& trajectory) {
  Writer writer;
  fields(writer, trajectory);
  // Every prompt and generation carries the marker, also when a turn is copied out of its file.
  writer.out["data_policy"] = trajectory.provenance.data_policy;
  for (json& turn : writer.out["turns"]) {
    turn["data_policy"] = trajectory.provenance.data_policy;
  }
  return std::move(writer.out);
}

Trajectory trajectory_from_json(json from) {
  Trajectory trajectory;
  Reader reader(from, "trajectory");
  fields(reader, trajectory);
  return trajectory;
}

Trajectory parse_trajectory(std::string_view text, const std::string& where) {
  json parsed = parse_bounded(text, where);
  try {
    return trajectory_from_json(std::move(parsed));
  } catch (const util::InfraError& error) {
    throw util::InfraError(
        {where + ": " + error.message().where, error.message().what, error.message().next},
        error.code());
  }
}

}  // namespace sweep::record

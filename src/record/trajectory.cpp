#include "record/trajectory.h"

#include "record/json.h"
#include "record/json_element.h"
#include "record/trajectory_fields.h"
#include "util/error.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <type_traits>
#include <utility>

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

// As Reader, from a text that is parsed but is no tree: only members that are JSON become one. Is
// no longer good() at what Reader would refuse; it is then to say what that is.
class ElementReader {
 public:
  explicit ElementReader(const simdjson::dom::element& from) {
    good_ = from.type() == Type::OBJECT;
    if (!good_) {
      return;
    }
    const simdjson::dom::object object(from);
    members_.reserve(object.size());
    for (const auto& [key, value] : object) {
      members_.emplace_back(key, value);
    }
    // Our own files have them so. Of equal keys the last counts.
    const auto earlier = [](const Member& a, const Member& b) { return a.first < b.first; };
    if (!std::is_sorted(members_.begin(), members_.end(), earlier)) {
      std::stable_sort(members_.begin(), members_.end(), earlier);
    }
  }

  [[nodiscard]] bool good() const { return good_; }

  template <class T>
  void operator()(const char* name, T& value) {
    if (const Element* found = find(name); found != nullptr) {
      decode(*found, value);
    }
  }

  void or_minus_one(const char* name, std::optional<double>& value) {
    (*this)(name, value);
    if (value && *value < 0) {
      value.reset();
    }
  }

  void number_or_text(const char* name, std::string& value) {
    const Element* found = find(name);
    if (found != nullptr && found->type() == Type::INT64) {
      value = std::to_string(std::int64_t(*found));
    } else if (found != nullptr) {
      decode(*found, value);
    }
  }

 private:
  using Element = simdjson::dom::element;
  using Type = simdjson::dom::element_type;
  using Member = std::pair<std::string_view, Element>;

  [[nodiscard]] const Element* find(std::string_view name) const {
    const auto after = std::upper_bound(
        members_.begin(), members_.end(), name, [](std::string_view key, const Member& member) {
          return key < member.first;
        });
    return after != members_.begin() && std::prev(after)->first == name ? &std::prev(after)->second
                                                                        : nullptr;
  }

  // Whether a value is there and of this type.
  bool expect(const Element& from, Type type) {
    good_ = good_ && (from.type() == type || from.type() == Type::NULL_VALUE);
    return from.type() == type;
  }

  void decode(const Element& from, json& value) { convert(from, value); }

  void decode(const Element& from, std::string& value) {
    if (expect(from, Type::STRING)) {
      value = std::string_view(from);
    }
  }

  void decode(const Element& from, bool& value) {
    if (expect(from, Type::BOOL)) {
      value = bool(from);
    }
  }

  void decode(const Element& from, double& value) {
    if (from.type() == Type::INT64) {
      value = static_cast<double>(std::int64_t(from));
    } else if (from.type() == Type::UINT64) {
      value = static_cast<double>(std::uint64_t(from));
    } else if (expect(from, Type::DOUBLE)) {
      value = double(from);
    }
  }

  void decode(const Element& from, std::int64_t& value) {
    if (expect(from, Type::INT64)) {
      value = std::int64_t(from);
    }
  }

  template <class T>
  void decode(const Element& from, std::optional<T>& value) {
    if (from.type() == Type::NULL_VALUE) {
      value.reset();
    } else {
      decode(from, value.emplace());
    }
  }

  template <class T>
  void decode(const Element& from, std::vector<T>& value) {
    if (!expect(from, Type::ARRAY)) {
      return;
    }
    const simdjson::dom::array elements(from);
    value.clear();
    value.reserve(elements.size());
    for (const Element element : elements) {
      decode(element, value.emplace_back());
    }
  }

  template <class T>
  requires std::is_class_v<T>

  void decode(const Element& from, T& value) {
    ElementReader inner(from);
    fields(inner, value);
    good_ = good_ && inner.good();
  }

  std::vector<Member> members_;
  bool good_ = true;
};

constexpr std::size_t kMaxTrajectoryBytes = std::size_t{256} << 20;
constexpr int kMaxTrajectoryDepth = 100;

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
  if (text.size() <= kMaxTrajectoryBytes) {
    ElementParser parser(kMaxTrajectoryDepth);
    if (const auto root = parser.parse(text); root) {
      Trajectory trajectory;
      ElementReader reader(*root);
      fields(reader, trajectory);
      if (reader.good()) {
        return trajectory;
      }
    }
  }
  json parsed = parse_bounded(text, where, kMaxTrajectoryBytes, kMaxTrajectoryDepth);
  try {
    return trajectory_from_json(std::move(parsed));
  } catch (const util::InfraError& error) {
    throw util::InfraError(
        {where + ": " + error.message().where, error.message().what, error.message().next},
        error.code());
  }
}

std::int64_t rules_of(const FinalResult& result) {
  constexpr std::int64_t kFirst = 1;
  if (!result.evaluation.is_object()) {
    return 0;
  }
  const auto found = result.evaluation.find("rules");
  return found != result.evaluation.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                                        : kFirst;
}

}  // namespace sweep::record

#include "agent/exchange_record.h"

#include "record/artifacts.h"
#include "record/json.h"
#include "util/error.h"

#include <nlohmann/json.hpp>

namespace sweep::agent {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxRecord = std::size_t{64} << 20;
constexpr std::size_t kMaxTries = 10'000;

json try_json(record::ItemServices& record, const endpoint::Try& one) {
  json headers = json::array();
  for (const http::Header& header : one.headers)
    headers.push_back({header.name, header.value});
  json arrivals = json::array();
  for (const http::Arrival& arrival : one.arrivals)
    arrivals.push_back({arrival.bytes, arrival.seconds});
  return {{"request", record.put_artifact(one.request)},
          {"status", one.status},
          {"headers", headers},
          {"response", record.put_artifact(one.response)},
          {"arrivals", arrivals},
          {"first_byte_s", one.first_byte_seconds},
          {"seconds", one.seconds},
          {"outcome", one.outcome},
          {"fault", one.fault}};
}

[[noreturn]] void damaged(const std::string& where, const std::string& what) {
  throw util::InfraError({where, what, "the run's artifacts are damaged or of another program"},
                         "E_EXCHANGE_RECORD");
}

// The field of that type, or damaged().
template <class T>
T field(const json& object, const char* key, const std::string& where) {
  try {
    return object.at(key).get<T>();
  } catch (const json::exception&) {
    damaged(where, std::string(key) + " is missing or of the wrong type");
  }
}

std::string body(const json& object,
                 const char* key,
                 const GetArtifact& get,
                 const std::string& where) {
  const auto hash = field<std::string>(object, key, where);
  if (!record::is_sha256(hash))
    damaged(where, std::string(key) + " is no hash");
  return get(hash);
}

endpoint::Try try_from(const json& one, const GetArtifact& get, const std::string& where) {
  endpoint::Try out;
  out.request = body(one, "request", get, where);
  out.response = body(one, "response", get, where);
  out.status = field<int>(one, "status", where);
  if (out.status != 0 && (out.status < 100 || out.status > 999))
    damaged(where, "status is no HTTP status");
  using Pair = std::pair<std::string, std::string>;
  for (const Pair& header : field<std::vector<Pair>>(one, "headers", where))
    out.headers.push_back({header.first, header.second});
  using Point = std::pair<std::size_t, double>;
  for (const Point& point : field<std::vector<Point>>(one, "arrivals", where))
    out.arrivals.push_back({point.first, point.second});
  out.first_byte_seconds = field<double>(one, "first_byte_s", where);
  out.seconds = field<double>(one, "seconds", where);
  out.outcome = field<std::string>(one, "outcome", where);
  out.fault = field<std::string>(one, "fault", where);
  return out;
}

}  // namespace

std::string put_exchange(record::ItemServices& record, const endpoint::Exchange& exchange) {
  if (exchange.tries.empty())
    return {};
  json tries = json::array();
  for (const endpoint::Try& one : exchange.tries)
    tries.push_back(try_json(record, one));
  return record.put_artifact(
      record::canonical({{"schema", 1}, {"path", exchange.path}, {"tries", tries}}));
}

endpoint::Exchange get_exchange(const GetArtifact& get, const std::string& sha256) {
  const std::string where = "artifacts/" + sha256;
  const json stored = record::parse_bounded(get(sha256), where, kMaxRecord);
  const auto tries = stored.is_object() ? stored.find("tries") : stored.end();
  if (!stored.is_object() || tries == stored.end() || !tries->is_array() || tries->empty() ||
      tries->size() > kMaxTries)
    damaged(where, "tries is no list of tries");
  endpoint::Exchange out;
  out.path = field<std::string>(stored, "path", where);
  if (!out.path.starts_with('/'))
    damaged(where, "path does not begin with a slash");
  for (const json& one : *tries)
    out.tries.push_back(try_from(one, get, where));
  out.request = out.tries.back().request;
  out.response = out.tries.back().response;
  return out;
}

}  // namespace sweep::agent

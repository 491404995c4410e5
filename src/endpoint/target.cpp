#include "endpoint/target.h"

#include "config/config.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sweep::endpoint {

Target target_of(const config::Model& model, std::string base_url, Secret key) {
  Target out;
  out.api = model.api_kind == config::ApiKind::chat ? Api::chat : Api::responses;
  out.profile = resolve(model.endpoint, base_url);
  out.base_url = std::move(base_url);
  out.model = model.deployment_name;
  out.key = std::move(key);
  out.send_reasoning = !model.omit_responses_reasoning;
  out.stream = model.stream;
  const auto total =
      std::chrono::milliseconds(static_cast<std::int64_t>(model.request_timeout_s * 1000));
  out.limits.total = total;
  out.limits.first_byte = std::min(out.limits.first_byte, total);
  out.limits.idle = std::min(out.limits.idle, total);
  return out;
}

}  // namespace sweep::endpoint

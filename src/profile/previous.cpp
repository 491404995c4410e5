#include "profile/previous.h"

#include "compile/cache.h"
#include "util/error.h"
#include "util/file.h"
#include "util/sha256.h"
#include "util/text.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

namespace sweep::profile {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

fs::path file_for(const evaluate::Services& services,
                  const evaluate::EvaluationRequest& request,
                  const device::Info& info,
                  const NcuReport& report) {
  std::error_code error;
  const fs::path absolute = fs::absolute(request.submission.file, error);
  const std::string key = util::sha256_hex(absolute.string() + "\n" + request.problem + "\n" +
                                           report.shape + "\n" + info.uuid);
  const fs::path cache = services.cache.empty() ? compile::default_cache_folder() : services.cache;
  return cache / "profiles" / (key + ".json");
}

json read(const fs::path& file) {
  try {
    return wire::parse_object(util::read_file(file, kMostBytes, util::Links::refuse),
                              file.string());
  } catch (const util::Error&) {
    return json::object();
  }
}

}  // namespace

json summary_of(const NcuReport& report) {
  json kernels = json::array();
  for (const KernelProfile& kernel : report.kernels) {
    json metrics = json::object();
    for (const Metric& metric : kernel.metrics) {
      if (metric.value) {
        metrics[metric.key] = *metric.value;
      }
    }
    kernels.push_back(
        {{"kernel", util::to_valid_utf8(kernel.kernel)}, {"metrics", std::move(metrics)}});
  }
  return {{"schema", 1}, {"kernels", std::move(kernels)}};
}

void compare_with(const json& body, NcuReport& report) {
  if (!body.is_object() || body.value("schema", json()) != 1 || !body.contains("kernels") ||
      !body.at("kernels").is_array()) {
    return;
  }
  const json& kernels = body.at("kernels");
  for (std::size_t i = 0; i < std::min(kernels.size(), report.kernels.size()); ++i) {
    const json& before = kernels[i];
    if (!before.is_object() || !before.contains("metrics") ||
        before.value("kernel", json()) != util::to_valid_utf8(report.kernels[i].kernel)) {
      continue;
    }
    for (Metric& metric : report.kernels[i].metrics) {
      const json& metrics = before.at("metrics");
      const auto found = metrics.is_object() ? metrics.find(metric.key) : metrics.end();
      if (found != metrics.end() && found->is_number()) {
        metric.before = found->get<double>();
        report.compared = true;
      }
    }
  }
}

void compare_with_previous(const evaluate::Services& services,
                           const evaluate::EvaluationRequest& request,
                           const device::Info& info,
                           NcuReport& report) {
  const fs::path file = file_for(services, request, info, report);
  compare_with(read(file), report);
  try {
    util::make_folders(file.parent_path());
    util::write_file_atomic(file, summary_of(report).dump());
  } catch (const util::Error&) {
    return;
  }
}

}  // namespace sweep::profile

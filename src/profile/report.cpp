#include "profile/report.h"

#include "profile/dump_files.h"
#include "profile/ncu.h"
#include "profile/sanitizer.h"
#include "profile/sass_report.h"
#include "profile/subject.h"
#include "util/error.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

namespace sweep::profile {
namespace {

using nlohmann::json;

json to_json(const Unavailable& missing) {
  return {{"unavailable", util::to_valid_utf8(missing.what)},
          {"next", util::to_valid_utf8(missing.next)}};
}

json to_json(const SassFunction& function) {
  json mix = json::object();
  for (const auto& [kind, count] : function.mix) {
    mix[std::string(name(kind))] = count;
  }
  return {{"symbol", util::to_valid_utf8(function.symbol)},
          {"instructions", function.instructions},
          {"mix", std::move(mix)},
          {"opcodes", function.opcodes}};
}

json known(int value) {
  return value < 0 ? json(nullptr) : json(value);
}

json to_json(const SassReport& report) {
  json kernels = json::array();
  for (const KernelSass& kernel : report.kernels) {
    json body = to_json(kernel.code);
    body["name"] = util::to_valid_utf8(kernel.name);
    body["registers"] = known(kernel.registers);
    body["spill_bytes"] = known(kernel.spill_bytes);
    body["shared_bytes"] = known(kernel.shared_bytes);
    body["stack_bytes"] = known(kernel.stack_bytes);
    kernels.push_back(std::move(body));
  }
  json others = json::array();
  for (const SassFunction& function : report.others) {
    others.push_back(to_json(function));
  }
  return {{"arch", report.arch},
          {"tool", report.tool},
          {"kernels", std::move(kernels)},
          {"functions", std::move(others)},
          {"complete", report.complete}};
}

json to_json(const Finding& finding) {
  return {{"kind", finding.kind},
          {"kernel", finding.kernel},
          {"offset", finding.offset},
          {"thread", finding.thread},
          {"block", finding.block},
          {"address", finding.address},
          {"detail", finding.detail},
          {"count", finding.count}};
}

json to_json(const SanitizerLog& log) {
  json findings = json::array();
  for (const Finding& finding : log.findings) {
    findings.push_back(to_json(finding));
  }
  return {{"findings", std::move(findings)},
          {"reported", log.reported < 0 ? json(nullptr) : json(log.reported)},
          {"notes", log.notes},
          {"complete", log.complete}};
}

template <class T>
json to_json(const Result<T>& result);

json to_json(const SanitizerReport& report) {
  json checkers = json::object();
  for (const CheckerResult& checker : report.checkers) {
    checkers[checker.checker] = to_json(checker.log);
  }
  return {{"tool", report.tool}, {"shape", report.shape}, {"checkers", std::move(checkers)}};
}

json to_json(const std::vector<Share>& shares) {
  json list = json::array();
  for (const Share& share : shares) {
    list.push_back({{"name", share.name}, {"percent", share.percent}});
  }
  return list;
}

json to_json(const KernelProfile& kernel) {
  json metrics = json::object();
  json missing = json::object();
  json before = json::object();
  for (const Metric& metric : kernel.metrics) {
    metrics[metric.key] = metric.value ? json(*metric.value) : json(nullptr);
    if (!metric.value) {
      missing[metric.key] = metric.reason;
    }
    if (metric.before) {
      before[metric.key] = *metric.before;
    }
  }
  return {{"kernel", kernel.kernel},
          {"grid", kernel.grid},
          {"block", kernel.block},
          {"metrics", std::move(metrics)},
          {"missing", std::move(missing)},
          {"previous", std::move(before)},
          {"stalls", to_json(kernel.stalls)},
          {"pipes", to_json(kernel.pipes)},
          {"occupancy_limits", kernel.limits}};
}

json to_json(const NcuReport& report) {
  json kernels = json::array();
  for (const KernelProfile& kernel : report.kernels) {
    kernels.push_back(to_json(kernel));
  }
  return {{"tool", report.tool},
          {"shape", report.shape},
          {"launches", report.launches},
          {"kernels", std::move(kernels)}};
}

template <class T>
json to_json(const Result<T>& result) {
  return std::visit([](const auto& value) { return to_json(value); }, result);
}

// `tool` on the subject; why there is none where its plan cannot be read. A tool that breaks costs
// its own figures, not the verdict that was reached.
template <class T, class Run>
Result<T> with(const Result<Subject>& subject, const Run& tool) {
  const auto* made = std::get_if<Subject>(&subject);
  if (made == nullptr) {
    return std::get<Unavailable>(subject);
  }
  try {
    return tool(*made);
  } catch (const util::Interrupted&) {
    throw;
  } catch (const util::Error& error) {
    return Unavailable{error.message().where + ": " + error.message().what, error.message().next};
  }
}

void look(const Result<Subject>& subject,
          const evaluate::EvaluationRequest& request,
          const Wanted& wanted,
          DumpFolder* dump,
          Report& report) {
  const DisassembleOptions options{wanted.search, request.allow_unsandboxed};
  Result<SassReport> sass = with<SassReport>(
      subject, [&options](const Subject& made) { return sass_report(made, options); });
  if (dump != nullptr) {
    write_sass(*dump, sass, report.left_out);
  }
  if (wanted.sass) {
    report.sass = std::move(sass);
  }
}

}  // namespace

Report inspect(const evaluate::EvaluationRequest& request,
               const evaluate::Services& services,
               const evaluate::Evaluation& evaluation,
               const Wanted& wanted,
               DumpFolder* dump,
               const std::function<void(const std::string&)>& say) {
  Report report;
  const auto now = [&say](const std::string& what) {
    if (say) {
      say(what);
    }
  };
  const bool gpu =
      request.device.kind == device::Kind::cuda && !evaluation.device_info.arch.empty();
  const std::string arch = gpu ? evaluation.device_info.arch : wanted.arch;
  now("compile for " + arch);
  const Result<Subject> subject = compile_subject(request, services, arch);
  if (dump != nullptr) {
    report.dump = dump->path();
    write_subject(*dump, request, evaluation, subject, report.left_out);
  }
  if (wanted.sass || dump != nullptr) {
    now("disassemble");
    look(subject, request, wanted, dump, report);
  }
  if (wanted.sanitize) {
    now("compute-sanitizer");
    report.sanitize = with<SanitizerReport>(subject, [&](const Subject& made) {
      return sanitize(request, services, evaluation, made, wanted);
    });
  }
  if (wanted.profile) {
    now("ncu");
    report.profile = with<NcuReport>(subject, [&](const Subject& made) {
      return profile(request, services, evaluation, made, wanted);
    });
  }
  if (dump != nullptr) {
    write_tools(*dump, report);
    report.written = dump->written();
    write_result(*dump, evaluation, report);
    report.written = dump->written();
  }
  return report;
}

json to_json(const Report& report) {
  json body = json::object();
  if (report.sass) {
    body["sass"] = to_json(*report.sass);
  }
  if (report.sanitize) {
    body["sanitize"] = to_json(*report.sanitize);
  }
  if (report.profile) {
    body["profile"] = to_json(*report.profile);
  }
  if (!report.dump.empty()) {
    json files = json::object();
    for (const DumpFolder::Written& file : report.written) {
      files[file.name] = file.bytes;
    }
    json left_out = json::array();
    for (const std::string& reason : report.left_out) {
      left_out.push_back(util::to_valid_utf8(reason));
    }
    body["dump"] = {{"folder", util::to_valid_utf8(report.dump.string())},
                    {"files", std::move(files)},
                    {"left_out", std::move(left_out)}};
  }
  return body;
}

}  // namespace sweep::profile

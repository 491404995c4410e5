#include "profile/dump_files.h"

#include "problem/fill.h"
#include "util/text.h"

#include <nlohmann/json.hpp>

namespace sweep::profile {
namespace {

using nlohmann::json;

// Of a GPU that is not there; screening assumes the same.
constexpr std::int64_t kAssumedSms = 132;

std::string text_of(const json& body) {
  return body.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

json scalars_of(const submission::Signature& signature, const problem::Draw& draw) {
  json body = json::object();
  for (const submission::Scalar& scalar : signature.scalars) {
    const auto found = draw.scalars.find(scalar.name);
    if (found != draw.scalars.end()) {
      std::visit([&](const auto& value) { body[scalar.name] = value; }, found->second);
    }
  }
  return body;
}

json shape_of(const VisibleShape& shape, const submission::Signature& signature) {
  json dims = json::object();
  for (const auto& [name, value] : shape.draw.dims) {
    dims[name] = value;
  }
  return {{"shape", shape.place.name},
          {"content", shape.draw.content},
          {"dims", std::move(dims)},
          {"scalars", scalars_of(signature, shape.draw)}};
}

json plan_of(const Subject& subject,
             const VisibleShape& shape,
             const evaluate::Evaluation& evaluation) {
  json body = shape_of(shape, subject.code.signature);
  const bool judged = evaluation.device_info.sm_count > 1;
  const std::int64_t sms = judged ? evaluation.device_info.sm_count : kAssumedSms;
  bool asked = false;
  auto expanded = evaluate::expand_for(
      subject.code.submission,
      subject.code.signature,
      shape.draw,
      sms,
      [&asked](const std::string&, std::int64_t, std::int64_t) {
        asked = true;
        return std::int64_t{1};
      },
      subject.problem.limits.launches,
      false);
  body["sm_count"] = sms;
  if (asked) {
    body["note"] = "occupancy() is taken as 1 here; the judge asks the device";
  }
  if (const auto* error = std::get_if<submission::PlanError>(&expanded)) {
    body["error"] = error->what;
  } else {
    body["plan"] =
        submission::to_json(std::get<submission::Expansion>(expanded), subject.code.signature);
  }
  return body;
}

std::string_view role_name(problem::Role role) {
  return role == problem::Role::input    ? "input"
         : role == problem::Role::inout  ? "inout"
         : role == problem::Role::output ? "output"
                                         : "aux";
}

// What the tensors of each visible shape are, and how they are filled; not their contents.
json inputs_of(const Subject& subject,
               const std::vector<VisibleShape>& shapes,
               std::uint64_t seed) {
  json list = json::array();
  for (const VisibleShape& shape : shapes) {
    json body = shape_of(shape, subject.code.signature);
    json tensors = json::array();
    for (const problem::Tensor& tensor : subject.problem.tensors) {
      if (tensor.role == problem::Role::aux) {
        continue;
      }
      const problem::ConcreteTensor made = problem::concrete(subject.problem, tensor, shape.draw);
      tensors.push_back({{"name", made.name},
                         {"role", role_name(made.role)},
                         {"type", expr::name(made.type)},
                         {"shape", made.stacked},
                         {"bytes", made.bytes},
                         {"fill", tensor.fill ? json(tensor.fill->expr.text()) : json(nullptr)}});
    }
    body["tensors"] = std::move(tensors);
    list.push_back(std::move(body));
  }
  return {{"problem", subject.problem.id}, {"seed", seed}, {"shapes", std::move(list)}};
}

std::string_view as_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_code(DumpFolder& dump, const Subject& subject, std::vector<std::string>& left_out) {
  if (subject.uncompiled) {
    left_out.push_back("kernel.ptx, kernel.cubin: " + subject.uncompiled->text());
    return;
  }
  if (subject.compiled.ptx.empty()) {
    left_out.emplace_back("kernel.ptx: the compiler gave none");
  } else {
    dump.write("kernel.ptx", subject.compiled.ptx);
  }
  dump.write("kernel.cubin", as_text(subject.compiled.image.bytes));
}

}  // namespace

void write_subject(DumpFolder& dump,
                   const evaluate::EvaluationRequest& request,
                   const evaluate::Evaluation& evaluation,
                   const Result<Subject>& made,
                   std::vector<std::string>& left_out) {
  const bool ptx = request.submission.file.ends_with(".ptx");
  dump.write(ptx ? "source.ptx" : "source.cu", request.submission.text);
  std::string log = evaluation.compile ? evaluation.compile->log : "";
  const auto* subject = std::get_if<Subject>(&made);
  if (subject == nullptr) {
    left_out.push_back("plans, code and inputs: " + std::get<Unavailable>(made).text());
    dump.write("compile.log", log);
    return;
  }
  const std::vector<VisibleShape> shapes = visible_shapes(subject->problem, request);
  for (const VisibleShape& shape : shapes) {
    dump.write("plan_" + util::encode_path_part(shape.place.name) + ".json",
               text_of(plan_of(*subject, shape, evaluation)));
  }
  dump.write("inputs.json", text_of(inputs_of(*subject, shapes, request.seed)));
  if (request.device.kind == device::Kind::cpu && !subject->compiled.log.empty()) {
    log += "--- for " + subject->arch + "\n" + subject->compiled.log;
  }
  dump.write("compile.log", log);
  write_code(dump, *subject, left_out);
}

void write_sass(DumpFolder& dump,
                const Result<SassReport>& sass,
                std::vector<std::string>& left_out) {
  if (const auto* made = std::get_if<SassReport>(&sass)) {
    dump.write("kernel.sass", made->text);
  } else {
    left_out.push_back("kernel.sass: " + std::get<Unavailable>(sass).text());
  }
}

void write_tools(DumpFolder& dump, const Report& report) {
  const auto* sanitizer =
      report.sanitize ? std::get_if<SanitizerReport>(&*report.sanitize) : nullptr;
  if (sanitizer != nullptr) {
    for (const CheckerResult& checker : sanitizer->checkers) {
      dump.write("sanitizer_" + checker.checker + ".txt", checker.text);
    }
  }
  const auto* ncu = report.profile ? std::get_if<NcuReport>(&*report.profile) : nullptr;
  if (ncu != nullptr) {
    dump.write("profile.ncu-rep", ncu->report);
    dump.write("ncu.txt", ncu->log);
  }
}

void write_result(DumpFolder& dump, const evaluate::Evaluation& evaluation, const Report& report) {
  json body = evaluate::to_json(evaluation, evaluate::View::archive);
  body["tools"] = to_json(report);
  dump.write("result.json", text_of(body));
}

}  // namespace sweep::profile

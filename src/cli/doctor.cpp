#include "cli/doctor.h"

#include "cli/calibrate_view.h"
#include "cli/installation.h"
#include "compile/compiler.h"
#include "device/describe.h"
#include "evaluate/calibration.h"
#include "evaluate/sandboxes.h"
#include "profile/tools.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/sandbox.h"
#include "util/text.h"

#include <filesystem>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

// What to do about a protection that is missing.
std::string cure_of(std::string_view protection) {
  if (protection == "landlock") {
    return "needs Linux 5.13 with CONFIG_SECURITY_LANDLOCK and landlock among the lsm= of the boot "
           "line; a container's seccomp profile must let it through";
  }
  if (protection == "seccomp") {
    return "needs a kernel with CONFIG_SECCOMP_FILTER";
  }
  if (protection == "process limit" || protection == "user") {
    return "start sweep as an ordinary user, or as root with CAP_SYS_ADMIN, CAP_SETUID, CAP_SETGID "
           "and CAP_CHOWN";
  }
  return "allow user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0, "
         "user.max_user_namespaces above 0), in a container also --cap-add SYS_ADMIN or its "
         "seccomp profile";
}

void add_sandbox(std::vector<Diagnosis>& findings,
                 const std::string& whose,
                 const std::vector<util::Protection>& protections) {
  for (const util::Protection& protection : protections) {
    const bool cure = !protection.active && protection.mandatory;
    findings.push_back({whose + "'s sandbox",
                        protection.name,
                        protection.active,
                        protection.mandatory,
                        protection.detail,
                        cure ? cure_of(protection.name) : ""});
  }
}

void add_protections(std::vector<Diagnosis>& findings, device::Kind asked) {
  add_sandbox(findings, "compiler", util::probe_sandbox());
  try {
    const evaluate::Sandboxes found = evaluate::probe_sandboxes(program_path(), asked);
    add_sandbox(findings, "judge", found.judge);
    add_sandbox(findings, "runner", found.runner);
  } catch (const util::Error& error) {
    findings.push_back({"judge's sandbox", "start", false, true, error.what(), ""});
  }
}

void add_toolchain(std::vector<Diagnosis>& findings, device::Kind asked) {
  const compile::Compiler compiler;
  const compile::Toolchain& tools = compiler.toolchain();
  const auto row =
      [&](const char* name, const std::string& version, const std::string& reason, bool needed) {
        findings.push_back(
            {"compiler", name, !version.empty(), needed, version.empty() ? reason : version, ""});
      };
  row("g++", tools.gxx, tools.gxx_reason, asked == device::Kind::cpu);
  row("NVRTC", tools.nvrtc, tools.nvrtc_reason, asked == device::Kind::cuda);
  row("ptxas", tools.ptxas, tools.ptxas_reason, false);
  row("nvcc", tools.nvcc, tools.nvcc_reason, false);
}

// Of `sweep eval --sass --sanitize --profile`.
void add_tools(std::vector<Diagnosis>& findings) {
  using profile::Tool;
  const profile::ToolSearch search = profile::default_search();
  for (const Tool tool : {Tool::nvdisasm, Tool::cuobjdump, Tool::compute_sanitizer, Tool::ncu}) {
    const auto found = profile::find_tool(tool, search);
    const auto* path = std::get_if<std::filesystem::path>(&found);
    Diagnosis row{"profiling", profile::name(tool), path != nullptr, false, "", ""};
    row.detail = path != nullptr ? path->string() : std::get<profile::Unavailable>(found).what;
    row.cure = path != nullptr ? "" : std::get<profile::Unavailable>(found).next;
    findings.push_back(std::move(row));
  }
}

std::string facts(const device::Info& info) {
  std::string out = info.name;
  out += info.driver.empty() ? "" : ", driver " + info.driver;
  out +=
      fmt::format(", {}, {} {}", info.arch, info.sm_count, info.driver.empty() ? "cores" : "SMs");
  return out + (info.total_bytes > 0 ? ", " + util::human_bytes(info.total_bytes) : "");
}

// Whether kernels are held to the buffers that were mapped for them.
Diagnosis reach_of(const device::Listed& listed) {
  const bool weak = device::pageable_memory(listed.id);
  return {"device",
          device::text(listed.id) + " memory",
          !weak,
          false,
          weak ? "PAGEABLE_MEMORY_ACCESS is 1: kernels reach all memory of their runner, and "
                 "results say `sealed: weak`"
               : "PAGEABLE_MEMORY_ACCESS is 0: kernels reach only what was mapped for them",
          weak ? "load nvidia-uvm with uvm_disable_hmm=1 (not where CPU and GPU share page tables)"
               : ""};
}

// How much is known of the device's noise.
Diagnosis calibration_of(const device::Listed& listed) {
  util::RealClock clock;
  const evaluate::FoundCalibration found = evaluate::find_calibration({}, listed.info);
  const double days = found.calibration ? (clock.wall() - found.calibration->made) / 86400 : 0;
  const bool old = days > evaluate::kCalibrationDays;
  const bool good = found.calibration && !old;
  const std::string command = "sweep calibrate --device " + device::text(listed.id);
  return {"device",
          device::text(listed.id) + " calibration",
          good,
          false,
          calibration_line(found, clock.wall()) + (old ? ", old" : ""),
          good ? "" : command + " (evaluations take 1% as margin without)"};
}

void add_devices(std::vector<Diagnosis>& findings, device::Id asked) {
  bool known = false;
  for (const device::Listed& listed : device::list()) {
    const bool needed = listed.id.kind == asked.kind && listed.id.index == asked.index;
    known = known || needed;
    findings.push_back({"device",
                        device::text(listed.id),
                        listed.usable,
                        needed,
                        listed.usable ? facts(listed.info) : listed.reason,
                        ""});
    if (listed.usable && listed.id.kind == device::Kind::cuda) {
      findings.push_back(reach_of(listed));
      findings.push_back(calibration_of(listed));
    }
  }
  if (!known) {
    findings.push_back(
        {"device", device::text(asked), false, true, "no such GPU is listed by the driver", ""});
  }
}

void add_places(std::vector<Diagnosis>& findings) {
  try {
    findings.push_back({"files", "problems, seeds", true, true, data_root().string(), ""});
    std::size_t ready = 0;
    const problem::Catalog catalog = open_catalog();
    for (const problem::Entry& entry : catalog.entries()) {
      ready += entry.planned() ? 0U : 1U;
    }
    findings.push_back({"files",
                        "catalogue",
                        ready > 0,
                        true,
                        fmt::format("{} problems, {} ready", catalog.entries().size(), ready),
                        ""});
  } catch (const util::Error& error) {
    findings.push_back({"files", "problems, seeds", false, true, error.what(), ""});
  }
}

}  // namespace

std::vector<Diagnosis> examine_machine(device::Id asked) {
  std::vector<Diagnosis> findings;
  add_devices(findings, asked);
  add_toolchain(findings, asked.kind);
  add_tools(findings);
  add_protections(findings, asked.kind);
  add_places(findings);
  return findings;
}

}  // namespace sweep::cli

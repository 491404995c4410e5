#include "cli/command.h"
#include "cli/installation.h"
#include "cli/options.h"
#include "cli/style.h"
#include "compile/compiler.h"
#include "device/device.h"
#include "util/error.h"
#include "util/sandbox.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

// One row of the report. `needed`: without it model code is refused or the asked device does not
// work.
struct Finding {
  std::string group;
  std::string name;
  bool good = false;
  bool needed = false;
  std::string detail;
};

void add_protections(std::vector<Finding>& findings) {
  for (const util::Protection& protection : util::probe_sandbox()) {
    findings.push_back({"protection",
                        protection.name,
                        protection.active,
                        protection.mandatory,
                        protection.detail});
  }
}

void add_toolchain(std::vector<Finding>& findings, device::Kind asked) {
  const compile::Compiler compiler;
  const compile::Toolchain& tools = compiler.toolchain();
  const auto row =
      [&](const char* name, const std::string& version, const std::string& reason, bool needed) {
        findings.push_back(
            {"compiler", name, !version.empty(), needed, version.empty() ? reason : version});
      };
  row("g++", tools.gxx, tools.gxx_reason, asked == device::Kind::cpu);
  row("NVRTC", tools.nvrtc, tools.nvrtc_reason, asked == device::Kind::cuda);
  row("ptxas", tools.ptxas, tools.ptxas_reason, false);
  row("nvcc", tools.nvcc, tools.nvcc_reason, false);
}

std::string facts(const device::Info& info) {
  std::string out = info.name;
  out += info.driver.empty() ? "" : ", driver " + info.driver;
  out +=
      fmt::format(", {}, {} {}", info.arch, info.sm_count, info.driver.empty() ? "cores" : "SMs");
  return out + (info.total_bytes > 0 ? ", " + util::human_bytes(info.total_bytes) : "");
}

void add_devices(std::vector<Finding>& findings, device::Id asked) {
  bool cuda = false;
  for (const device::Listed& listed : device::list()) {
    cuda = cuda || listed.id.kind == device::Kind::cuda;
    const bool needed = listed.id.kind == asked.kind && listed.id.index == asked.index;
    findings.push_back({"device",
                        device::text(listed.id),
                        listed.usable,
                        needed,
                        listed.usable ? facts(listed.info) : listed.reason});
  }
  if (asked.kind == device::Kind::cuda && !cuda) {
    findings.push_back(
        {"device", device::text(asked), false, true, "no such GPU is listed by the driver"});
  }
}

void add_places(std::vector<Finding>& findings) {
  try {
    findings.push_back({"files", "problems, seeds", true, true, data_root().string()});
    std::size_t ready = 0;
    const problem::Catalog catalog = open_catalog();
    for (const problem::Entry& entry : catalog.entries()) {
      ready += entry.planned() ? 0U : 1U;
    }
    findings.push_back({"files",
                        "catalogue",
                        ready > 0,
                        true,
                        fmt::format("{} problems, {} ready", catalog.entries().size(), ready)});
  } catch (const util::Error& error) {
    findings.push_back({"files", "problems, seeds", false, true, error.what()});
  }
}

void print(const std::vector<Finding>& findings, bool good, device::Id asked) {
  const Style style = Style::for_stdout();
  std::string group;
  for (const Finding& finding : findings) {
    if (finding.group != group) {
      group = finding.group;
      std::cout << style.strong(group) << '\n';
    }
    const std::string mark = finding.good     ? style.good("ok     ")
                             : finding.needed ? style.bad("MISSING")
                                              : style.dim("absent ");
    std::cout << "  " << mark << "  " << pad_right(finding.name, 20)
              << util::printable(finding.detail) << '\n';
  }
  const std::string what = "ready for --device " + device::text(asked);
  std::cout << (good ? style.good(what)
                     : style.bad("not " + what + ": see the rows marked MISSING"))
            << '\n';
}

}  // namespace

int run_doctor(const std::vector<std::string>& arguments) {
  std::string device = "cpu";
  GlobalOptions global;
  CLI::App app{"Says what this machine can do and what it lacks.", "sweep doctor"};
  app.add_option("--device", device, "judge the machine for this device: cpu, cuda or cuda:N")
      ->capture_default_str();
  add_global_options(app, global);
  parse(app, arguments);
  const device::Id asked = device::parse_id(device);
  std::vector<Finding> findings;
  add_devices(findings, asked);
  add_toolchain(findings, asked.kind);
  add_protections(findings);
  add_places(findings);
  const bool good = std::none_of(
      findings.begin(), findings.end(), [](const Finding& f) { return f.needed && !f.good; });
  if (global.json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const Finding& f : findings) {
      rows.push_back({{"group", f.group},
                      {"name", f.name},
                      {"ok", f.good},
                      {"needed", f.needed},
                      {"detail", f.detail}});
    }
    std::cout << nlohmann::json{{"schema", 1}, {"ready", good}, {"findings", rows}}.dump(
                     2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    print(findings, good, asked);
  }
  return good ? kDone : kInfra;
}

}  // namespace sweep::cli

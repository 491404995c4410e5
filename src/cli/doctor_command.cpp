#include "cli/command.h"
#include "cli/doctor.h"
#include "cli/options.h"
#include "cli/style.h"
#include "device/device.h"
#include "util/text.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace sweep::cli {

namespace {

void print(const std::vector<Diagnosis>& findings, bool good, device::Id asked) {
  const Style style = Style::for_stdout();
  std::string group;
  for (const Diagnosis& finding : findings) {
    if (finding.group != group) {
      group = finding.group;
      std::cout << style.strong(group) << '\n';
    }
    const std::string mark = finding.good     ? style.good("ok     ")
                             : finding.needed ? style.bad("MISSING")
                                              : style.dim("absent ");
    std::cout << "  " << mark << "  " << pad_right(finding.name, 20)
              << util::printable(finding.detail) << '\n';
    if (!finding.cure.empty()) {
      std::cout << "           " << pad_right("", 20) << util::printable(finding.cure) << '\n';
    }
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
  const std::vector<Diagnosis> findings = examine_machine(asked);
  const bool good = std::none_of(
      findings.begin(), findings.end(), [](const Diagnosis& f) { return f.needed && !f.good; });
  if (global.json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const Diagnosis& f : findings) {
      rows.push_back({{"group", f.group},
                      {"name", f.name},
                      {"ok", f.good},
                      {"needed", f.needed},
                      {"detail", f.detail},
                      {"cure", f.cure}});
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

#include "cli/tools_view.h"

#include "cli/profile_view.h"
#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::cli {

namespace {

using profile::Unavailable;

constexpr std::size_t kShownFunctions = 8;

std::string missing_line(const std::string& tool, const Unavailable& missing, const Style& style) {
  return " " + pad_right(tool, 8) + " " + style.warn("not available") + "  " +
         util::printable(missing.text()) + "\n";
}

// "38 fp32, 12 integer": the most frequent first.
std::string mix_text(const profile::SassFunction& function) {
  std::vector<std::pair<profile::SassClass, std::int64_t>> mix(function.mix.begin(),
                                                               function.mix.end());
  std::ranges::stable_sort(mix, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> parts;
  for (const auto& [kind, count] : mix) {
    parts.push_back(fmt::format("{} {}", count, profile::name(kind)));
  }
  return parts.empty() ? "no code in the listing" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string bytes_text(int bytes) {
  return bytes < 0 ? "?" : util::human_bytes(static_cast<std::uint64_t>(bytes));
}

std::string resources(const profile::KernelSass& kernel) {
  return fmt::format("{} registers, {} spilled, {} shared, {} stack",
                     kernel.registers < 0 ? "?" : std::to_string(kernel.registers),
                     bytes_text(kernel.spill_bytes),
                     bytes_text(kernel.shared_bytes),
                     bytes_text(kernel.stack_bytes));
}

std::string sass_text(const profile::SassReport& report, const Style& style, std::size_t width) {
  std::string out = style.strong(" SASS ") + style.dim(report.arch + ", " + report.tool) + "\n";
  for (const profile::KernelSass& kernel : report.kernels) {
    out += fmt::format("  {}: {} instructions; {}\n",
                       util::printable(kernel.name),
                       kernel.code.instructions,
                       resources(kernel));
    out += wrapped(mix_text(kernel.code), 4, width);
  }
  for (std::size_t i = 0; i < std::min(kShownFunctions, report.others.size()); ++i) {
    const profile::SassFunction& function = report.others[i];
    out += fmt::format("  function {}: {} instructions\n",
                       util::printable(function.symbol),
                       function.instructions);
    out += wrapped(mix_text(function), 4, width);
  }
  if (report.others.size() > kShownFunctions) {
    out += fmt::format("  and {} further functions\n", report.others.size() - kShownFunctions);
  }
  if (!report.complete) {
    out += style.warn("  the listing was too long: counts are of a part") + "\n";
  }
  return out;
}

std::string finding_text(const profile::Finding& finding, std::size_t width) {
  std::string text = fmt::format("{}x {}", finding.count, finding.kind);
  if (!finding.kernel.empty()) {
    text += " in " + finding.kernel + finding.offset;
  }
  if (!finding.thread.empty()) {
    text += ", thread " + finding.thread + " of block " + finding.block;
  }
  if (!finding.detail.empty()) {
    text += ": " + finding.detail;
  }
  return wrapped(util::printable(text), 4, width);
}

std::string checker_text(const profile::CheckerResult& checker,
                         const Style& style,
                         std::size_t width) {
  if (const auto* missing = std::get_if<Unavailable>(&checker.log)) {
    return "  " + pad_right(checker.checker, 10) + style.warn("no result") + "  " +
           util::printable(missing->text()) + "\n";
  }
  const auto& log = std::get<profile::SanitizerLog>(checker.log);
  const std::string state =
      log.findings.empty()
          ? style.good("nothing found")
          : style.bad(fmt::format(
                "{} kind{} of finding", log.findings.size(), log.findings.size() == 1 ? "" : "s"));
  std::string out = "  " + pad_right(checker.checker, 10) + state + "\n";
  for (std::size_t i = 0; i < std::min(kShownFunctions, log.findings.size()); ++i) {
    out += finding_text(log.findings[i], width);
  }
  if (log.findings.size() > kShownFunctions || !log.complete) {
    out += style.dim("    ... the rest is in --json") + "\n";
  }
  for (const std::string& note : log.notes) {
    out += style.dim(wrapped(note, 4, width));
  }
  return out;
}

std::string sanitizer_text(const profile::SanitizerReport& report,
                           const Style& style,
                           std::size_t width) {
  std::string out =
      style.strong(" sanitizer ") + style.dim("shape " + report.shape + ", " + report.tool) + "\n";
  for (const profile::CheckerResult& checker : report.checkers) {
    out += checker_text(checker, style, width);
  }
  return out + style.dim(" findings are a diagnosis and change no verdict") + "\n";
}

std::string dump_text(const profile::Report& report, const Style& style) {
  std::string out = style.strong(" dump ") + util::printable(report.dump.string()) + "\n";
  for (const profile::DumpFolder::Written& file : report.written) {
    out += "  " + pad_right(file.name, 28) + " " + util::human_bytes(file.bytes) + "\n";
  }
  for (const std::string& reason : report.left_out) {
    out += style.dim("  left out: " + util::printable(reason)) + "\n";
  }
  return out;
}

}  // namespace

std::string tools_text(const profile::Report& report, const Style& style, std::size_t width) {
  std::string out;
  if (report.sass) {
    const auto* made = std::get_if<profile::SassReport>(&*report.sass);
    out += made != nullptr ? sass_text(*made, style, width)
                           : missing_line("SASS", std::get<Unavailable>(*report.sass), style);
  }
  if (report.sanitize) {
    const auto* made = std::get_if<profile::SanitizerReport>(&*report.sanitize);
    out += made != nullptr
               ? sanitizer_text(*made, style, width)
               : missing_line("sanitize", std::get<Unavailable>(*report.sanitize), style);
  }
  if (report.profile) {
    const auto* made = std::get_if<profile::NcuReport>(&*report.profile);
    out += made != nullptr ? profile_text(*made, style, width)
                           : missing_line("profile", std::get<Unavailable>(*report.profile), style);
  }
  if (!report.dump.empty()) {
    out += dump_text(report, style);
  }
  return out.empty() ? out : "\n" + out;
}

}  // namespace sweep::cli

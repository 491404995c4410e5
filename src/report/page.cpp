#include "report/page.h"

#include "util/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace sweep::report {

std::string relative(const std::string& page, const std::string& target) {
  std::string up;
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::count(page.begin(), page.end(), '/'));
       ++i) {
    up += "../";
  }
  // A '%' in a file's name must be spelled in an address.
  std::string address;
  for (const char c : target) {
    address += c == '%' ? std::string("%25") : std::string(1, c);
  }
  return up + address;
}

Markup badge(const std::string& outcome) {
  return element("span", {{"class", "badge " + outcome}}, text(outcome));
}

Markup card(const Markup& value, const std::string& label) {
  return element("div", {{"class", "card"}}, element("b", value) + element("span", text(label)));
}

Markup card(const std::string& value, const std::string& label) {
  return card(text(value), label);
}

Markup speedup_card(const std::optional<record::Interval>& speedup) {
  if (!speedup) {
    return card("\u2014", "speedup over the seed");
  }
  return card(
      text(fmt::format("{:.3g}x", speedup->point)) +
          element("small", text(fmt::format("{:.3g} to {:.3g}", speedup->low, speedup->high))),
      "speedup over the seed, 95% interval");
}

Markup verdict_card(const std::string& verdict) {
  return element(
      "div",
      {{"class", "card wide"}},
      element("b", {{"class", "word"}}, verdict_text(verdict)) + element("span", text("verdict")));
}

Markup verdict_text(const std::string& verdict) {
  Markup out;
  std::size_t from = 0;
  for (std::size_t at = verdict.find('_'); at != std::string::npos; at = verdict.find('_', from)) {
    out += text(verdict.substr(from, at + 1 - from)) + void_element("wbr", {});
    from = at + 1;
  }
  return out + text(verdict.substr(from));
}

Markup code_block(const std::string& id, std::string_view code) {
  return element("pre", element("code", {{"id", id}, {"class", "language-cpp"}}, text(code)));
}

std::string speedup_text(const std::optional<record::Interval>& speedup) {
  return speedup
             ? fmt::format("{:.3g}x [{:.3g}, {:.3g}]", speedup->point, speedup->low, speedup->high)
             : "\u2014";
}

std::string dollars(const std::optional<double>& cost) {
  return cost ? fmt::format("${:.4f}", *cost) : "price unknown";
}

std::string model_page_name(const std::string& model) {
  return "m/" + util::encode_path_part(model) + ".html";
}

Markup cards(const Totals& totals) {
  Markup out = card(fmt::format("{} / {}", totals.finished, totals.items), "trajectories finished");
  out += card(fmt::format("{} / {}", totals.correct, totals.judged),
              totals.correct_rate ? fmt::format("correct, {:.0f}% to {:.0f}% (Wilson 95%)",
                                                100 * totals.correct_rate->low,
                                                100 * totals.correct_rate->high)
                                  : std::string("correct"));
  out += card(totals.geometric_mean ? fmt::format("{:.3g}x", *totals.geometric_mean) : "\u2014",
              fmt::format("geometric mean speedup, n = {} correct and timed", totals.timed));
  out += card(
      util::human_count(static_cast<std::uint64_t>(totals.input_tokens + totals.output_tokens)),
      "tokens");
  out += card(dollars(totals.cost_usd), "cost");
  return element("div", {{"class", "cards"}}, out);
}

namespace {

Markup site_header(const Context& context,
                   const std::string& page,
                   const std::vector<Crumb>& crumbs) {
  Markup nav = element(
      "a", {{"class", "brand"}, {"href", relative(page, "index.html")}}, text(context.run_name));
  for (const Crumb& crumb : crumbs) {
    nav += text(" / ") + element("a", {{"href", relative(page, crumb.page)}}, text(crumb.title));
  }
  nav += element("a", {{"href", relative(page, "methods.html")}}, text("how to read this"));
  std::string basis =
      "1.0x is the problem's seed kernel, timed beside the candidate in the same session; "
      "intervals are 95%.";
  basis += context.device.empty() ? "" : " Device: " + context.device + ".";
  basis += context.version.empty() ? " Ledger" : " sweep " + context.version + ", ledger";
  basis += " head " + context.ledger_head.substr(0, 12) + ".";
  if (context.drifted) {
    basis += " The configuration changed under way (--accept-drift).";
  }
  return element("header",
                 {{"class", "site"}},
                 element("div",
                         element("nav", {{"aria-label", "Run"}}, nav) +
                             element("p", {{"class", "basis"}}, text(basis))));
}

}  // namespace

std::string document(const Context& context,
                     const std::string& page,
                     const std::string& title,
                     const std::vector<Crumb>& crumbs,
                     const Markup& body) {
  Markup head = void_element("meta", {{"charset", "utf-8"}});
  head += void_element("meta",
                       {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  head += void_element(
      "meta",
      {{"http-equiv", "Content-Security-Policy"},
       {"content",
        "default-src 'none'; script-src 'self' file:; style-src 'self' file: 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'"}});
  head += element("title", text(title + " \u00b7 " + context.run_name));
  head += void_element("link", {{"rel", "stylesheet"}, {"href", relative(page, "report.css")}});
  Markup all = element("a", {{"class", "skip"}, {"href", "#main"}}, text("Skip to the content"));
  all += site_header(context, page, crumbs) + element("main", {{"id", "main"}}, body);
  all += element(
      "footer",
      element("p", text("evaluation-only/do-not-train. Ledger head " + context.ledger_head + ".")));
  all += element("script", {{"src", relative(page, "report.js")}, {"defer", ""}});
  const Markup html = element(
      "html",
      {{"lang", "en"}},
      element("head", head) +
          element("body", {{"data-refresh", std::to_string(context.refresh_seconds)}}, all));
  return "<!doctype html>\n" + html.html() + "\n";
}

}  // namespace sweep::report

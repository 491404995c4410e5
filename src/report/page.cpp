#include "report/page.h"

#include "report/pages.h"
#include "report/words.h"
#include "util/text.h"

#include <algorithm>
#include <array>
#include <string_view>

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

Markup card(const Markup& value, const std::string& label) {
  return element("div", {{"class", "card"}}, element("b", value) + element("span", text(label)));
}

Markup card(const std::string& value, const std::string& label) {
  return card(text(value), label);
}

Markup speedup_card(const Row& row) {
  const auto& speedup = row.speedup;
  if (!speedup) {
    return card("\u2014", "speedup over the seed");
  }
  const auto [low, high] = util::human_bounds(speedup->low, speedup->high);
  const Markup value =
      element("span", {{"class", "tone " + tone(row)}}, text(util::human_ratio(speedup->point))) +
      element("small", text(fmt::format("{} to {}", low, high)));
  return card(value, "speedup over the seed, 95% interval");
}

Markup verdict_card(const Row& row) {
  const Markup words = row.has_result ? verdict_text(row.verdict) : text("\u2014");
  return element("div",
                 {{"class", "card wide"}},
                 element("b", {{"class", "word tone " + tone(row)}}, words) +
                     element("span", text("verdict")));
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
  if (!speedup) {
    return "\u2014";
  }
  const auto [low, high] = util::human_bounds(speedup->low, speedup->high);
  return fmt::format("{} [{}, {}]", util::human_ratio(speedup->point), low, high);
}

Markup mean_text(const Totals& totals) {
  if (!totals.geometric_mean) {
    return text("\u2014");
  }
  return element("span",
                 {{"class", totals.faster > 0 ? "tone" : "tone inconclusive"}},
                 text(util::human_ratio(*totals.geometric_mean)));
}

std::string cost_label(double wasted_usd) {
  return wasted_usd > 0 ? "cost, and " + dollars(wasted_usd) + " for answers that were lost"
                        : std::string("cost");
}

std::string dollars(const std::optional<double>& cost) {
  return cost ? fmt::format("${:.4f}", *cost) : "price unknown";
}

std::string model_page_name(const std::string& model) {
  return "m/" + util::encode_path_part(model) + ".html";
}

namespace {

Markup cost_card(const Totals& totals) {
  const std::string label = cost_label(totals.wasted_usd);
  return totals.known_usd > 0 && totals.unpriced > 0
             ? card("\u2265 " + dollars(totals.known_usd),
                    fmt::format("{}; the price of {} item{} is unknown",
                                label,
                                totals.unpriced,
                                totals.unpriced == 1 ? "" : "s"))
             : card(dollars(totals.cost_usd), label);
}

}  // namespace

Markup cards(const Totals& totals) {
  Markup out = card(fmt::format("{} / {}", totals.finished, totals.items), "items finished");
  out += card(fmt::format("{} / {}", totals.correct, totals.judged),
              totals.correct_rate ? fmt::format("correct, {:.0f}% to {:.0f}% (Wilson 95%)",
                                                100 * totals.correct_rate->low,
                                                100 * totals.correct_rate->high)
                                  : std::string("correct"));
  out += card(
      mean_text(totals),
      fmt::format("geometric mean speedup of {} correct and timed of {} judged; {} PASS_FASTER",
                  totals.timed,
                  totals.judged,
                  totals.faster == 0 ? "none is" : fmt::format("{} of them", totals.faster)));
  out += card(
      util::human_count(static_cast<std::uint64_t>(totals.input_tokens + totals.output_tokens)),
      "tokens");
  out += cost_card(totals);
  if (totals.unscored > 0) {
    out += card(fmt::format("{} / {}", totals.unscored, totals.items),
                "of problems that were not admitted by test: listed, in no rate or mean");
  }
  return element("div", {{"class", "cards"}}, out);
}

namespace {

// Whether the run goes on, and how far it is.
Markup state_line(const Context& context) {
  Markup line;
  if (!context.phase.empty()) {
    line += element("span", {{"class", "badge " + context.phase}}, text(context.phase)) + text(" ");
  }
  if (!context.progress.empty()) {
    line += text(context.progress + ".");
  }
  if (!context.as_of.empty()) {
    // "2026-01-31T12:00:00.000Z" without the letters and the fraction.
    line +=
        text(" Last ledger row: " + context.as_of.substr(0, 10) + " " +
             context.as_of.substr(std::min<std::size_t>(11, context.as_of.size()), 8) + " UTC.");
  }
  return line.empty() ? line : element("p", {{"class", "state"}}, line);
}

// What every number of the run must be read with; nothing for sealed results of a GPU.
Markup banner(const Context& context) {
  std::string words;
  if (context.on_cpu) {
    words =
        "cpu device: the kernels ran as host code. Times of the cpu device are no GPU times, and "
        "it never says PASS_FASTER.";
  }
  if (context.scripted) {
    words += std::string(words.empty() ? "" : " ") +
             "Some models here are scripts that come with sweep: their numbers say nothing about "
             "any model.";
  }
  if (context.unsealed > 0) {
    words += fmt::format("{}{} result{} of kernels that ran unsealed or without a sandbox.",
                         words.empty() ? "" : " ",
                         context.unsealed,
                         context.unsealed == 1 ? " is" : "s are");
  }
  if (context.foreign > 0) {
    words += fmt::format(
        "{}{} item{} judged by others (PopcornBench) and imported for reading. Foreign numbers "
        "count in no rate, mean or comparison of ours.",
        words.empty() ? "" : " ",
        context.foreign,
        context.foreign == 1 ? " was" : "s were");
  }
  return words.empty() ? Markup{}
                       : element("p", {{"class", "banner"}, {"role", "note"}}, text(words));
}

// Pages of the whole run; a page of several runs has one of them.
Markup site_links(const Context& context, const std::string& page) {
  struct Link {
    const char* page;
    const char* words;
  };

  constexpr std::array links = {Link{kItemsPage, "all items"},
                                Link{kRejectedPage, "rejected"},
                                Link{kEnvironmentPage, "environment"},
                                Link{kMethodsPage, "how to read this"}};
  Markup list;
  for (const Link& link : links) {
    if (context.several_runs && std::string_view(link.page) != kMethodsPage) {
      continue;
    }
    const std::string to = relative(page, link.page);
    list += page == link.page
                ? element("a", {{"href", to}, {"aria-current", "page"}}, text(link.words))
                : element("a", {{"href", to}}, text(link.words));
  }
  return element("span", {{"class", "links"}}, list);
}

Markup site_header(const Context& context,
                   const std::string& page,
                   const std::vector<Crumb>& crumbs) {
  Markup nav = element(
      "a", {{"class", "brand"}, {"href", relative(page, "index.html")}}, text(context.run_name));
  for (const Crumb& crumb : crumbs) {
    nav += text(" / ") + element("a", {{"href", relative(page, crumb.page)}}, text(crumb.title));
  }
  nav += site_links(context, page);
  std::string basis =
      "1.0x is the problem's seed kernel, timed beside the candidate in the same session; "
      "intervals are 95%.";
  basis += context.scope.empty() ? "" : " Over " + context.scope + ".";
  basis += context.device.empty() ? "" : " Device: " + context.device + ".";
  if (context.ledger_head.empty() && !context.version.empty()) {
    basis += " sweep " + context.version + ".";
  }
  if (!context.ledger_head.empty()) {
    basis += context.version.empty() ? " Ledger" : " sweep " + context.version + ", ledger";
    basis += fmt::format(" of {} row{}, head {}.",
                         context.ledger_rows,
                         context.ledger_rows == 1 ? "" : "s",
                         context.ledger_head.substr(0, 12));
  }
  if (context.drifted) {
    basis += " The configuration changed under way (--accept-drift).";
  }
  return element("header",
                 {{"class", "site"}},
                 element("div",
                         element("nav", {{"aria-label", "Run"}}, nav) + state_line(context) +
                             element("p", {{"class", "basis"}}, text(basis)) + banner(context)));
}

// The document around its body.
std::string frame_of(const Context& context,
                     const std::string& page,
                     const std::string& title,
                     const std::vector<Crumb>& crumbs) {
  Markup head = void_element("meta", {{"charset", "utf-8"}});
  head += void_element("meta",
                       {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  head += void_element(
      "meta",
      {{"http-equiv", "Content-Security-Policy"},
       {"content",
        "default-src 'none'; script-src 'self' file:; style-src 'self' file:; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'"}});
  head += element("title", text(title + " \u00b7 " + context.run_name));
  head += void_element("link", {{"rel", "icon"}, {"href", "data:,"}});
  head += void_element("link", {{"rel", "stylesheet"}, {"href", relative(page, "report.css")}});
  Markup all = element("a", {{"class", "skip"}, {"href", "#main"}}, text("Skip to the content"));
  all += site_header(context, page, crumbs);
  if (context.refresh_seconds > 0) {
    // The page's script says here when the server no longer answers.
    all += element("div", {{"id", "live"}, {"role", "status"}, {"hidden", ""}});
  }
  all += element("main", {{"id", "main"}});
  const std::string ledger = context.ledger_head.empty()
                                 ? std::string()
                                 : fmt::format(" Ledger of {} row{}, head {}.",
                                               context.ledger_rows,
                                               context.ledger_rows == 1 ? "" : "s",
                                               context.ledger_head);
  Markup foot = text("evaluation-only/do-not-train." + ledger + " ");
  if (!context.ledger_head.empty()) {
    foot += element("a", {{"href", relative(page, "cite.html")}}, text("Cite and reproduce"));
  }
  all += element("footer", element("p", foot));
  all += element("script", {{"src", relative(page, "report.js")}, {"defer", ""}});
  const Markup html = element(
      "html",
      {{"lang", "en"}},
      element("head", head) +
          element("body", {{"data-refresh", std::to_string(context.refresh_seconds)}}, all));
  return "<!doctype html>\n" + html.html() + "\n";
}

}  // namespace

std::string framed(const std::string& frame, std::string_view body) {
  const std::size_t at = frame.find(kMainBegin) + kMainBegin.size();
  std::string out;
  out.reserve(frame.size() + body.size());
  out.append(frame, 0, at);
  out += body;
  out.append(frame, at);
  return out;
}

std::string document(const Context& context,
                     const std::string& page,
                     const std::string& title,
                     const std::vector<Crumb>& crumbs,
                     const Markup& body) {
  // The body of an item's page is most of it, so it is not nested step by step.
  return framed(frame_of(context, page, title, crumbs), body.html());
}

}  // namespace sweep::report

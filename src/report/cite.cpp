#include "report/cite.h"

#include "record/json.h"
#include "util/error.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace sweep::report {

namespace {

constexpr std::size_t kMostFacts = 32;

std::vector<std::string> sentences(const nlohmann::json& from, const char* key) {
  std::vector<std::string> out;
  const auto found = from.find(key);
  if (found == from.end() || !found->is_array()) {
    return out;
  }
  for (const auto& one : *found) {
    if (one.is_string() && out.size() < kMostFacts) {
      out.push_back(one.get<std::string>());
    }
  }
  return out;
}

Markup bullets(const std::vector<std::string>& lines) {
  Markup items;
  for (const std::string& line : lines) {
    items += element("li", text(line));
  }
  return element("ul", items);
}

Markup command(const std::string& words, const std::string& what) {
  return element("li", element("code", text(words)) + text(" " + what));
}

}  // namespace

PublicationFacts publication_facts(const record::RunDir& run) {
  std::error_code error;
  const auto file = run.folder() / "publication.json";
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(file, error))) {
    return {};
  }
  try {
    const nlohmann::json from = record::parse_bounded(record::read_whole(file), "publication.json");
    PublicationFacts out;
    if (from.is_object() && from.contains("published_at") && from.at("published_at").is_string()) {
      out.published_at = from.at("published_at");
      out.proves = sentences(from, "proves_before_the_salt_is_revealed");
      out.proves_with_salt = sentences(from, "proves_after");
    }
    return out;
  } catch (const util::Error&) {
    return {};
  }
}

std::string cite_page(const Context& context, const PublicationFacts& publication) {
  std::string cite = fmt::format("run {}", context.run_name);
  cite += context.version.empty() ? "" : ", judged by sweep " + context.version;
  cite += context.device.empty() ? "" : " on " + context.device;
  cite += context.as_of.empty() ? "" : ", state of " + context.as_of;
  cite += fmt::format("; ledger of {} rows, head {}", context.ledger_rows, context.ledger_head);
  cite += publication.published_at.empty() ? "" : "; published " + publication.published_at;
  Markup out = element("h1", text("Cite and reproduce")) +
               element("h2", {{"id", "cite"}}, text("Cite")) +
               element("p", {{"class", "panel"}}, element("code", text(cite + "."))) +
               element("h2", {{"id", "reproduce"}}, text("Reproduce")) +
               element("ul",
                       command("sweep verify FOLDER",
                               "checks chain, files and numbers; FOLDER is "
                               "what this report's folder lies in") +
                           command("sweep replay FOLDER",
                                   "plays the conversations again and judges every kernel anew") +
                           element("li",
                                   text("Each item's page has the command that judges its "
                                        "kernel again; report/data has the tables.")));
  if (!publication.proves.empty()) {
    out += element("h2", {{"id", "proves"}}, text("What this publication can prove")) +
           bullets(publication.proves) +
           element("p", text("Once the salt of the held-out draws is revealed:")) +
           bullets(publication.proves_with_salt);
  }
  return document(context, std::string(kCitePage), "Cite and reproduce", {}, out);
}

}  // namespace sweep::report

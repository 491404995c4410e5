#pragma once

#include "record/run_dir.h"
#include "report/page.h"

#include <string>
#include <string_view>
#include <vector>

namespace sweep::report {

// What publication.json of a published run says of it; empty for a run that is not published.
struct PublicationFacts {
  std::string published_at;         // UTC; empty: not published
  std::vector<std::string> proves;  // sentences: what `sweep verify` can prove
  std::vector<std::string> proves_with_salt;
};

// Hostile file: what cannot be read counts as not there.
[[nodiscard]] PublicationFacts publication_facts(const record::RunDir& run);

inline constexpr std::string_view kCitePage = "cite.html";

// How to cite the run, how to check it and judge its kernels again, and what that proves.
[[nodiscard]] std::string cite_page(const Context& context, const PublicationFacts& publication);

}  // namespace sweep::report

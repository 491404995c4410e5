#pragma once

#include "report/page.h"
#include "report/row_cache.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sweep::report {

// A page before it is made, so that it need not be made where nothing changed that it shows.
struct PagePlan {
  std::string page;  // where it stands, relative to the report folder
  std::string title;
  std::vector<Crumb> crumbs;
  std::string made_from;         // digest of all that the body says; empty: make it every time
  std::function<Markup()> body;  // on any thread
};

// What is made from these rows, in this order, and from `more`; empty where a row has no digest.
[[nodiscard]] std::string made_from(const std::vector<const Row*>& rows, std::string_view more);

// The whole document.
[[nodiscard]] std::string document(const Context& context, const PagePlan& plan);

struct PagesPut {
  std::size_t written = 0, unchanged = 0;
  bool cache_changed = false;
};

// Brings the pages below `folder` up to what the plans say, on `workers` threads, and `cache` with
// them. A body is made only where the file or what it is made from is another than the cache says;
// otherwise it is taken from the file, and only its head and foot are made, which say where the run
// stands. InfraError on disk trouble.
[[nodiscard]] PagesPut put_pages(const std::filesystem::path& folder,
                                 const Context& context,
                                 const std::vector<PagePlan>& plans,
                                 unsigned workers,
                                 PageCache& cache);

}  // namespace sweep::report

#include "report/page_plan.h"

#include "record/run_dir.h"
#include "report/page_file.h"
#include "util/error.h"
#include "util/parallel.h"
#include "util/sha256.h"

#include <optional>
#include <utility>

namespace sweep::report {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMainEnd = "</main>";  // text never has it: it is escaped

std::string frame_of(const Context& context, const PagePlan& plan) {
  return document(context, plan.page, plan.title, plan.crumbs, Markup{});
}

// The body of a page that a build wrote.
std::optional<std::string> body_in(const fs::path& file) {
  std::string page;
  try {
    page = record::read_whole(file);
  } catch (const util::Error&) {
    return std::nullopt;
  }
  const std::size_t begin = page.find(kMainBegin);
  const std::size_t end = page.rfind(kMainEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin + kMainBegin.size()) {
    return std::nullopt;
  }
  return page.substr(begin + kMainBegin.size(), end - begin - kMainBegin.size());
}

// Whether the file was written, and what is to be remembered of it.
bool put_page(const fs::path& file,
              const Context& context,
              const PagePlan& plan,
              CachedPage& known,
              bool& changed) {
  const std::string frame = frame_of(context, plan);
  std::string frame_hash = util::sha256_hex(frame);
  const bool same =
      !plan.made_from.empty() && known.made_from == plan.made_from && known.file == stamp_of(file);
  if (same && known.frame == frame_hash) {
    return false;
  }
  std::optional<std::string> body = same ? body_in(file) : std::nullopt;
  const bool written = write_page(file, framed(frame, body ? *body : plan.body().html()));
  known = {stamp_of(file), plan.made_from, std::move(frame_hash)};
  changed = true;
  return written;
}

}  // namespace

std::string made_from(const std::vector<const Row*>& rows, std::string_view more) {
  util::Sha256 hash;
  hash.update(more);
  for (const Row* row : rows) {
    if (row->digest.empty()) {
      return {};
    }
    hash.update("\n").update(row->digest);
  }
  return util::to_hex(hash.finish());
}

std::string document(const Context& context, const PagePlan& plan) {
  return document(context, plan.page, plan.title, plan.crumbs, plan.body());
}

PagesPut put_pages(const fs::path& folder,
                   const Context& context,
                   const std::vector<PagePlan>& plans,
                   unsigned workers,
                   PageCache& cache) {
  struct Outcome {
    bool written = false, changed = false;
  };

  std::vector<Outcome> outcomes(plans.size());
  std::vector<CachedPage> pages(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (const auto known = cache.find(plans[i].page); known != cache.end()) {
      pages[i] = known->second;
    }
  }
  util::in_parallel(plans.size(), workers, [&](std::size_t i) {
    outcomes[i].written =
        put_page(folder / plans[i].page, context, plans[i], pages[i], outcomes[i].changed);
  });
  PagesPut out;
  out.cache_changed = cache.size() != plans.size();
  cache.clear();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    ++(outcomes[i].written ? out.written : out.unchanged);
    out.cache_changed = out.cache_changed || (outcomes[i].changed && !plans[i].made_from.empty());
    cache[plans[i].page] = std::move(pages[i]);
  }
  return out;
}

}  // namespace sweep::report

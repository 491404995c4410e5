#include "report/exports.h"

#include "record/run_dir.h"
#include "report/build.h"
#include "report/export_pieces.h"
#include "report/page_file.h"
#include "report/page_plan.h"
#include "util/error.h"
#include "util/parallel.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

namespace sweep::report {

namespace fs = std::filesystem;

namespace {

// Tables of more rows are data, not text to be set: no LaTeX and no Markdown.
constexpr std::size_t kMostSet = 2000;

constexpr std::string_view kSchemaFile = "schema.json";

// An own export begins so; other folders are left alone.
bool is_export(const fs::path& folder) {
  std::error_code error;
  const fs::path file = folder / kSchemaFile;
  if (!fs::is_regular_file(fs::symlink_status(file, error))) {
    return false;
  }
  try {
    const auto from = nlohmann::json::parse(record::read_whole(file));
    return from.is_object() && from.value("kind", "") == "sweep export";
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

void refuse_foreign_export(const fs::path& folder) {
  std::error_code error;
  const bool link = fs::is_symlink(fs::symlink_status(folder, error));
  const bool fresh = !fs::exists(folder, error) ||
                     (fs::is_directory(folder, error) && fs::is_empty(folder, error));
  if (link || (!fresh && !is_export(folder))) {
    throw util::UsageError({folder.string(),
                            link ? "is a symbolic link" : "holds something else than an export",
                            "name a new folder"},
                           "E_EXPORT_OUT");
  }
}

std::string export_text(const nlohmann::json& from) {
  return from.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

nlohmann::json export_schema(const Source& source) {
  nlohmann::json described = nlohmann::json::object();
  for (const RunTable& kind : run_tables()) {
    const DataTable table = kind.make({});
    described[table.name()] = schema_of(table);
  }
  return {{"schema", 1},
          {"kind", "sweep export"},
          {"run", source.run},
          {"version", source.version},
          {"ledger_rows", source.ledger_rows},
          {"ledger_head", source.ledger_head},
          {"as_of", source.as_of},
          {"device", source.device},
          {"on_cpu", source.on_cpu},
          {"scripted", source.scripted},
          {"policy", record::kPolicy},
          {"tables", std::move(described)}};
}

// Items of a piece of a data file. Their rows are written anew when one of them changes.
constexpr std::size_t kPieceItems = 250;

struct ItemPieces {
  std::vector<RowPointers> items;
  std::vector<std::string> digests;
};

ItemPieces pieces_of(const RowPointers& rows) {
  ItemPieces out;
  for (std::size_t at = 0; at < rows.size(); at += kPieceItems) {
    const std::size_t end = std::min(rows.size(), at + kPieceItems);
    out.items.emplace_back(rows.begin() + static_cast<std::ptrdiff_t>(at),
                           rows.begin() + static_cast<std::ptrdiff_t>(end));
    out.digests.push_back(made_from(out.items.back(), ""));
  }
  return out;
}

struct PieceTexts {
  std::string csv, json;
  std::uint64_t rows = 0;
};

// A table of which each item has its own rows, as two data files.
struct ItemFiles {
  std::string name;
  PieceFrame csv, json;
  std::function<PieceTexts(const RowPointers&)> make;
};

ItemFiles files_of(const RunTable& kind) {
  const DataTable none = kind.make({});
  const JsonFrame frame = json_frame(none);
  return {none.name(),
          {csv_head(none), "", "", "", ""},
          {frame.head, "\n", ",\n", "\n " + frame.tail, frame.tail},
          [make = kind.make](const RowPointers& rows) {
            const DataTable table = make(rows);
            return PieceTexts{csv_rows(table), json_rows(table), table.rows().size()};
          }};
}

ItemFiles popcorn_files() {
  return {"popcorn_results",
          {std::string(popcorn_csv_head()), "", "", "", ""},
          {"[", "\n", ",\n", "\n]\n", "]\n"},
          [](const RowPointers& rows) {
            const std::string list = export_text(popcorn_json(rows));  // "[\n ..\n]\n"
            return PieceTexts{popcorn_csv(rows).substr(popcorn_csv_head().size()),
                              rows.empty() ? "" : list.substr(2, list.size() - 5),
                              rows.size()};
          }};
}

// Writes an export's files, on several threads, and gathers their names in the order of the tasks.
class ExportTask {
 public:
  ExportTask(const fs::path& folder, const PieceIndex& before) : folder_(folder), before_(before) {}

  void put(const std::string& name, const std::string& text) {
    (void)write_page(folder_ / name, text);
    names.push_back(name);
  }

  void put_text_forms(const DataTable& table) {
    put(table.name() + ".md", markdown(table));
    put(table.name() + ".tex", latex(table));
  }

  // Of an export with fewer rows.
  void drop_text_forms(const std::string& table) {
    std::error_code error;
    fs::remove(folder_ / (table + ".md"), error);
    fs::remove(folder_ / (table + ".tex"), error);
  }

  void put_table(const DataTable& table) {
    put(table.name() + ".csv", csv(table));
    put(table.name() + ".json", json_text(table));
    if (table.rows().size() <= kMostSet) {
      put_text_forms(table);
    } else {
      drop_text_forms(table.name());
    }
  }

  // Returns the number of rows.
  std::uint64_t put_pieces(const ItemFiles& files, const ItemPieces& pieces) {
    const std::string csv_name = files.name + ".csv";
    const std::string json_name = files.name + ".json";
    PiecedText csv(folder_ / csv_name, files.csv, known(csv_name));
    PiecedText json_file(folder_ / json_name, files.json, known(json_name));
    names.insert(names.end(), {csv_name, json_name});
    if (csv.is_current(pieces.digests) && json_file.is_current(pieces.digests)) {
      index[csv_name] = known(csv_name);
      index[json_name] = known(json_name);
      return rows_in(index[csv_name]);
    }
    for (std::size_t i = 0; i < pieces.items.size(); ++i) {
      const std::string& digest = pieces.digests[i];
      if (csv.has(digest) && json_file.has(digest)) {
        csv.take(digest);
        json_file.take(digest);
      } else {
        const PieceTexts made = files.make(pieces.items[i]);
        csv.add(digest, made.csv, made.rows);
        json_file.add(digest, made.json, made.rows);
      }
    }
    index[csv_name] = csv.put();
    index[json_name] = json_file.put();
    return csv.rows();
  }

  std::vector<std::string> names;
  PieceIndex index;

 private:
  [[nodiscard]] PiecedFile known(const std::string& name) const {
    const auto found = before_.find(name);
    return found == before_.end() ? PiecedFile{} : found->second;
  }

  static std::uint64_t rows_in(const PiecedFile& file) {
    std::uint64_t rows = 0;
    for (const Piece& piece : file.pieces) {
      rows += piece.rows;
    }
    return rows;
  }

  const fs::path& folder_;
  const PieceIndex& before_;
};

void put_run_table(ExportTask& task,
                   const RunTable& kind,
                   const RowPointers& rows,
                   const ItemPieces& pieces) {
  if (!kind.by_item) {
    task.put_table(kind.make(rows));
    return;
  }
  const ItemFiles files = files_of(kind);
  if (task.put_pieces(files, pieces) <= kMostSet) {
    task.put_text_forms(kind.make(rows));
  } else {
    task.drop_text_forms(files.name);
  }
}

}  // namespace

Source source_of(const std::string& run, const Built& built) {
  Source source;
  source.run = run;
  if (built.ledger.rows > 0) {
    source.ledger_head = built.ledger.head;
    source.ledger_rows = built.ledger.rows;
    source.as_of = built.ledger.as_of;
  }
  std::vector<std::string> devices;
  for (const Row& row : built.rows) {
    source.version = source.version.empty() ? row.version : source.version;
    source.on_cpu = source.on_cpu || row.device == "cpu";
    source.scripted = source.scripted || row.base_url.starts_with("builtin:");
    const std::string device = row.gpu + (row.driver.empty() ? "" : ", driver " + row.driver);
    if (!row.gpu.empty() && std::find(devices.begin(), devices.end(), device) == devices.end()) {
      devices.push_back(device);
    }
  }
  for (const std::string& device : devices) {
    source.device += (source.device.empty() ? "" : "; ") + device;
  }
  return source;
}

std::vector<std::string> write_exports(const fs::path& folder,
                                       const Source& source,
                                       const RowPointers& rows,
                                       const ExportOptions& options) {
  refuse_foreign_export(folder);
  record::make_run_folder(folder);
  const PieceIndex before = read_pieces(folder);
  const ItemPieces pieces = pieces_of(rows);
  const std::size_t tables = run_tables().size();
  std::vector<ExportTask> tasks(tables + 2, ExportTask(folder, before));
  // First: it marks the folder as an export, should the rest fail.
  ExportTask first(folder, before);
  first.put(std::string(kSchemaFile), export_text(export_schema(source)));
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  util::in_parallel(
      tasks.size(), options.workers > 0 ? options.workers : cores, [&](std::size_t i) {
        if (i < tables) {
          put_run_table(tasks[i], run_tables()[i], rows, pieces);
        } else if (i == tables) {
          (void)tasks[i].put_pieces(popcorn_files(), pieces);
        } else {
          tasks[i].put("summary.html", summary_page(source, rows));
        }
      });
  std::vector<std::string> names = first.names;
  PieceIndex index;
  for (ExportTask& task : tasks) {
    names.insert(names.end(), task.names.begin(), task.names.end());
    index.merge(task.index);
  }
  if (options.remember) {
    write_pieces(folder, index);
  }
  return names;
}

}  // namespace sweep::report

#include "report/exports.h"

#include "record/run_dir.h"
#include "report/build.h"
#include "util/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>

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

class ExportWriter {
 public:
  explicit ExportWriter(fs::path folder) : folder_(std::move(folder)) {}

  void put(const std::string& name, const std::string& text) {
    std::error_code error;
    const fs::path file = folder_ / name;
    const bool same = fs::is_regular_file(fs::symlink_status(file, error)) &&
                      fs::file_size(file, error) == text.size() && !error &&
                      record::read_whole(file) == text;
    if (!same) {
      record::write_whole(file, text);
    }
    names.push_back(name);
  }

  // Of an export with fewer rows.
  void drop(const std::string& name) {
    std::error_code error;
    fs::remove(folder_ / name, error);
  }

  std::vector<std::string> names;

 private:
  fs::path folder_;
};

std::string export_text(const nlohmann::json& from) {
  return from.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

nlohmann::json export_schema(const Source& source, const std::vector<DataTable>& tables) {
  nlohmann::json described = nlohmann::json::object();
  for (const DataTable& table : tables) {
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
                                       const std::vector<DataTable>& tables) {
  refuse_foreign_export(folder);
  record::make_run_folder(folder);
  ExportWriter writer(folder);
  // First: it marks the folder as an export, should the rest fail.
  writer.put(std::string(kSchemaFile), export_text(export_schema(source, tables)));
  for (const DataTable& table : tables) {
    writer.put(table.name() + ".csv", csv(table));
    writer.put(table.name() + ".json", json_text(table));
    if (table.rows().size() <= kMostSet) {
      writer.put(table.name() + ".md", markdown(table));
      writer.put(table.name() + ".tex", latex(table));
    } else {
      writer.drop(table.name() + ".md");
      writer.drop(table.name() + ".tex");
    }
  }
  writer.put("popcorn_results.csv", popcorn_csv(rows));
  writer.put("popcorn_results.json", export_text(popcorn_json(rows)));
  writer.put("summary.html", summary_page(source, rows));
  return writer.names;
}

}  // namespace sweep::report

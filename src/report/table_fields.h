#pragma once

#include "report/row.h"
#include "report/table.h"

#include <functional>
#include <string>
#include <vector>

// How tables.cpp and its neighbours say what a column holds.
namespace sweep::report {

// A column and where its value comes from.
template <class T>
struct Field {
  Column column;
  std::function<Cell(const T&)> value;
};

template <class T>
using Fields = std::vector<Field<T>>;

// A column that pages do not show.
template <class T>
Field<T> data_only(Field<T> field) {
  field.column.on_page = false;
  return field;
}

template <class T>
Field<T> text_field(std::string key,
                    std::string title,
                    std::string description,
                    std::function<std::string(const T&)> value,
                    std::string none = "none recorded") {
  return {{std::move(key), std::move(title), "", Type::text, Show::plain, std::move(description)},
          [value = std::move(value), none = std::move(none)](const T& from) {
            std::string text = value(from);
            return text.empty() ? missing(none) : cell(text);
          }};
}

template <class T>
Field<T> count_field(std::string key,
                     std::string title,
                     std::string description,
                     std::function<std::int64_t(const T&)> value,
                     Show show = Show::plain,
                     std::string unit = "") {
  return {{std::move(key),
           std::move(title),
           std::move(unit),
           Type::integer,
           show,
           std::move(description)},
          [value = std::move(value)](const T& from) { return cell(value(from)); }};
}

template <class T>
Field<T> number_field(std::string key,
                      std::string title,
                      std::string unit,
                      Show show,
                      std::string description,
                      std::function<std::optional<double>(const T&)> value,
                      std::string none = "not measured") {
  return {{std::move(key),
           std::move(title),
           std::move(unit),
           Type::number,
           show,
           std::move(description)},
          [value = std::move(value), none = std::move(none)](const T& from) {
            return cell(value(from), none);
          }};
}

template <class T>
Field<T> truth_field(std::string key,
                     std::string title,
                     std::string description,
                     std::function<std::optional<bool>(const T&)> value,
                     std::string none = "did not run") {
  return {
      {std::move(key), std::move(title), "", Type::boolean, Show::plain, std::move(description)},
      [value = std::move(value), none = std::move(none)](const T& from) {
        const auto truth = value(from);
        return truth ? cell(*truth) : missing(none);
      }};
}

template <class T>
DataTable table_of(std::string name,
                   std::string title,
                   std::string description,
                   const Fields<T>& fields,
                   const std::vector<T>& from) {
  std::vector<Column> columns;
  for (const Field<T>& field : fields) {
    columns.push_back(field.column);
  }
  DataTable table(std::move(name), std::move(title), std::move(description), std::move(columns));
  for (const T& one : from) {
    std::vector<Cell> row;
    row.reserve(fields.size());
    for (const Field<T>& field : fields) {
      row.push_back(field.value(one));
    }
    table.add(std::move(row));
  }
  return table;
}

}  // namespace sweep::report

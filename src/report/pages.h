#pragma once

#include "report/page.h"

#include <functional>
#include <string>
#include <vector>

namespace sweep::report {

// Where the pages of a run stand, relative to the report folder.
[[nodiscard]] std::string variant_page_name(const std::string& variant);
[[nodiscard]] std::string level_page_name(const std::string& level);
[[nodiscard]] std::string problem_page_name(const std::string& problem);
inline constexpr const char* kItemsPage = "items.html";
inline constexpr const char* kRejectedPage = "rejected.html";
inline constexpr const char* kEnvironmentPage = "environment.html";
inline constexpr const char* kMethodsPage = "methods.html";

// Text of the kernel that an item handed in; empty where it is not there.
using KernelText = std::function<std::string(const Row&)>;
// Takes a page: its name and the whole document.
using PutPage = std::function<void(const std::string& page, const std::string& document)>;

// Every page of a run but those of its trajectories.
void write_pages(const Context& context,
                 const std::vector<Row>& rows,
                 const KernelText& kernel,
                 const PutPage& put);

// "34 problems, 3 models, 2 attempts each": what the numbers of the rows are over.
[[nodiscard]] std::string scope_text(const std::vector<Row>& rows);

[[nodiscard]] std::string problem_page(const Context& context,
                                       const std::string& problem,
                                       const std::vector<const Row*>& rows,
                                       const KernelText& kernel);
[[nodiscard]] std::string rejected_page(const Context& context,
                                        const std::vector<const Row*>& rows,
                                        const KernelText& kernel);
[[nodiscard]] std::string environment_page(const Context& context,
                                           const std::vector<const Row*>& rows);

}  // namespace sweep::report

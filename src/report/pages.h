#pragma once

#include "report/page_plan.h"

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

// Every page of a run but those of its trajectories and cite.html, the costly ones first. They hold
// on to the rows and the kernels.
[[nodiscard]] std::vector<PagePlan> page_plans(const Context& context,
                                               const std::vector<Row>& rows,
                                               const KernelText& kernel);

// "34 problems, 3 models, 2 attempts each": what the numbers of the rows are over.
[[nodiscard]] std::string scope_text(const std::vector<Row>& rows);

// `rows`: all of the problem, at least one.
[[nodiscard]] PagePlan problem_page(const std::string& problem,
                                    const std::vector<const Row*>& rows,
                                    const KernelText& kernel);
[[nodiscard]] PagePlan rejected_page(const std::vector<const Row*>& rows, const KernelText& kernel);

// Which kernels of a page can be shown: their texts come and go apart from the rows.
[[nodiscard]] std::string kernels_there(const std::vector<const Row*>& rows,
                                        const KernelText& kernel);

// What stands between head and foot.
[[nodiscard]] Markup environment_body(const Context& context, const std::vector<const Row*>& rows);
[[nodiscard]] Markup methods_body();

}  // namespace sweep::report

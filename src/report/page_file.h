#pragma once

#include <filesystem>
#include <string_view>

namespace sweep::report {

// Makes the folders above `file` and puts these bytes there in one step unless they are there
// already: a file that keeps its bytes keeps its times. Not durable, since it can be made again. A
// symbolic link in its place is replaced. False: it was left alone. InfraError E_RUN_WRITE.
bool write_page(const std::filesystem::path& file, std::string_view bytes);

// Throws UsageError E_REPORT_LINK where a link stands in place of `report` or of a folder below it:
// pages would be written elsewhere.
void refuse_links(const std::filesystem::path& report);

}  // namespace sweep::report

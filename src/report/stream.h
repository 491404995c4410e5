#pragma once

#include "record/item_services.h"
#include "report/markup.h"

#include <filesystem>
#include <optional>

namespace sweep::report {

// Puts the file there in one step; not durable. InfraError E_RUN_WRITE.
void write_stream(const std::filesystem::path& file, const record::Stream& stream);

// None where there is none, or anything but what write_stream() made.
[[nodiscard]] std::optional<record::Stream> read_stream(const std::filesystem::path& file);

// What the model is saying, for the page of its item.
[[nodiscard]] Markup stream_section(const record::Stream& stream);

}  // namespace sweep::report

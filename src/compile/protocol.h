#pragma once

#include "compile/job.h"
#include "util/fd.h"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>

namespace sweep::compile {

inline constexpr std::size_t kMaxSource = std::size_t{1} << 20;
inline constexpr std::size_t kMaxBlob = std::size_t{256} << 20;

[[nodiscard]] std::string_view status_name(Result::Status status);

// Job without its source text, which travels in a descriptor of its own.
[[nodiscard]] nlohmann::json to_json(const Job& job);
// Throws wire::WireError for anything unexpected.
[[nodiscard]] Job job_from_json(const nlohmann::json& body);

// Outcome without its image and PTX, but with their sizes.
[[nodiscard]] nlohmann::json to_json(const Outcome& outcome);
// `blobs` is the image followed by the PTX. Throws wire::WireError for anything unexpected.
[[nodiscard]] Outcome outcome_from_json(const nlohmann::json& body, std::string_view blobs);

// The image followed by the PTX.
[[nodiscard]] std::string blobs_of(const Outcome& outcome);

// Whole content of a memory file, at most `max_bytes`; util::InfraError E_COMPILE_ROLE if larger.
[[nodiscard]] std::string read_memory(int fd, std::size_t max_bytes);

}  // namespace sweep::compile

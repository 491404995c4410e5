#pragma once

#include "evaluate/admission/admission.h"
#include "problem/problem.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What `sweep problems admit` found, as it lies beside the problem (docs/admission.md).
namespace sweep::admit {

// SHA-256 of what an admission depends on, in hex; empty: there is none.
struct Hashes {
  std::string problem;    // problem.toml, reference.cu and its like (problem::Problem::hash)
  std::string reference;  // reference.cu alone
  std::string seed, golden;

  friend bool operator==(const Hashes&, const Hashes&) = default;
};

// One run over all rules on one device.
struct Admission {
  std::string problem;  // id
  bool cuda = false;
  std::string device, driver;  // "NVIDIA H200", "580.159.04" (empty on the cpu device)
  std::string version;         // of the program
  std::string made;            // "2026-11-30T16:00:00Z"
  Hashes hashes;
  std::string failure;  // why no rule was examined; empty: they were
  std::vector<evaluate::admission::RuleResult> rules;

  // Every rule holds. On the cpu device rule 6 is not measured, and rule 7 need not be whole (draws
  // take too long there): what is scored needs an admission on a GPU.
  [[nodiscard]] bool admitted() const;
};

enum class Status { none, admitted, refused, stale, unreadable };

// "admitted", "not admitted", "stale", "unreadable", "-".
[[nodiscard]] std::string_view name(Status status);

// Where a problem stands.
struct Standing {
  Status status = Status::none;
  std::string text;  // "admitted on NVIDIA H200", "not admitted on cpu: rules 2, 5", ""
};

inline constexpr std::string_view kRecordFile = "admission.json";

// The admissions in `folder`, at most one for each kind of device; empty where there is no file.
// Throws util::UsageError "E_ADMISSION_FILE" for a file that is no such record.
[[nodiscard]] std::vector<Admission> read_record(const std::filesystem::path& folder);

// Puts `admission` into the folder's file in the place of an earlier one on the same kind of
// device, in one step. An unreadable file is replaced. Throws util::InfraError where it cannot be
// written.
void store(const std::filesystem::path& folder, const Admission& admission);

// What the folder's record says of a problem with these hashes now. The run on a GPU counts before
// one on the cpu device, unless it is stale and the other is not. Never throws for what the file
// contains.
[[nodiscard]] Standing standing(const std::filesystem::path& folder, const Hashes& now);

[[nodiscard]] nlohmann::json to_json(const Admission& admission);
// Throws util::Error for a member that is missing or of another type.
[[nodiscard]] Admission admission_from_json(const nlohmann::json& body);

}  // namespace sweep::admit

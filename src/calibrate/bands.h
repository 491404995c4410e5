#pragma once

#include "calibrate/material.h"
#include "calibrate/rig.h"
#include "evaluate/calibration.h"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sweep::calibrate {

// A duration at which kernels are timed against themselves.
struct Band {
  std::string_view key;   // on the command line: "10", "gemm9"
  std::string_view name;  // "copy 10 us"
  Kind kind = Kind::copy;
  double seconds = 0;
};

inline constexpr std::array kBands{Band{"3", "copy 3 us", Kind::copy, 3e-6},
                                   Band{"10", "copy 10 us", Kind::copy, 10e-6},
                                   Band{"30", "copy 30 us", Kind::copy, 30e-6},
                                   Band{"100", "copy 100 us", Kind::copy, 100e-6},
                                   Band{"1000", "copy 1 ms", Kind::copy, 1e-3},
                                   Band{"gemm9", "gemm 9 us", Kind::gemm, 9e-6},
                                   Band{"gemm180", "gemm 180 us", Kind::gemm, 180e-6}};

// A band with the work that takes about as long on this device.
struct SizedBand {
  Band band;
  std::int64_t rows = 0;  // of dims_of()
  double seconds = 0;     // measured, one process, median
};

// Rows that a search may take, both included: 1 <= low < high.
struct RowRange {
  std::int64_t low = 1, high = 2;
};

// Rows whose call takes two thirds to one and a half of the band's duration, nearest to it of those
// tried, by `seconds` of a number of rows, which grows with it but for disturbed measurements: a
// search that ends elsewhere is made again, four in all. None where no search ends within.
[[nodiscard]] std::optional<SizedBand> size_by(const std::function<double(std::int64_t)>& seconds,
                                               const Band& band,
                                               RowRange range);

// size_by() of the kernel's calls with cold caches, within what the device's memory allows.
[[nodiscard]] std::optional<SizedBand> size_band(Rig& rig,
                                                 const Material& material,
                                                 const Band& band);

// What the usual method said of a kernel and itself.
struct Usual {
  double ratio = 1;      // of the means
  bool differs = false;  // Welch's t at 95%
};

// Two modules of the same code: A 100 times, then B 100 times, each call after a flush.
[[nodiscard]] Usual usual_method(Rig& rig, const Material& material, const SizedBand& band);

// One session of a kernel against itself, as one band saw it.
struct BandSession {
  std::string band;                // Band::name
  double seconds = 0;              // median call of the seed
  std::vector<double> log_ratios;  // of each replicate: the median of its blocks
  // Log ratio of each replicate's blocks in millionths, which is what was measured but for the
  // calls' own times; empty in lines from before they were kept.
  std::vector<std::vector<std::int64_t>> blocks;
  bool uneven = false;         // replicates are then ratios of mean times, not of the blocks
  evaluate::Interval ratio;    // Student's t over them
  std::string verdict;         // of this band alone, by `sweep eval`'s rule with m = 1%
  std::string samples_sha256;  // of the call times in order
  // Mean of 100 calls of a kernel, then of 100 calls of itself, in one process: the usual method.
  std::optional<Usual> usual;
};

[[nodiscard]] nlohmann::json to_json(const BandSession& session);
// Throws wire::WireError: the file may be anyone's.
[[nodiscard]] BandSession session_from_json(const nlohmann::json& body);

// Of shape `index` of a session's result.
[[nodiscard]] BandSession band_session(const evaluate::TimeResult& time,
                                       std::size_t index,
                                       const Band& band);

// Over the sessions of one band; at least one. half_width as CalibratedBand says: research puts the
// floor at |estimate| + half-width, pooled over sessions, since a quantile of five values is their
// largest.
[[nodiscard]] evaluate::CalibratedBand summarise(const Band& band,
                                                 std::span<const BandSession> sessions);

}  // namespace sweep::calibrate

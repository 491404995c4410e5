#include "problem/isa.h"

#include <algorithm>

namespace sweep::problem {
namespace {

constexpr std::array<std::string_view, 3> kIsaPolicies = {"off", "warn", "gate"};

constexpr std::array kFamilies = {
    IsaFamily{"mma",
              "tensor cores by the warp",
              {"mma.sync", "wmma.mma"},
              {"HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA"}},
    IsaFamily{"ldmatrix", "matrix loads from shared memory", {"ldmatrix.sync"}, {"LDSM"}},
    IsaFamily{"stmatrix", "matrix stores to shared memory", {"stmatrix.sync"}, {"STSM"}},
    IsaFamily{"cp_async",
              "asynchronous copies to shared memory by the thread",
              {"cp.async.ca.", "cp.async.cg."},
              {"LDGSTS"}},
    IsaFamily{"mbarrier", "barriers in shared memory", {"mbarrier."}, {"SYNCS"}},
    IsaFamily{"bulk",
              "bulk copies without a tensor map",
              {"cp.async.bulk.shared",
               "cp.async.bulk.global",
               "cp.reduce.async.bulk.shared",
               "cp.reduce.async.bulk.global"},
              {"UBLKCP", "UBLKRED"}},
    IsaFamily{"tma",
              "bulk copies by a tensor map",
              {"cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor"},
              {"UTMALDG", "UTMASTG", "UTMAREDG"}},
    IsaFamily{"wgmma",
              "tensor cores by the warpgroup",
              {"wgmma.mma_async"},
              {"HGMMA", "IGMMA", "QGMMA", "BGMMA"}},
    IsaFamily{"tcgen05",
              "tensor cores with tensor memory",
              {"tcgen05.mma"},
              {"UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCOMMA"}},
};

}  // namespace

std::string_view name(IsaPolicy policy) {
  return kIsaPolicies.at(static_cast<std::size_t>(policy));
}

std::optional<IsaPolicy> parse_isa_policy(std::string_view text) {
  const auto* const found = std::ranges::find(kIsaPolicies, text);
  return found == kIsaPolicies.end()
             ? std::nullopt
             : std::optional(static_cast<IsaPolicy>(found - kIsaPolicies.begin()));
}

bool IsaFamily::has_opcode(std::string_view opcode) const {
  return !opcode.empty() && std::ranges::find(opcodes, opcode) != opcodes.end();
}

std::span<const IsaFamily> isa_families() {
  return kFamilies;
}

const IsaFamily* isa_family(std::string_view name_or_opcode) {
  const auto* const found = std::ranges::find_if(kFamilies, [&](const IsaFamily& family) {
    return family.name == name_or_opcode || family.has_opcode(name_or_opcode);
  });
  return found == kFamilies.end() ? nullptr : found;
}

}  // namespace sweep::problem

// Plain data shared by host and device: this text is embedded and compiled by NVRTC too, so no
// includes.
#pragma once

namespace sweep::problem {

enum GroupKind : unsigned {
  kGroupOwner,        // row of each element
  kGroupPermutation,  // one keyed permutation
  kGroupShuffle,      // a permutation for each row of `range` elements
  kGroupInverse,      // the inverse of each of them
  kGroupColumns,      // columns of the elements of each row
};

// One part of a group with everything resolved but the rows' offsets; passed to kernels by value
// (48 bytes).
struct GroupParameters {
  unsigned long long key = 0;  // permutation: its key; shuffle, columns: of the rows' words
  unsigned kind = kGroupOwner;
  unsigned unique = 0;  // columns: no column twice in a row
  unsigned sorted = 0;  // columns: ascending in each row
  unsigned unused = 0;
  long long count = 0;  // elements
  long long rows = 0;   // owner, columns: there are rows + 1 offsets
  long long range = 0;  // columns: how many there are; others: length of a permutation
};

static_assert(sizeof(GroupParameters) == 48);

}  // namespace sweep::problem

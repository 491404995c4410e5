// Plain data shared by host and device: this text is embedded and compiled by NVRTC too, so no
// includes.
#pragma once

namespace sweep::problem {

enum CompareScale : unsigned { kScaleRow, kScaleTensor, kScaleElement, kScaleAux };

// Constants of one comparison. Complex tensors count components: `count` and `row_length` are
// doubled.
struct CompareParameters {
  unsigned type = 0;           // FillType of a component of y and s
  unsigned bitwise = 0;        // 1: equal bits wanted
  unsigned scale = kScaleRow;  // CompareScale
  unsigned allow_nan = 0;      // policy nan = "output"
  unsigned allow_infinity = 0;
  unsigned has_poison = 0;
  unsigned poison = 0;       // 32-bit pattern of the buffer before the call
  unsigned components = 1;   // 2 for complex
  long long count = 0;       // components in all
  long long row_length = 1;  // components in a row
  long long columns = 1;     // components along the last axis: unit of the pattern
  long long prefix = 1;      // components for one element of `unless` (1 = elementwise)
  double c_max = 8;
  double c_rms = 4;
  double ulps = 2;
  double floor = 0;
  double ceiling = 0;
  double ambiguous = 0.001;  // share of elements that may differ under `unless`
  double known_e_max = -1;   // not negative: this is E_max, no seed pass and no rms rule
  double least_scale = 0;    // kScaleElement: no element's scale is less
  unsigned seed_rule = 0;    // 1: the oracle's place is taken by the seed, in the output's type
  unsigned unused = 0;
};

// What the passes leave.
struct CompareResult {
  double e_max = 0;
  double e_rms = 0;
  double e_row = 0;  // that every row may take
  double worst = 0;
  double worst_rms = 0;
  double expected = 0;  // at first_bad
  double got = 0;
  double allowed = 0;
  long long bad = 0;
  long long first_bad = -1;  // component index
  long long last_bad = -1;
  long long bad_rows = 0;
  long long first_bad_row = -1;
  long long nan = 0;
  long long unwritten = 0;
  long long ambiguous = 0;
  unsigned tensor_rms_bad = 0;
  unsigned unused = 0;
  // Extent of the bad components in the matrix [count / columns, columns].
  long long row_min = 0, row_max = -1, column_min = 0, column_max = -1;
  long long rows_hit = 0, columns_hit = 0;  // rows and columns of that matrix with at least one
};

}  // namespace sweep::problem

// The harness's own device code: cache flush, its probe and the washer. Compiled by NVRTC at run time for the
// device's own architecture; nothing here needs a header.

using u32 = unsigned int;
using u64 = unsigned long long;

// Flush, first half: writes `count` 16-byte words that differ from call to call.
extern "C" __global__ void __launch_bounds__(1024) flush_write(uint4* to, u64 count, u32 value) {
  const u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    to[i] = make_uint4(value, value ^ u32(i), ~value, value + u32(i));
  }
}

// Flush, second half: reads the same words, so that no dirty line is left for the timed kernel to write back.
// `sink` is written only if the sum has one value of 2^32, so the loads cannot be left out.
extern "C" __global__ void __launch_bounds__(1024)
    flush_read(const uint4* from, u64 count, u32 unlikely, u32* sink) {
  const u64 stride = u64(gridDim.x) * blockDim.x;
  u32 sum = 0;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    u32 x, y, z, w;
    asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                 : "l"(from + i));
    sum += x ^ y ^ z ^ w;
  }
  if (sum == unlikely) {
    *sink = sum;
  }
}

// What Harness::holds asks: the words at `at` are all `pattern` (`by_word`), or its `bytes` bytes are those at `other`.
struct Search {
  u64 at, other, bytes;
  u32 pattern, by_word;
};

struct Searches {
  Search each[32];
};

// Whether this thread's share of two ranges differs. Ranges with equal alignment to 16 are compared by 16 bytes.
__device__ bool unequal_share(const unsigned char* a, const unsigned char* b, u64 bytes) {
  const u64 stride = u64(gridDim.x) * blockDim.x;
  const u64 me = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool aligned = ((u64(a) | u64(b)) & 15) == 0;
  const u64 wide = aligned ? bytes / 16 : 0;
  bool unequal = false;
  for (u64 i = me; i < wide; i += stride) {
    const uint4 x = reinterpret_cast<const uint4*>(a)[i];
    const uint4 y = reinterpret_cast<const uint4*>(b)[i];
    unequal |= x.x != y.x || x.y != y.y || x.z != y.z || x.w != y.w;
  }
  for (u64 i = wide * 16 + me; i < bytes; i += stride) {
    unequal |= a[i] != b[i];
  }
  return unequal;
}

__device__ bool other_word_in_share(const u32* at, u64 count, u32 pattern) {
  const u64 stride = u64(gridDim.x) * blockDim.x;
  bool other = false;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    other |= at[i] != pattern;
  }
  return other;
}

// Sets found[y] where search y finds what contradicts it: all searches in one launch, as each costs 3 us.
extern "C" __global__ void __launch_bounds__(1024)
    find_contradictions(const __grid_constant__ Searches searches, u32* found) {
  const Search& s = searches.each[blockIdx.y];
  const bool contradicted =
      s.by_word != 0 ? other_word_in_share(reinterpret_cast<const u32*>(s.at), s.bytes / 4, s.pattern)
                     : unequal_share(reinterpret_cast<const unsigned char*>(s.at),
                                     reinterpret_cast<const unsigned char*>(s.other),
                                     s.bytes);
  if (contradicted) {
    found[blockIdx.y] = 1;
  }
}

// Loads each probe line into L2: even lines with normal priority, odd ones as evict_last where `hostile`. The lines of
// block b are `lines` places `line_bytes` apart from b * lines * line_bytes on; one thread a block.
extern "C" __global__ void probe_touch(const char* base, u32 lines, u64 line_bytes, u32 hostile,
                                       u32* sink) {
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  u32 sum = 0;
  for (u32 i = 0; i < lines; ++i) {
    const char* at = base + (u64(blockIdx.x) * lines + i) * line_bytes;
    u32 value;
    if (hostile != 0 && (i & 1) != 0) {
      asm volatile("ld.global.L2::cache_hint.u32 %0, [%1], %2;"
                   : "=r"(value)
                   : "l"(at), "l"(policy)
                   : "memory");
    } else {
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    }
    sum += value;
  }
  if (sum == 0x9e3779b9u) {
    *sink = sum;
  }
}

// Cycles of one load of each probe line, twice: `first` as the line was left by the flush, `second` right after, when it is
// surely in L2. A load of another line of the page (at `warm`) goes before, so that address translation costs
// neither. One thread a block, lines laid out as in probe_touch.
extern "C" __global__ void probe_time(const char* base, const char* warm, u32 lines, u64 line_bytes,
                                      u32* first, u32* second, u32* sink) {
  __shared__ u32 seen[1];
  const u32 seen_at = u32(__cvta_generic_to_shared(seen));
  u32 sum = 0;
  u32 value;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(warm + blockIdx.x * 128) : "memory");
  asm volatile("st.volatile.shared.u32 [%0], %1;" : : "r"(seen_at), "r"(value) : "memory");
  for (u32 pass = 0; pass < 2; ++pass) {
    u32* out = (pass == 0 ? first : second) + u64(blockIdx.x) * lines;
    for (u32 i = 0; i < lines; ++i) {
      const char* at = base + (u64(blockIdx.x) * lines + i) * line_bytes;
      u32 start, stop;
      asm volatile("mov.u32 %0, %%clock;" : "=r"(start) : : "memory");
      asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
      // Storing the value waits for the load; instructions issue in order, so the clock is read after it.
      asm volatile("st.volatile.shared.u32 [%0], %1;" : : "r"(seen_at), "r"(value) : "memory");
      asm volatile("mov.u32 %0, %%clock;" : "=r"(stop) : : "memory");
      sum += value;
      out[i] = stop - start;
    }
  }
  if (sum == 0x9e3779b9u) {
    *sink = sum;
  }
}

// One block a multiprocessor (the host asks for all its shared memory): overwrites shared memory and the registers, then
// spins `rounds` fixed rounds of arithmetic.
extern "C" __global__ void __launch_bounds__(1024, 1)
    wash_shared(u32 words, u32 value, u32 rounds, u32* sink) {
  extern __shared__ u32 shared[];
  const u32 shared_at = u32(__cvta_generic_to_shared(shared));
  for (u32 i = threadIdx.x; i < words; i += blockDim.x) {
    asm volatile("st.volatile.shared.u32 [%0], %1;" : : "r"(shared_at + 4 * i), "r"(value ^ i) : "memory");
  }
  constexpr int kLive = 56;  // of the 64 registers that a thread of a full block may have
  u32 live[kLive];
#pragma unroll
  for (int i = 0; i < kLive; ++i) {
    live[i] = value * u32(2 * i + 1);
  }
  for (u32 round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < kLive; ++i) {
      live[i] = live[i] * 1664525u + live[(i + 1) % kLive];
    }
  }
  u32 sum = 0;
#pragma unroll
  for (int i = 0; i < kLive; ++i) {
    sum ^= live[i];
  }
  if (sum == 0x9e3779b9u) {
    *sink = sum;
  }
}

// Overwrites kWords words of local memory of each thread. The host launches as many full blocks as are resident at once, so
// every warp's place in the arena is written; `arrived` (zero at the start) holds each block until all run, or
// for 2^16 looks where something else keeps some of them out.
template <int kWords>
__global__ void __launch_bounds__(1024) wash_local(u32 value, u32* arrived, u32* sink) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    for (u32 look = 0; look < 65536 && *static_cast<volatile u32*>(arrived) < gridDim.x; ++look) {
    }
  }
  __syncthreads();
  u32 local[kWords];
  // A pointer that the compiler cannot trace back to the array: otherwise it drops the stores, volatile or not.
  volatile u32* at = local;
  asm volatile("" : "+l"(at));
#pragma unroll 4
  for (int i = 0; i < kWords; ++i) {
    at[i] = value + u32(i);
  }
  const u32 sum = at[value % kWords];
  if (sum == 0x9e3779b9u) {
    *sink = sum;
  }
}

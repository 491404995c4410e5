#pragma once

#include "util/fd.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace sweep::device {

enum class Kind { cpu, cuda };

// "cpu", "cuda" (index 0) or "cuda:N".
struct Id {
  Kind kind = Kind::cpu;
  int index = 0;
};

struct Info {
  std::string name;    // "NVIDIA H200"; for cpu the processor's model name
  std::string uuid;    // names the lock file; "cpu" for the cpu device
  std::string driver;  // "580.159.04"; empty for cpu
  std::string arch;    // "sm_90a"; "x86-64" for cpu
  int sm_count = 1;
  std::size_t total_bytes = 0;
  std::size_t l2_bytes = 0;
  std::size_t max_shared_bytes = 0;  // opt-in limit a block
  double clock_mhz = 0;
  double dram_bytes_per_second = 0;  // datasheet: memory clock x bus width
};

enum class Access { read, read_write };

using Address = std::uint64_t;

// Device memory with hard edges. address() is a multiple of 256; the end, rounded up to 256, is at
// a page border followed by 256 MiB of unmapped addresses, so that up to 255 bytes after `bytes`
// are readable slack and any access beyond is a device fault. Before the start lie the unused rest
// of the first page (cuda: 2 MiB) and as many unmapped addresses. An importer maps the same memory
// with its own rights: a write through Access::read, or any access beyond the edges, is a fault in
// the importer only.
class Buffer {
 public:
  virtual ~Buffer() = default;
  [[nodiscard]] virtual Address address() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  // Bytes before address() that a kernel reaches without a fault: the rest of the first page.
  [[nodiscard]] virtual std::size_t front() const = 0;
  // Descriptor to pass to another process with Device::import (owner only).
  [[nodiscard]] virtual util::Fd export_fd() const = 0;
};

// How a kernel is launched beside its extents. The cpu device knows none of these.
struct LaunchAttributes {
  std::array<std::uint32_t, 3> cluster{};  // blocks of a cluster; all 0: as the kernel declares
  bool cooperative = false;                // all blocks are resident at once
  // May begin before the launch just before it has ended, once every block of that one has allowed
  // it; without effect after anything but a launch.
  bool early_start = false;

  friend bool operator==(const LaunchAttributes&, const LaunchAttributes&) = default;
};

// What a tensor map (TMA descriptor) says. Dims run from the innermost outwards; those beyond
// `rank` are 0. As an argument of a launch it stands for the 128 bytes that the device makes of it;
// rank 0 (a tensor without elements): 128 zero bytes.
struct TensorMap {
  enum class Type : std::uint8_t { u8, u16, u32, i32, u64, i64, f16, f32, f64, bf16 };
  Address address = 0;                     // multiple of 16
  std::array<std::uint64_t, 5> dims{};     // elements
  std::array<std::uint64_t, 4> strides{};  // bytes, of dims 1 and up
  std::array<std::uint16_t, 5> box{};      // elements, 1 to 256
  std::array<std::uint8_t, 5> steps{};     // elements from one that is copied to the next, 1 to 8
  std::uint8_t rank = 0;                   // 0 to 5
  Type type{};
  std::uint8_t swizzle = 0;                 // bytes: 0, 32, 64, 128
  std::uint16_t l2_bytes = 0;               // 0, 64, 128, 256
  std::uint8_t nan_outside = 0;             // 1: elements outside the tensor are NaN, else 0
  std::array<std::uint8_t, 27> reserved{};  // no bytes but these are left over: all compare
};

static_assert(sizeof(TensorMap) == 128 && std::is_trivially_copyable_v<TensorMap>);

// A kernel launch with everything fixed; `arguments` are the bytes of each parameter in order.
struct Launch {
  std::string kernel;  // key given in Image::kernels
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t shared_bytes = 0;
  std::vector<std::vector<std::byte>> arguments;
  LaunchAttributes attributes{};
  std::vector<std::size_t> tensor_maps{};  // those of `arguments` whose bytes are a TensorMap
};

struct Memset {
  Address to = 0;
  std::size_t bytes = 0;  // set to zero
};

struct Memcpy {
  Address to = 0;
  Address from = 0;
  std::size_t bytes = 0;
};

using Step = std::variant<Launch, Memset, Memcpy>;

// A statement about the harness's buffers: the `bytes` bytes at `at` equal those at `other`, or,
// with a pattern, each of their 32-bit words (bytes is a multiple of 4) is the pattern.
struct Claim {
  Address at = 0;
  std::size_t bytes = 0;
  Address other = 0;
  std::optional<std::uint32_t> pattern = std::nullopt;
};

// A kernel in a compiled image.
struct Kernel {
  std::string name;     // name expression of the plan
  std::string lowered;  // symbol in the image
};

// Compiled code: a cubin (cuda) or a shared object (cpu), with its kernels.
struct Image {
  std::vector<std::byte> bytes;
  std::vector<Kernel> kernels;
};

// What went wrong on the device while candidate code ran: data for a verdict, not an exception.
struct Fault {
  enum class Kind { launch, memory, timeout, out_of_memory, other };
  Kind kind = Kind::other;
  std::string text;  // "CUDA error 700 (illegal memory access)" or "signal 11 (SIGSEGV)"
  // memory: the address that was touched, where the device tells (cpu). Tells a write to an input
  // from an overrun.
  std::optional<Address> address = std::nullopt;
};

struct FunctionFacts {
  int registers = 0;
  std::size_t shared_bytes = 0;
  std::size_t local_bytes = 0;
  int max_threads = 1024;
  std::vector<std::size_t> parameter_bytes;  // driver's parameter info; empty on cpu
};

class Module {
 public:
  virtual ~Module() = default;
  [[nodiscard]] virtual FunctionFacts facts(std::string_view kernel) const = 0;
  [[nodiscard]] virtual int occupancy(std::string_view kernel,
                                      int threads,
                                      std::size_t shared_bytes) const = 0;
};

// A plan made ready (cuda: an instantiated graph). Lives no longer than its module and buffers.
class Sequence {
 public:
  virtual ~Sequence() = default;
};

struct RunTime {
  // Between two events that begin and end the graph; cpu: monotonic clock around the sequence.
  double device_seconds = 0;
  double host_seconds = 0;  // host clock around launch and synchronise
};

// One device in one process. A process uses one Device object, from one thread. Harness failures
// throw util::InfraError; faults while a sequence runs are returned. After a Fault the object is
// dead: destroy the process.
class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual const Info& info() const = 0;
  [[nodiscard]] virtual std::size_t free_bytes() const = 0;

  // Own memory with the edges of Buffer, shareable by export_fd(); contents undefined. Throws
  // util::InfraError E_DEVICE_MEMORY when there is not enough.
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate(std::size_t bytes) = 0;
  // Maps a descriptor from export_fd of `bytes` bytes.
  [[nodiscard]] virtual std::unique_ptr<Buffer> import(util::Fd fd,
                                                       std::size_t bytes,
                                                       Access access) = 0;

  virtual void upload(Address to, std::span<const std::byte> from) = 0;
  virtual void download(std::span<std::byte> to, Address from) = 0;
  // Sets `bytes` bytes (multiple of 4) to the 32-bit pattern; on cuda asynchronous until
  // synchronize().
  virtual void fill_words(Address to, std::size_t bytes, std::uint32_t pattern) = 0;

  // The harness's own work on its buffers, on the device where it can. copy is asynchronous on cuda
  // until synchronize(); the ranges of copy must not overlap. `bytes` of all_words is a multiple
  // of 4.
  virtual void copy(Address to, Address from, std::size_t bytes);
  [[nodiscard]] virtual bool equal(Address a, Address b, std::size_t bytes);
  [[nodiscard]] virtual bool all_words(Address at, std::size_t bytes, std::uint32_t pattern);
  // Which of the claims hold, in order; on cuda all of them cost one wait.
  [[nodiscard]] virtual std::vector<bool> holds(std::span<const Claim> claims);

  // Launches a trusted kernel at once; asynchronous on cuda until synchronize(). A fault is
  // InfraError.
  virtual void launch(Module& module, const Launch& launch);

  [[nodiscard]] virtual std::variant<std::unique_ptr<Module>, Fault> load(const Image& image) = 0;
  // A vendor library (library.h) in the place of compiled code: its sequences have one step, a
  // library_launch() of `function`, and are prepared on buffers with valid content, as the call is
  // made once for that. `path` as describe_library() gave it. Throws util::UsageError where it
  // cannot be opened, and on the cpu device.
  [[nodiscard]] virtual std::unique_ptr<Module> open_library(std::string_view function,
                                                             const std::string& path);
  [[nodiscard]] virtual std::variant<std::unique_ptr<Sequence>, Fault> prepare(
      Module& module, std::span<const Step> steps) = 0;
  // Gives a prepared sequence the arguments of `steps`, which differ from those that it was made of
  // in bytes of arguments only. On the host alone: what the device must be told, the next run()
  // tells it before its clocks start. False: this device makes it anew instead.
  [[nodiscard]] virtual bool update(Sequence& sequence, std::span<const Step> steps);
  [[nodiscard]] virtual std::variant<RunTime, Fault> run(Sequence& sequence) = 0;

  // Cold caches before a timed call: reset of persisting L2 lines, then write and read of at
  // least 2.5x L2 (cpu: 2x LLC); waits for all earlier work first. The probe lines are loaded
  // before, half of them marked to be kept (evict_last); this returns the share of probe lines
  // found evicted (1 = all), or nothing where it cannot be probed.
  [[nodiscard]] virtual std::optional<double> flush_cache() = 0;
  // Runner: fixed work on all SMs that overwrites shared memory, registers and as much local memory
  // a thread as any module loaded so far needs; asynchronous on cuda. No effect on cpu beyond
  // poisoning.
  virtual void wash() = 0;
  virtual void reset_persisting_cache() = 0;

  // The harness's own compiled device code; pass it to open() in a process that has no compiler at
  // hand or should not spend 0.3 s on it (a runner). Empty on cpu. cuda: compiled by NVRTC at the
  // first need. Throws util::UsageError E_NVRTC_MISSING.
  [[nodiscard]] virtual Image own_code() { return {}; }

  // Takes the place of what own_code() would compile; before the first flush_cache() or wash().
  virtual void use_own_code(Image image);

  virtual void synchronize() = 0;
};

// The harness's own device code of a kind, to be compiled as CUDA C++20 without further headers;
// no text for cpu.
struct OwnSource {
  std::string file, text;
  std::vector<std::string> kernels;  // name expressions
};

[[nodiscard]] OwnSource own_source(Kind kind);

// Throws util::UsageError (no such device, driver missing: says what to do) or InfraError.
// `own_code` from Device::own_code() of another process; empty: compiled when first needed.
[[nodiscard]] std::unique_ptr<Device> open(Id id, Image own_code = {});

// "NAME=value" of what a role that opens `id` needs from this process's environment, where it is
// set: which devices are visible and where driver and toolkit are (CUDA_VISIBLE_DEVICES, CUDA_HOME,
// LD_LIBRARY_PATH), and the switches that keep the driver from compiling. Empty for cpu.
[[nodiscard]] std::vector<std::string> role_environment(Id id);

[[nodiscard]] Id parse_id(std::string_view text);  // throws util::UsageError
[[nodiscard]] std::string text(Id id);

// Devices of this machine: "cpu" always first (available says if g++ is there), then each CUDA
// device.
struct Listed {
  Id id;
  Info info;
  bool usable = false;
  std::string reason;  // why not usable, and what to do
};

[[nodiscard]] std::vector<Listed> list();

}  // namespace sweep::device

#include "device/cpu/module.h"

#include "util/error.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

// glibc: start of the calling OS thread's TLS block of a module, {module id, offset}.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the loader's name.
extern "C" void* __tls_get_addr(std::size_t*);

namespace sweep::device::cpu {
namespace {

constexpr unsigned char kPoison = 0xff;  // NaN as float, half and bfloat16; -1 as integer
constexpr std::size_t kCanaryBytes = 128;

#ifndef MFD_EXEC
constexpr unsigned kMemfdExec = 0x0010U;  // Linux 6.3; older kernels refuse the flag
#else
constexpr unsigned kMemfdExec = MFD_EXEC;
#endif

void write_sealed(const util::Fd& file, const std::vector<std::byte>& bytes) {
  util::write_all(file.get(),
                  {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                  "cpu device, module");
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) {
    util::throw_errno("fcntl(F_ADD_SEALS)", "cpu device, module");
  }
}

struct TlsQuery {
  const link_map* map;
  std::size_t bytes;
};

int find_tls(dl_phdr_info* info, std::size_t, void* data) {
  auto* query = static_cast<TlsQuery*>(data);
  if (info->dlpi_addr != query->map->l_addr) {
    return 0;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_TLS) {
      query->bytes = info->dlpi_phdr[i].p_memsz;
    }
  }
  return 1;
}

std::string dims(const std::array<std::uint32_t, 3>& d) {
  return "(" + std::to_string(d[0]) + ", " + std::to_string(d[1]) + ", " + std::to_string(d[2]) +
         ")";
}

Fault launch_fault(std::string_view kernel, const std::string& what) {
  return {Fault::Kind::launch, std::string(kernel) + ": " + what};
}

}  // namespace

util::Fd CpuModule::make_file() {
  int fd = memfd_create("sweep-module", MFD_CLOEXEC | MFD_ALLOW_SEALING | kMemfdExec);
  if (fd < 0) {
    fd = memfd_create("sweep-module", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  }
  if (fd < 0) {
    util::throw_errno("memfd_create", "cpu device, module");
  }
  return util::Fd(fd);
}

std::variant<std::unique_ptr<CpuModule>, std::string> CpuModule::load(const Image& image,
                                                                      util::Fd file) {
  write_sealed(file, image.bytes);
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return std::string(dlerror());
  }
  const auto* table =
      static_cast<const sweep_simt::ModuleTable*>(dlsym(handle, "sweep_simt_module"));
  if (table == nullptr || table->version != sweep_simt::kModuleVersion) {
    dlclose(handle);
    return std::string("not a module of this version of the cpu device: compile it again");
  }
  return std::unique_ptr<CpuModule>(new CpuModule(std::move(file), handle, table));
}

CpuModule::CpuModule(util::Fd file, void* handle, const sweep_simt::ModuleTable* table)
    : file_(std::move(file)), handle_(handle), table_(table) {
  const std::size_t all = tls_bytes();
  const std::size_t dynamic =
      uses_dynamic_shared() ? sweep_simt::kMaxSharedBytes + 2 * kCanaryBytes : 0;
  static_shared_ = all > dynamic ? all - dynamic : 0;
  if (static_shared_ != 0 && dlinfo(handle_, RTLD_DI_TLS_MODID, &tls_module_) != 0) {
    throw util::InfraError({"cpu device", std::string("dlinfo: ") + dlerror(), {}}, "E_SYSTEM");
  }
}

CpuModule::~CpuModule() {
  dlclose(handle_);
}

std::size_t CpuModule::tls_bytes() const {
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) {
    throw util::InfraError({"cpu device", std::string("dlinfo: ") + dlerror(), {}}, "E_SYSTEM");
  }
  TlsQuery query{map, 0};
  dl_iterate_phdr(&find_tls, &query);
  return query.bytes;
}

const sweep_simt::KernelEntry* CpuModule::find(std::string_view kernel) const {
  const auto* end = table_->entries + table_->kernels;
  const auto* at =
      std::find_if(table_->entries, end, [&](const auto& entry) { return kernel == entry.name; });
  return at == end ? nullptr : at;
}

FunctionFacts CpuModule::facts(std::string_view kernel) const {
  const sweep_simt::KernelEntry* entry = find(kernel);
  if (entry == nullptr) {
    throw util::InfraError({std::string(kernel), "the module has no such kernel", {}},
                           "E_KERNEL_UNKNOWN");
  }
  FunctionFacts facts;
  facts.shared_bytes = static_shared_;
  facts.parameter_bytes.assign(entry->parameter_bytes, entry->parameter_bytes + entry->parameters);
  return facts;
}

int CpuModule::occupancy(std::string_view kernel, int threads, std::size_t shared_bytes) const {
  (void)facts(kernel);
  return threads > 0 && threads <= static_cast<int>(kMaxThreads) &&
                 shared_bytes + static_shared_ <= sweep_simt::kMaxSharedBytes
             ? 1
             : 0;
}

void CpuModule::poison_shared(std::size_t dynamic) const {
  if (static_shared_ != 0) {
    // The first call of an OS thread makes its block.
    std::array<std::size_t, 2> index{tls_module_, 0};
    memset(__tls_get_addr(index.data()), kPoison, static_shared_);
  }
  void* extra = uses_dynamic_shared() ? table_->dynamic_shared() : nullptr;
  if (extra != nullptr) {
    memset(extra, kPoison, dynamic + kCanaryBytes);
  }
}

bool CpuModule::canary_intact(std::size_t dynamic) const {
  if (!uses_dynamic_shared()) {
    return true;
  }
  const auto* end = static_cast<const unsigned char*>(table_->dynamic_shared()) + dynamic;
  return std::all_of(end, end + kCanaryBytes, [](unsigned char c) { return c == kPoison; });
}

std::variant<PreparedLaunch, Fault> prepare_launch(const CpuModule& module, const Launch& launch) {
  const sweep_simt::KernelEntry* kernel = module.find(launch.kernel);
  if (kernel == nullptr) {
    return launch_fault(launch.kernel, "the module has no such kernel");
  }
  if (launch.attributes != LaunchAttributes{} || !launch.tensor_maps.empty()) {
    return launch_fault(launch.kernel,
                        "clusters, cooperative launches, pdl and tensor maps are unsupported on "
                        "device cpu");
  }
  const auto& g = launch.grid;
  const auto& b = launch.block;
  const std::uint64_t threads = std::uint64_t{b[0]} * b[1] * b[2];
  if (threads == 0 || b[0] > 1024 || b[1] > 1024 || b[2] > 64 || threads > kMaxThreads) {
    return launch_fault(launch.kernel,
                        "block " + dims(b) + " is outside 1024 x 1024 x 64 and 1024 threads");
  }
  if (g[0] == 0 || g[1] == 0 || g[2] == 0 || g[0] > 0x7fffffffu || g[1] > 65535 || g[2] > 65535) {
    return launch_fault(launch.kernel,
                        "grid " + dims(g) + " is outside 2147483647 x 65535 x 65535");
  }
  if (module.static_shared() + launch.shared_bytes > sweep_simt::kMaxSharedBytes) {
    return launch_fault(launch.kernel,
                        std::to_string(module.static_shared() + launch.shared_bytes) +
                            " bytes of shared memory are more than " +
                            std::to_string(sweep_simt::kMaxSharedBytes));
  }
  if (launch.arguments.size() != kernel->parameters) {
    return launch_fault(launch.kernel,
                        std::to_string(launch.arguments.size()) + " arguments for " +
                            std::to_string(kernel->parameters) + " parameters");
  }
  PreparedLaunch out;
  out.kernel = kernel;
  out.shape.grid = {g[0], g[1], g[2]};
  out.shape.block = {b[0], b[1], b[2]};
  out.shape.loop = kernel->loop;
  out.storage = launch.arguments;
  out.shared_bytes = launch.shared_bytes;
  for (std::size_t i = 0; i < out.storage.size(); ++i) {
    if (out.storage[i].size() != kernel->parameter_bytes[i]) {
      return launch_fault(launch.kernel,
                          "argument " + std::to_string(i + 1) + " has " +
                              std::to_string(out.storage[i].size()) + " bytes, its parameter " +
                              std::to_string(kernel->parameter_bytes[i]));
    }
    out.arguments.push_back(out.storage[i].data());
  }
  return out;
}

namespace {

// Block `index` of the launch (x fastest), with its shared memory washed before and its end checked
// after it.
std::optional<Failure> run_block(BlockRunner& runner,
                                 const CpuModule& module,
                                 const LaunchShape& shape,
                                 std::size_t shared_bytes,
                                 std::uint64_t index) {
  const bool shared = module.static_shared() != 0 || module.uses_dynamic_shared();
  if (shared) {
    module.poison_shared(shared_bytes);
  }
  const std::uint64_t row = index / shape.grid.x;
  auto bad = runner.run(shape,
                        {static_cast<unsigned>(index % shape.grid.x),
                         static_cast<unsigned>(row % shape.grid.y),
                         static_cast<unsigned>(row / shape.grid.y)});
  if (!bad && shared && !module.canary_intact(shared_bytes)) {
    bad = Failure{"shared memory written beyond the " + std::to_string(shared_bytes) +
                  " dynamic bytes of the launch"};
  }
  return bad;
}

}  // namespace

std::optional<Failure> run_launch(Pool& pool,
                                  const CpuModule& module,
                                  PreparedLaunch& launch,
                                  std::uint64_t key) {
  LaunchShape shape = launch.shape;
  const std::vector<uint3> order = thread_order(shape.block, key);
  shape.arguments = launch.arguments.data();
  shape.order = order;
  shape.key = key;
  const std::uint64_t blocks = std::uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z;
  // About 16 pieces a worker keep the pool busy to the end.
  const std::uint64_t piece =
      std::max<std::uint64_t>(1, blocks / (std::uint64_t{pool.size()} * 16));
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::optional<Failure> failure;
  pool.run(
      static_cast<unsigned>(std::min<std::uint64_t>(pool.size(), (blocks + piece - 1) / piece)),
      [&](unsigned, BlockRunner& runner) {
        for (;;) {
          const std::uint64_t begin = next.fetch_add(piece, std::memory_order_relaxed);
          for (std::uint64_t i = begin; i < std::min(blocks, begin + piece); ++i) {
            if (failed.load(std::memory_order_relaxed)) {
              return;
            }
            if (auto bad = run_block(runner, module, shape, launch.shared_bytes, i)) {
              const std::lock_guard lock(mutex);
              failed = true;
              failure = failure ? failure : std::move(bad);
              return;
            }
          }
          if (begin + piece >= blocks) {
            return;
          }
        }
      });
  return failure;
}

}  // namespace sweep::device::cpu

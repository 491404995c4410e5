// Stands in for libnvidia-ml where there is no GPU: one device, "GPU-fake", with an energy counter,
// processes and samples of what they did, as fake_nvml_*() set them.
#include <unistd.h>

namespace {

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

struct UtilizationSample {
  unsigned pid;
  unsigned long long time;
  unsigned multiprocessors, memory, encoder, decoder;
};

constexpr int kNotFound = 6, kInsufficientSize = 7;

struct State {
  unsigned long long millijoules = 0;
  unsigned pids[4] = {};
  unsigned processes = 0;
  UtilizationSample samples[4] = {};
  unsigned sampled = 0;
};

State& fake_state() {
  static State state;
  return state;
}

}  // namespace

extern "C" {

void fake_nvml_energy(unsigned long long millijoules) {
  fake_state().millijoules = millijoules;
}

void fake_nvml_process(unsigned pid) {
  fake_state().pids[fake_state().processes++] = pid;
}

void fake_nvml_sample(unsigned pid, unsigned long long time, unsigned multiprocessors) {
  fake_state().samples[fake_state().sampled++] = {pid, time, multiprocessors, 0, 0, 0};
}

void fake_nvml_reset() {
  fake_state() = {};
}

int nvmlInit_v2() {
  return 0;
}

int nvmlShutdown() {
  return 0;
}

const char* nvmlErrorString(int /*status*/) {
  return "a fake error";
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = &fake_state();
  return uuid[4] == 'f' ? 0 : kNotFound;
}

int nvmlDeviceGetTotalEnergyConsumption(void* /*device*/, unsigned long long* millijoules) {
  *millijoules = fake_state().millijoules;
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* /*device*/, unsigned* count, ProcessInfo* out) {
  const unsigned room = *count;
  *count = fake_state().processes + 1;
  if (room < *count) {
    return kInsufficientSize;
  }
  out[0] = {static_cast<unsigned>(::getpid()), 1, 0, 0};
  for (unsigned i = 0; i < fake_state().processes; ++i) {
    out[i + 1] = {fake_state().pids[i], 1, 0, 0};
  }
  return 0;
}

// As the driver does: samples after `since`; "not found" where nobody has one.
int nvmlDeviceGetProcessUtilization(void* /*device*/,
                                    UtilizationSample* out,
                                    unsigned* count,
                                    unsigned long long since) {
  unsigned found = 0;
  for (unsigned i = 0; i < fake_state().sampled && found < *count; ++i) {
    if (fake_state().samples[i].time > since) {
      out[found++] = fake_state().samples[i];
    }
  }
  *count = found;
  return found == 0 ? kNotFound : 0;
}
}

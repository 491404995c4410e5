#include "device/cpu/pool.h"

#include "util/error.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <system_error>

namespace sweep::device::cpu {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

void on_signal(int signal, siginfo_t* info, void*) {
  BlockRunner* runner = BlockRunner::current();
  if (runner != nullptr) {
    runner->give_up(signal, info->si_addr);
  }
  // The harness's own fault: the default action at the return to the faulting instruction.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
}

}  // namespace

struct Catch::Former {
  std::array<struct sigaction, kSignals.size()> actions;
};

Catch::Catch() : former_(std::make_unique<Former>()) {
  struct sigaction action = {};
  action.sa_sigaction = &on_signal;
  // The handler leaves by siglongjmp: nothing would unblock the signal again.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (sigaction(kSignals[i], &action, &former_->actions[i]) != 0) {
      util::throw_errno("sigaction", "cpu device");
    }
  }
}

Catch::~Catch() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &former_->actions[i], nullptr);
  }
}

AlternateStack::AlternateStack() : memory_(std::size_t{64} << 10) {
  stack_t stack = {};
  stack.ss_sp = memory_.data();
  stack.ss_size = memory_.size();
  if (sigaltstack(&stack, nullptr) != 0) {
    util::throw_errno("sigaltstack", "cpu device");
  }
}

AlternateStack::~AlternateStack() {
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

Pool::Pool(unsigned threads) {
  runners_.push_back(std::make_unique<BlockRunner>());
  for (unsigned i = 1; i < std::max(1u, threads); ++i) {
    runners_.push_back(std::make_unique<BlockRunner>());
    try {
      threads_.emplace_back([this, i] { serve(i); });
    } catch (const std::system_error&) {
      runners_.pop_back();  // a process limit: fewer workers are slower, not wrong
      break;
    }
  }
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  threads_.clear();
}

void Pool::serve(unsigned worker) {
  const AlternateStack stack;
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) {
      return;
    }
    seen = round_;
    if (worker >= workers_) {
      continue;
    }
    const auto& work = *work_;
    BlockRunner& runner = *runners_[worker];
    lock.unlock();
    work(worker, runner);
    lock.lock();
    if (--pending_ == 0) {
      done_.notify_one();
    }
  }
}

void Pool::run(unsigned workers, const std::function<void(unsigned, BlockRunner&)>& work) {
  workers = std::clamp(workers, 1u, size());
  if (workers > 1) {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    workers_ = workers;
    pending_ = workers - 1;
    ++round_;
  }
  if (workers > 1) {
    start_.notify_all();
  }
  work(0, *runners_[0]);
  if (workers > 1) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return pending_ == 0; });
  }
}

}  // namespace sweep::device::cpu

// Starts a program in which one system call fails, for end-to-end tests:
//   faults fsync|rename NUMBER ERRNO FOLDER PROGRAM ARGUMENTS...
// Of all fsync and fdatasync (or rename) calls of the program and of what it starts, on files below
// FOLDER, the one with NUMBER (from 1) fails with ERRNO; all others are made. Ends as the program
// does, or with 77 when this machine does not let it (no seccomp notifications).
#include <climits>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int kCannot = 77;
constexpr int kWrongUse = 2;
constexpr int kFirstArgument = 5;

int fail(const char* call) {
  std::fprintf(stderr, "faults: %s: %s\n", call, std::strerror(errno));
  return kCannot;
}

// Sends or receives one descriptor.
bool send_fd(int socket, int fd) {
  char byte = 'f';
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return ::sendmsg(socket, &message, 0) == 1;
}

int receive_fd(int socket) {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || CMSG_FIRSTHDR(&message) == nullptr) {
    return -1;
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

// In the child: everything that it starts has the filter, too.
int filtered(std::string_view what, int socket, char** program) {
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) {
    return fail("seccomp_init");
  }
  const int syncs[] = {SCMP_SYS(fsync), SCMP_SYS(fdatasync)};
  const int renames[] = {SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2)};
  bool made = true;
  if (what == "fsync") {
    for (const int call : syncs) {
      made = seccomp_rule_add(filter, SCMP_ACT_NOTIFY, call, 0) == 0 && made;
    }
  } else {
    for (const int call : renames) {
      made = seccomp_rule_add(filter, SCMP_ACT_NOTIFY, call, 0) == 0 && made;
    }
  }
  if (!made || seccomp_load(filter) != 0) {
    return fail("seccomp_load");
  }
  const int listener = seccomp_notify_fd(filter);
  if (listener < 0 || !send_fd(socket, listener)) {
    return fail("seccomp_notify_fd");
  }
  ::close(listener);
  ::close(socket);
  ::execv(program[0], program);
  return fail("execv");
}

std::string link_of(const std::string& path) {
  std::string text(PATH_MAX, '\0');
  const ssize_t n = ::readlink(path.c_str(), text.data(), text.size());
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

// A path argument of the process, absolute.
std::string path_at(pid_t pid, unsigned long long address) {
  const std::string proc = "/proc/" + std::to_string(pid);
  const int fd = ::open((proc + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  std::string text(PATH_MAX, '\0');
  const ssize_t n =
      fd >= 0 ? ::pread(fd, text.data(), text.size(), static_cast<off_t>(address)) : -1;
  ::close(fd);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  text.resize(std::strlen(text.c_str()));
  return text.starts_with('/') ? text : link_of(proc + "/cwd") + "/" + text;
}

std::string file_of(const seccomp_notif& call) {
  const auto pid = static_cast<pid_t>(call.pid);
  switch (call.data.nr) {
    case SYS_fsync:
    case SYS_fdatasync:
      return link_of("/proc/" + std::to_string(pid) + "/fd/" + std::to_string(call.data.args[0]));
#ifdef SYS_rename
    case SYS_rename:
      return path_at(pid, call.data.args[1]);
#endif
    default:
      return path_at(pid, call.data.args[3]);
  }
}

struct Plan {
  long number = 0;
  int error = 0;
  std::string folder;
  long seen = 0;
};

void answer(int listener, seccomp_notif* call, seccomp_notif_resp* response, Plan& plan) {
  if (seccomp_notify_receive(listener, call) != 0) {
    return;  // its caller died meanwhile
  }
  const bool ours = file_of(*call).starts_with(plan.folder);
  const bool fails = ours && ++plan.seen == plan.number;
  response->id = call->id;
  response->val = 0;
  response->error = fails ? -plan.error : 0;
  response->flags = fails ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  (void)seccomp_notify_respond(listener, response);
}

int serve(int listener, pid_t child, Plan plan) {
  seccomp_notif* call = nullptr;
  seccomp_notif_resp* response = nullptr;
  if (seccomp_notify_alloc(&call, &response) != 0) {
    return fail("seccomp_notify_alloc");
  }
  while (true) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    constexpr int kTick = 20;  // milliseconds
    pollfd ready{listener, POLLIN, 0};
    if (::poll(&ready, 1, kTick) > 0 && (ready.revents & POLLIN) != 0) {
      *call = {};
      answer(listener, call, response, plan);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = count > kFirstArgument ? arguments[1] : "";
  if (what != "fsync" && what != "rename") {
    return kWrongUse;
  }
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return fail("socketpair");
  }
  const pid_t child = ::fork();
  if (child < 0) {
    return fail("fork");
  }
  if (child == 0) {
    ::close(pair[0]);
    ::_exit(filtered(what, pair[1], arguments + kFirstArgument));
  }
  ::close(pair[1]);
  const int listener = receive_fd(pair[0]);
  if (listener < 0) {
    ::waitpid(child, nullptr, 0);
    return kCannot;
  }
  return serve(listener,
               child,
               {std::atol(arguments[2]), std::atoi(arguments[3]), std::string(arguments[4]) + "/"});
}

#pragma once

#include <string>
#include <string_view>

namespace sweep::test {

// Device code that tries system calls from inside a role and writes "probe NAME: RESULT" lines to
// descriptor `say_to` of the including text: RESULT is what the kernel answered, an error as a
// negative number (-1 EPERM, -13 EACCES). Raw calls, since code for the cpu device imports no
// functions; only code that is compiled as a problem's own may hold them.
inline constexpr std::string_view kProbeCode = R"(
static long call(long n, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result = n;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
static long at(const void* text) { return (long)text; }
static void print(const char* text) {
  long size = 0;
  while (text[size] != 0) ++size;
  call(1, say_to, at(text), size);
}
static void print(long number) {
  char text[24];
  char* end = text + 23;
  *end = 0;
  unsigned long rest = number < 0 ? -(unsigned long)number : (unsigned long)number;
  do { *--end = '0' + rest % 10; rest /= 10; } while (rest != 0);
  if (number < 0) *--end = '-';
  print(end);
}
static void say(const char* what, long result) {
  print("probe ");
  print(what);
  print(": ");
  print(result);
  print("\n");
}
static long get(const char* path) { return call(2, at(path)); }
static long list(const char* path) { return call(2, at(path), 0200000); }
static long make(const char* path) { return call(2, at(path), 0101, 0600); }
// How many sockets of any family and type there are to be had.
static long sockets() {
  long made = 0;
  for (long family = 0; family < 50; ++family) {
    for (long type = 1; type <= 5; ++type) made += call(41, family, type) >= 0;
  }
  return made;
}
// A line "fd N: WHAT" for each descriptor that is open.
static void print_descriptors() {
  for (long fd = 0; fd < 1024; ++fd) {
    if (call(72, fd, 1) < 0) continue;
    char name[40] = "/proc/self/fd/";
    char what[100] = {};
    int end = 14;
    if (fd > 999) name[end++] = '0' + fd / 1000;
    if (fd > 99) name[end++] = '0' + fd / 100 % 10;
    if (fd > 9) name[end++] = '0' + fd / 10 % 10;
    name[end++] = '0' + fd % 10;
    call(89, at(name), at(what), 99);
    print("fd ");
    print(fd);
    print(": ");
    print(what);
    print("\n");
  }
}
static void dangerous() {
  say("mount", call(165, at("none"), at("/nowhere"), at("tmpfs")));
  say("umount", call(166, at("/nowhere")));
  say("pivot_root", call(155, at("/nowhere"), at("/nowhere")));
  say("chroot", call(161, at("/nowhere")));
  say("fsopen", call(430, at("tmpfs")));
  say("open_tree", call(428, -100, at("/nowhere")));
  say("setns", call(308, 0, 0));
  say("unshare user", call(272, 0x10000000));
  say("unshare mounts", call(272, 0x20000));
  say("ptrace", call(101, 16, 0x7fffffff));
  say("process_vm_readv", call(310, 1));
  say("process_vm_writev", call(311, 1));
  say("process_madvise", call(440, 0));
  say("pidfd_getfd", call(438, 0));
  say("kcmp", call(312, 1, 1));
  say("io_uring_setup", call(425, 1, 0));
  say("userfaultfd", call(323));
  say("perf_event_open", call(298));
  say("bpf", call(321));
  say("keyctl", call(250));
  say("add_key", call(248));
  say("request_key", call(249));
  say("init_module", call(175));
  say("kexec_load", call(246));
  say("open_by_handle_at", call(304));
  say("mknod", call(133, at("/nowhere")));
  say("execve", call(59, at("/nowhere")));
  say("execveat", call(322, -100, at("/nowhere")));
}
)";

// Their names, each refused with EPERM to judge and runner.
inline constexpr std::string_view kDangerous[] = {"mount",
                                                  "umount",
                                                  "pivot_root",
                                                  "chroot",
                                                  "fsopen",
                                                  "open_tree",
                                                  "setns",
                                                  "ptrace",
                                                  "process_vm_readv",
                                                  "process_vm_writev",
                                                  "process_madvise",
                                                  "pidfd_getfd",
                                                  "kcmp",
                                                  "io_uring_setup",
                                                  "userfaultfd",
                                                  "perf_event_open",
                                                  "bpf",
                                                  "keyctl",
                                                  "add_key",
                                                  "request_key",
                                                  "init_module",
                                                  "kexec_load",
                                                  "open_by_handle_at",
                                                  "mknod",
                                                  "execve",
                                                  "execveat",
                                                  "unshare user",
                                                  "unshare mounts"};

inline std::string defined(const std::string& name, const std::string& path) {
  return "#define " + name + " \"" + path + "\"\n";
}

// The line that a probe wrote.
inline std::string line_of(std::string_view what, long result) {
  return "probe " + std::string(what) + ": " + std::to_string(result) + "\n";
}

}  // namespace sweep::test

#pragma once

namespace sweep::util {

// Whether a locked-down process may still make memory that its limits do not count.
enum class MemoryFiles { allow, forbid };

// For a role's own start, after it has opened what it needs and before it loads foreign code. As
// deny_exec(), and besides: all its threads can start no process (threads they can), share no
// memory by System V or POSIX names, and change no file without opening it (modes, owners, times,
// attributes). `forbid`: nor make memory files or shared anonymous mappings, so that RLIMIT_DATA
// counts all memory that the process can get. Seccomp, cannot be undone. InfraError "E_SANDBOX"
// when the kernel refuses.
void lock_down(MemoryFiles memory_files);

}  // namespace sweep::util

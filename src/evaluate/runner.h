#pragma once

namespace sweep::evaluate {

// Body of `sweep __run`: one module on one device, told what to do over the socket `fd` by the
// judge. Knows buffers, never expected values. Returns an exit code; never throws. Messages ("do")
// and answers:
//   open {device}                        {sm_count}
//   load {kernels[{name,lowered}], bytes} +fd image     {facts{name: ..}} | {fault}
//   map {bytes, write} +fd               {buffer, address}
//   unmap {buffer}                       {}
//   scratch {bytes[..]}                  {set, addresses[..]} | {fault}
//   drop {set}                           {}
//   occupancy {kernel, threads, shared}  {blocks}
//   prepare {steps[..]}                  {sequence} | {fault}
//   forget {sequence}                    {}
//   wash {poison, sets[..]}              {}          scratch poisoned, caches and arenas of the
//   runner's context overwritten run {sequence}                       {device, host} | {fault} quit
//   (no answer)
// After a fault the runner only waits to be ended.
[[nodiscard]] int runner_main(int fd);

}  // namespace sweep::evaluate

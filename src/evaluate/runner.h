#pragma once

namespace sweep::evaluate {

// Body of `sweep __run`: one module on one device, told what to do over the socket `fd` by the
// judge. Knows buffers, never expected values. Returns an exit code; never throws. Messages ("do")
// and answers:
//   device {device, off[..]}             {sm_count}
//   load {own[{name,lowered}], kernels[{name,lowered}]} +fd own code +fd image
//                                        {facts{name: ..}} | {fault}
//   load {.., library{function, path}}   the same with a vendor library in the place of an image
//   map {bytes, write} +fd               {buffer, address}
//   unmap {buffer}                       {}
//   scratch {bytes[..]}                  {set, addresses[..]} | {fault}
//   drop {set}                           {}
//   occupancy {kernel, threads, shared}  {blocks}
//   prepare {steps[..]}                  {sequence} | {fault}
//   update {sequence, patches[..]}       {} | {fault}
//   forget {sequence}                    {}
//   wash {poison, sets[..]}              {}
//   run {sequence, poison, sets[..], updates[{sequence, patches[..]}]?}
//                                        {device, host} | {fault}
//   quit                                 (no answer)
// wash poisons scratch and overwrites caches and arenas of the runner's context; run does so after
// the call. Its updates are made after the answer, on the host; what they need of the device, and
// a fault of it, comes with the next run of that sequence.
// After a fault the runner only waits to be ended.
[[nodiscard]] int runner_main(int fd);

}  // namespace sweep::evaluate

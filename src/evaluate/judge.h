#pragma once

namespace sweep::evaluate {

// Body of `sweep __judge`: one evaluation, told what to do over the socket `fd` by evaluate(). Owns
// device, buffers, oracle, lock and runners; never loads a submission's code. Finds the program and
// the lock folder at the descriptors of judge_protocol.h. Returns an exit code; never throws.
// Messages ("do"):
//   device {device}                                               {device{name, ..}}
//   open {problem{..}, codes[..], seed, ..} +fds images           {}
//   check | stress | time | heldout {options}                     ({progress{..}} | {waiting})*,
//                                                                 then {result, protections}
//   quit                                                          (no answer)
// "waiting" says for what a lock is waited for and by whom it is held, and is empty when it is
// ours. Failures are answered as {error{kind, where, what, next, code}}; the judge ends after one.
[[nodiscard]] int judge_main(int fd);

}  // namespace sweep::evaluate

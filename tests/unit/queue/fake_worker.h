#pragma once

#include <string>

namespace sweep::queue::testing {

// The configuration of the fake runs: one model, problems chosen by the tests.
inline constexpr const char* kToml = R"([run]
name = "r"
problems = ["x/*"]
[[models]]
name = "m"
base_url = "http://127.0.0.1:1/v1"
)";

// What a fake item does is its problem's name:
//   ok           three requests, then correct
//   dies         kills its worker after two requests, the first time
//   dies_always  kills its worker after one request, every time
//   throws       InfraError E_TEST
//   full         one request, then InfraError E_RUN_WRITE
//   interrupts   sends SIGINT to the supervisor, waits for stopping() and stays in progress
//   deaf         sends SIGINT to the supervisor and never ends
//   impatient    as deaf, and sends a second SIGINT
//   refused      its endpoint refuses the key until it gets no permit any more; stays in progress
//   faulty       one request, then infra_error because of its device, unless that is cuda:9
//   held         says that it waits for its device for longer than an item may take
//   sleeps       one request, then nothing, the first time
//   garbage      writes bytes that are no message to the supervisor
// Each real (not replayed) request appends "ITEM INDEX\n" to asked.txt in the run's folder.
inline constexpr const char* kAsked = "asked.txt";

}  // namespace sweep::queue::testing

// The harness of burn-bench: a benchmark takes samples, the harness prints their median as one line of JSON.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "bench/cpu_time.h"
#include "client/device.h"

namespace burn::bench {

// The mean over all calls that were measured, warming up left out.
struct CpuPerCall {
  double calls = 0;
  CpuSeconds cpu = {};
  double nodes = 0;  // that were recorded on the device
};

// What a benchmark needs to know and how long it may take.
struct Context {
  Device device;
  double seconds = 1.0;                   // of measuring, after warming up
  bool gpu = false;                       // sizes that fill a GPU
  pid_t server = 0;                       // of the device, where its processor time is wanted
  int inner = 0;                          // calls of a sample, where a benchmark takes several; 0: as many as it says
  std::vector<std::string> devices = {};  // of what takes several
  CpuPerCall* cpu = nullptr;              // set by what is measured with repeat(): null, or the last measurement
};

struct Benchmark {
  std::string name;
  std::string unit;    // "us", "GB/s", "TFLOP/s", "TOP/s", "us/op", "tokens/s", "ms/token", "MiB"
  std::string better;  // "lower" or "higher"
  // The samples, in `unit`.
  std::function<std::vector<double>(const Context&)> run;
  bool gpu_only = false;    // hopeless elsewhere: left out unless it is named
  bool of_several = false;  // it takes Context::devices, and is left out without them
};

// Repeats `body` for `context.seconds` (at least 5 times, after 3 to warm up) and returns the seconds of each call.
std::vector<double> repeat(const Context& context, const std::function<void()>& body);

// The same as one sample per `inner` calls, each sample being the seconds of one of them: for what is shorter than a
// clock can tell, or overlaps with its neighbours. `settle` ends a sample (a sync), whose time is shared by its calls.
std::vector<double> repeat_batched(const Context& context, int inner, const std::function<void()>& body,
                                   const std::function<void()>& settle);

// Seconds into a rate: amount per second, in units of 10^9 (GB/s) or 10^12 (TFLOP/s).
std::vector<double> giga_per_second(std::vector<double> seconds, double amount);
std::vector<double> tera_per_second(std::vector<double> seconds, double amount);
std::vector<double> microseconds(std::vector<double> seconds);

void add_kernels(std::vector<Benchmark>& list);
void add_tensor_ops(std::vector<Benchmark>& list);   // kernels.cc
void add_client(std::vector<Benchmark>& list);       // client.cc
void add_transport(std::vector<Benchmark>& list);    // transport.cc
void add_raw_gemm(std::vector<Benchmark>& list);     // raw_gemm.cc
void add_raw_sockets(std::vector<Benchmark>& list);  // raw_sockets.cc
void add_steps(std::vector<Benchmark>& list);        // steps.cc
void add_learner(std::vector<Benchmark>& list);      // learner.cc
void add_embedding(std::vector<Benchmark>& list);    // embedding.cc
void add_chargpt(std::vector<Benchmark>& list);      // chargpt.cc
void add_gpt2(std::vector<Benchmark>& list);         // gpt2.cc
void add_recurrent(std::vector<Benchmark>& list);    // recurrent.cc
void add_host(std::vector<Benchmark>& list);         // host.cc
void add_router(std::vector<Benchmark>& list);       // router.cc
void add_collectives(std::vector<Benchmark>& list);  // collectives.cc
void add_fleet(std::vector<Benchmark>& list);        // fleet.cc
void add_events(std::vector<Benchmark>& list);       // events.cc

}  // namespace burn::bench

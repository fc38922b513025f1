// The harness of burn-bench: a benchmark returns samples, and the harness prints their median as one line of JSON.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "bench/cpu_time.h"
#include "client/device.h"

namespace burn::bench {

// The mean over all measured calls, without warm-up.
struct CpuPerCall {
  double calls = 0;
  CpuSeconds cpu = {};
  double nodes = 0;  // nodes recorded on the device
};

// The settings of a benchmark.
struct Context {
  Device device;
  double seconds = 1.0;                   // measuring time, after warm-up
  bool gpu = false;                       // use sizes that fill a GPU
  pid_t server = 0;                       // process that serves the device, if its processor time is to be measured
  int inner = 0;                          // calls per sample of a benchmark with several; 0: the benchmark's default
  std::vector<std::string> devices = {};  // for benchmarks on several devices
  CpuPerCall* cpu = nullptr;              // if not null, repeat() stores its last measurement here
};

struct Benchmark {
  std::string name;
  std::string unit;    // "us", "GB/s", "TFLOP/s", "TOP/s", "us/op", "tokens/s", "ms/token", "MiB"
  std::string better;  // "lower" or "higher"
  // The samples, in `unit`.
  std::function<std::vector<double>(const Context&)> run;
  bool gpu_only = false;    // far too slow on a CPU: skipped unless it is named
  bool of_several = false;  // uses Context::devices, and is skipped without them
};

// Repeats `body` for `context.seconds` (at least 5 times, after 3 to warm up) and returns the seconds of each call.
std::vector<double> repeat(const Context& context, const std::function<void()>& body);

// The same with one sample per `inner` calls, which is the time per call: for calls that are too short to time, or that
// overlap with their neighbours. `settle` ends a sample (a sync); its time is included.
std::vector<double> repeat_batched(const Context& context, int inner, const std::function<void()>& body,
                                   const std::function<void()>& settle);

// Converts seconds into a rate: amount per second, in units of 10^9 (GB/s) or 10^12 (TFLOP/s).
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

// burn-bench: measures a device and prints one JSON object per line. Names of benchmarks are stable:
// docs/performance.md and bench/results/ refer to them.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>

#include <CLI/CLI.hpp>
#include <signal.h>

#include "bench/bench.h"

namespace burn::bench {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::string line(const Benchmark& benchmark, const std::string& device, std::vector<double> samples,
                 const CpuPerCall& cpu) {
  std::sort(samples.begin(), samples.end());
  char text[512], more[128] = "";
  if (cpu.calls > 0) {
    std::snprintf(more, sizeof(more), R"(,"cpu_us":%.4g,"server_cpu_us":%.4g,"nodes":%.4g)", cpu.cpu.own * 1e6,
                  cpu.cpu.server * 1e6, cpu.nodes);
  }
  std::snprintf(
      text, sizeof(text),
      R"({"bench":"%s","device":"%s","value":%.4g,"unit":"%s","better":"%s","n":%zu,"p10":%.4g,"p90":%.4g%s})",
      benchmark.name.c_str(), device.c_str(), quantile(samples, 0.5), benchmark.unit.c_str(), benchmark.better.c_str(),
      samples.size(), quantile(samples, 0.1), quantile(samples, 0.9), more);
  return text;
}

}  // namespace
}  // namespace burn::bench

int main(int argc, char** argv) {
  using namespace burn::bench;
  std::string url = "cpu", json;
  std::vector<std::string> only, devices;
  double seconds = 1.0;
  pid_t server = 0;
  int inner = 0;
  bool list_only = false, gpu = false;
  CLI::App app{"Measures a device; one JSON object a line", "burn-bench"};
  app.add_option("--device", url, "Device URL")->capture_default_str();
  app.add_option("--devices", devices, "Of what takes several (gpt2_ddp, to_device_1g), separated by commas")
      ->delimiter(',');
  app.add_option("--only", only, "Only these, separated by commas")->delimiter(',');
  app.add_option("--json", json, "Also append the lines to this file");
  app.add_option("--seconds", seconds, "Measuring time of each")->capture_default_str();
  app.add_option("--inner", inner,
                 "Calls between two syncs, where a benchmark has several (a training step: 10, on a GPU 100)");
  app.add_flag("--gpu", gpu, "Sizes that fill a GPU; what cuda devices of this process get anyway");
  app.add_option("--server-pid", server, "Whose processor time to tell, beside that of this process: cpu_us each call");
  app.add_flag("--list", list_only, "Print the names");
  CLI11_PARSE(app, argc, argv);
  gpu = gpu || url.starts_with("cuda");
  ::signal(SIGPIPE, SIG_IGN);
  std::vector<Benchmark> list;
  add_raw_gemm(list);
  add_raw_sockets(list);
  add_kernels(list);
  add_tensor_ops(list);
  add_transport(list);
  add_steps(list);
  add_learner(list);
  add_embedding(list);
  add_chargpt(list);
  add_gpt2(list);
  add_recurrent(list);
  add_host(list);
  add_router(list);
  add_collectives(list);
  add_fleet(list);
  add_events(list);
  add_client(list);
  if (list_only) {
    for (const auto& benchmark : list) std::cout << benchmark.name << '\n';
    return 0;
  }
  for (const auto& name : only) {
    if (std::none_of(list.begin(), list.end(), [&](const Benchmark& b) { return b.name == name; })) {
      std::cerr << "burn-bench: no benchmark \"" << name << "\"; --list names them\n";
      return 2;
    }
  }
  try {
    const burn::Device device{url};
    std::ofstream file;
    if (!json.empty()) file.open(json, std::ios::app);
    for (const auto& benchmark : list) {
      if (!only.empty() && std::find(only.begin(), only.end(), benchmark.name) == only.end()) continue;
      if (only.empty() && benchmark.gpu_only && !gpu) continue;
      if (only.empty() && benchmark.of_several && devices.size() < 2) continue;
      CpuPerCall cpu;
      auto samples = benchmark.run({device, seconds, gpu, server, inner, devices, &cpu});
      const auto text = line(benchmark, url, std::move(samples), cpu);
      std::cout << text << std::endl;
      if (file) file << text << std::endl;
    }
  } catch (const std::exception& error) {
    std::cerr << "burn-bench: " << error.what() << '\n';
    return 1;
  }
  return 0;
}

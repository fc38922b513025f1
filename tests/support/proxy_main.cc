// burn-proxy TARGET [--delay MS] [--cut MEAN_BYTES --cuts N]: the test proxy by hand; says where it listens.
#include <csignal>
#include <cstdio>

#include <CLI/CLI.hpp>

#include "tests/support/proxy.h"

int main(int argc, char** argv) {
  std::string target;
  int delay = 0;
  std::uint64_t mean = 0, cuts = 0;
  std::uint32_t seed = 1;
  CLI::App app{"Forwards connections to a worker, late or in part."};
  app.add_option("target", target, "HOST:PORT of the worker")->required();
  app.add_option("--delay", delay, "milliseconds, each way");
  app.add_option("--cut", mean, "bytes on average until a connection is cut");
  app.add_option("--cuts", cuts, "how many are");
  app.add_option("--seed", seed, "of what is random");
  CLI11_PARSE(app, argc, argv);
  burn::test::Proxy proxy{target};
  proxy.delay(std::chrono::milliseconds{delay});
  if (mean > 0) proxy.cut_randomly(mean, cuts, seed);
  std::printf("listening %s\n", proxy.address().c_str());
  std::fflush(stdout);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  int signal = 0;
  sigwait(&signals, &signal);
  std::printf("%llu connections, %llu cuts, %llu bytes\n", static_cast<unsigned long long>(proxy.connections()),
              static_cast<unsigned long long>(proxy.cuts()), static_cast<unsigned long long>(proxy.bytes()));
}

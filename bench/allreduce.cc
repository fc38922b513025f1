// burn-bench-allreduce: times an all_reduce of f32 between processes of this machine, by size, next to Gloo's if this
// program was built with it. Prints one JSON object per line.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/collective/direct_collective.h"
#include "backends/collective/rendezvous.h"
#include "base/error.h"
#include "bench/allreduce_gloo.h"
#include "ir/ops.h"

namespace burn::bench {
namespace {

using backends::Collective, backends::Rendezvous;

constexpr std::chrono::seconds kForming{30};

// The folder through which Gloo's members find each other.
class TempFolder {
 public:
  TempFolder() : path_((std::filesystem::temp_directory_path() / "burn-allreduce-XXXXXX").string()) {
    if (!::mkdtemp(path_.data())) throw Error{StatusCode::internal, "cannot make " + path_};
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

using Floats = std::vector<float>;

// A method that sets `y` to the sum of all members' `x`.
struct Method {
  std::string name;
  std::function<void()> perform;
  std::vector<double> milliseconds = {};
};

double median(std::vector<double>& values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void check_sums(const Method& method, const Floats& y, int members) {
  for (const auto value : {y.front(), y[y.size() / 2], y.back()}) {
    if (value != static_cast<float>(members))
      throw Error{StatusCode::internal, method.name + " gives " + std::to_string(value)};
  }
}

// Measures in rounds of a few calls of each method, so that other load on the machine affects all methods alike.
void measure(Collective& member, GlooGroup* gloo, const std::vector<std::int64_t>& sizes) {
  constexpr int kRounds = 10;
  for (const auto bytes : sizes) {
    const int count = static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 28) / bytes, 5, 2000));
    const ir::TensorType type{ir::DType::f32, {bytes / 4}};
    const Floats x(static_cast<std::size_t>(bytes / 4), 1);
    Floats y(x.size());
    std::vector<Method> methods{{"all_reduce", [&] {
                                   const auto done = member.perform({ir::AllReduce{}, type, std::as_bytes(std::span(x)),
                                                                     std::as_writable_bytes(std::span(y))});
                                   if (!done.ok()) throw_failure(done);
                                 }}};
    if (gloo) {
      for (auto& [name, perform] : gloo->methods())
        methods.push_back({"gloo_" + name, [&x, &y, perform = std::move(perform)] { perform(x, y); }});
    }
    for (int round = 0; round < kRounds; ++round) {
      for (auto& method : methods) {
        for (int i = 0; i < std::max(1, count / kRounds) + 1; ++i) {
          const auto begin = std::chrono::steady_clock::now();
          method.perform();
          const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
          if (i > 0) method.milliseconds.push_back(time.count());
        }
        check_sums(method, y, member.size());
      }
    }
    if (member.rank() != 0) continue;
    std::printf("{\"bytes\": %lld, \"members\": %d", static_cast<long long>(bytes), member.size());
    for (auto& method : methods) std::printf(", \"%s_ms\": %.4f", method.name.c_str(), median(method.milliseconds));
    std::printf("}\n");
    std::fflush(stdout);
  }
}

int run(int members, const std::vector<std::int64_t>& sizes) {
  const TempFolder folder;
  std::vector<std::unique_ptr<Rendezvous>> rendezvous;
  std::vector<std::string> addresses;
  for (int rank = 0; rank < members; ++rank) {
    rendezvous.push_back(value_or_throw(Rendezvous::listen("127.0.0.1", "0123456789abcdef", rank, members)));
    addresses.push_back(rendezvous.back()->address());
  }
  int rank = 0;
  for (int other = 1; other < members && rank == 0; ++other) {
    if (::fork() == 0) rank = other;
  }
  const auto own = std::move(rendezvous[static_cast<std::size_t>(rank)]);
  rendezvous.clear();
  const auto member = backends::make_direct_collective(value_or_throw(own->meet(addresses, kForming)));
  const auto gloo = make_gloo_group(rank, members, folder.path());
  measure(*member, gloo.get(), sizes);
  if (rank != 0) std::_Exit(0);  // rank 0 removes the folder
  while (::wait(nullptr) > 0) {
  }
  return 0;
}

}  // namespace
}  // namespace burn::bench

int main(int argc, char** argv) {
  CLI::App app{"What an all_reduce between processes of this machine takes."};
  int members = 2;
  std::vector<std::int64_t> sizes{4 << 10, 1 << 20, 64 << 20};
  app.add_option("--members", members, "Processes")->check(CLI::Range(1, int{burn::ir::kMaxMembers}));
  app.add_option("--bytes", sizes, "Of the values, each");
  CLI11_PARSE(app, argc, argv);
  return burn::bench::run(members, sizes);
}

// burn-bench-allreduce: what an all_reduce of f32 between processes of this machine takes, by its size. A JSON object a
// line.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "backends/collective/direct_collective.h"
#include "backends/collective/meeting.h"
#include "base/error.h"
#include "ir/ops.h"

namespace burn::bench {
namespace {

using backends::Collective, backends::Meeting;

constexpr std::chrono::seconds kForming{30};

// Milliseconds of one of `count`, the median.
double time_of(Collective& member, const ir::Op& op, std::int64_t elements, int count) {
  const ir::TensorType type{ir::DType::f32, {elements}};
  std::vector<float> x(static_cast<std::size_t>(elements), 1), y(x.size());
  const auto perform = [&] {
    const auto done = member.perform({op, type, std::as_bytes(std::span(x)), std::as_writable_bytes(std::span(y))});
    if (!done.ok()) throw_failure(done);
  };
  for (int i = 0; i < 3; ++i) perform();
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    perform();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void measure(Collective& member, const std::vector<std::int64_t>& sizes) {
  for (const auto bytes : sizes) {
    const int count = static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 28) / bytes, 5, 1000));
    const auto reduced = time_of(member, ir::AllReduce{}, bytes / 4, count);
    if (member.rank() == 0)
      std::printf("{\"bytes\": %lld, \"members\": %d, \"all_reduce_ms\": %.4f}\n", static_cast<long long>(bytes),
                  member.size(), reduced);
  }
}

int run(int members, const std::vector<std::int64_t>& sizes) {
  std::vector<std::unique_ptr<Meeting>> meetings;
  std::vector<std::string> addresses;
  for (int rank = 0; rank < members; ++rank) {
    meetings.push_back(value_or_throw(Meeting::listen("127.0.0.1", "0123456789abcdef", rank, members)));
    addresses.push_back(meetings.back()->address());
  }
  int rank = 0;
  for (int other = 1; other < members && rank == 0; ++other) {
    if (::fork() == 0) rank = other;
  }
  const auto own = std::move(meetings[static_cast<std::size_t>(rank)]);
  meetings.clear();
  const auto member = backends::make_direct_collective(value_or_throw(own->meet(addresses, kForming)));
  measure(*member, sizes);
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

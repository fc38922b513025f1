// Training on several devices: a router's workers as one device, and devices without a router. Additional figures are
// printed to stderr, on a line that begins with "facts:".
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "bench/bench.h"
#include "bench/gpt2.h"
#include "proto/session_registry.h"
#include "train/strategy/strategy.h"

namespace burn::bench {
namespace {

// The stats of a router's workers; empty for another device.
std::vector<proto::MemberStats> members_of(const std::string& url) {
  if (url.find("://") == std::string::npos) return {};
  const auto session = proto::open_session(url + "/status");
  if (!session.ok()) return {};
  std::promise<Result<proto::SessionStats>> answer;
  (*session)->stats([&](Result<proto::SessionStats> stats) { answer.set_value(std::move(stats)); });
  const auto stats = answer.get_future().get();
  return stats.ok() ? stats->members : std::vector<proto::MemberStats>{};
}

// Bytes sent over the loopback interface so far: all traffic between client, router and workers on this machine. 0 if
// the system does not provide it.
double loopback_bytes() {
  std::ifstream file("/proc/net/dev");
  std::string name;
  while (file >> name) {
    double bytes = 0;
    if (name == "lo:" && file >> bytes) return bytes;
  }
  return 0;
}

double mebibytes(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

void settle() {
  std::this_thread::sleep_for(std::chrono::milliseconds{2500});
}  // a router asks its workers each second

// --- GPT-2 on a router's workers -------------------------------------------------------------------------------------

// Like gpt2_step, with 16 pieces for each worker: tokens per second over all workers.
std::vector<double> routed_step(const Context& c, bool is_split) {
  const auto workers = std::max<std::size_t>(members_of(c.device.url()).size(), 1);
  const auto pieces = kPieces * static_cast<std::int64_t>(workers);
  auto samples = with_gpt2_step(c.device, pieces, is_split, [&](const auto& step) {
    std::int64_t steps = 0;
    auto seconds = repeat_batched(
        c, 5,
        [&] {
          (void)step();
          ++steps;
        },
        [&] { c.device.sync(); });
    settle();
    const auto before = members_of(c.device.url());
    const auto bytes = loopback_bytes();
    constexpr int kCounted = 20;
    for (int i = 0; i < kCounted; ++i) (void)step();
    c.device.sync();
    const auto moved = loopback_bytes() - bytes;
    settle();
    const auto after = members_of(c.device.url());
    std::fprintf(stderr, "facts: %zu workers, loss %.5f after %lld steps, %.1f kB of loopback a step", workers,
                 static_cast<double>(step().template into_scalar<float>()),
                 static_cast<long long>(steps) + kCounted + 1, moved / kCounted / 1e3);
    for (std::size_t k = 0; k < before.size() && k < after.size(); ++k) {
      std::fprintf(stderr, "; worker %zu: %.2f runs a step, %.0f MiB in use, %.0f MiB at most", k,
                   static_cast<double>(after[k].device.runs - before[k].device.runs) / kCounted,
                   mebibytes(after[k].device.memory_in_use), mebibytes(after[k].device.memory_peak));
    }
    std::fprintf(stderr, "\n");
    return seconds;
  });
  for (auto& s : samples) s = static_cast<double>(pieces * kGpt2.context) / s;
  return samples;
}

// --- GPT-2 on devices without a router -------------------------------------------------------------------------------

// A step of train::ddp, recorded each time as the learner does, with 16 pieces for each device.
std::vector<double> ddp_step(const Context& c) {
  if (c.devices.size() < 2) throw Error(invalid_argument("gpt2_ddp wants two --devices or more"));
  std::vector<Device> devices;
  std::vector<gpt2::Gpt2> replicas;
  std::vector<Tensor<2, Int>> texts;
  for (const auto& url : c.devices) {
    devices.emplace_back(url);
    const auto ad = devices.back().autodiff();
    ad.seed(1);
    if (replicas.empty())
      replicas.push_back(kGpt2.init(ad));
    else
      replicas.push_back(replicas.front().fork(ad));
    texts.push_back(Tensor<2, Int>::from_data(gpt2_tokens(kPieces, kGpt2.context + 1), ad));
  }
  std::vector<nn::ModuleWalk> walks;
  walks.reserve(replicas.size());
  for (auto& replica : replicas) walks.push_back(replica.walk());
  optim::ModuleOptimizer optimizer = gpt2_optimizer().init();
  const auto learning = train::ddp(devices)->start(walks, optimizer);
  const auto weight = 1.0 / static_cast<double>(devices.size());
  auto samples = repeat_batched(
      c, 5,
      [&] {
        const Autocast scope{DType::bf16};
        std::vector<GradientsParams> gradients;
        for (std::size_t k = 0; k < replicas.size(); ++k) {
          const auto loss = gpt2_loss(replicas[k], texts[k]) * weight;
          gradients.push_back(GradientsParams::from_grads(loss.backward(), replicas[k]));
        }
        learning->step(1e-4, std::move(gradients), {});
      },
      [&] {
        for (const auto& device : devices) device.sync();
      });
  const auto tokens = static_cast<double>(kPieces * kGpt2.context) * static_cast<double>(devices.size());
  for (auto& s : samples) s = tokens / s;
  return samples;
}

// --- a model in parts ------------------------------------------------------------------------------------------------

struct Wide {
  nn::Linear up, down;
  BURN_MODULE(Wide, up, down)
};

// Two layers of 512 MiB each, split over the workers by columns (the first) and by rows (the second). Times steps of
// SGD, whose only state is parameters and gradients, on a batch that every worker has as a whole. Fails with
// RESOURCE_EXHAUSTED on one worker that has memory for half of it.
std::vector<double> placed_step(const Context& c) {
  constexpr std::int64_t kRows = 512, kModel = 4096, kInner = 32768;
  const Device ad = c.device.autodiff();
  ad.seed(3);
  Wide net{.up = nn::LinearConfig{.d_input = kModel, .d_output = kInner, .bias = false}.init(ad),
           .down = nn::LinearConfig{.d_input = kInner, .d_output = kModel, .bias = false}.init(ad)};
  net.up.weight = ad.place(net.up.weight, {1, "model"});
  net.down.weight = ad.place(net.down.weight, {0, "model"});
  auto optim = optim::SgdConfig{}.init<Wide>();
  const auto x = Tensor<2>::random({kRows, kModel}, Distribution::uniform(-1, 1), ad);
  const auto y = Tensor<2>::random({kRows, kModel}, Distribution::uniform(-1, 1), ad);
  std::string losses;
  int steps = 0;
  auto samples = repeat(c, [&] {
    const auto loss = nn::MseLoss{}(net.down(net.up(x).relu()), y);
    net = optim.step(0.5, std::move(net), GradientsParams::from_grads(loss.backward(), net));
    if (++steps <= 8) losses += fmt::format(" {:.6f}", loss.into_scalar<float>());
    ad.sync();
  });
  std::fprintf(stderr, "facts: losses%s\n", losses.c_str());
  for (auto& s : samples) s *= 1e3;
  return samples;
}

// --- moving a tensor -------------------------------------------------------------------------------------------------

// Copies `bytes_of_x` bytes from the first of --devices to the second.
std::vector<double> move(const Context& c, std::int64_t bytes_of_x) {
  if (c.devices.size() < 2) throw Error(invalid_argument("a tensor moves between two --devices"));
  const Device from{c.devices[0]}, to{c.devices[1]};
  const auto x = Tensor<1>::zeros({bytes_of_x / 4}, from) + 1.0;
  from.sync();
  const auto bytes = loopback_bytes();
  int times = 0;
  auto samples = repeat(c, [&] {
    const auto y = x.to_device(to);
    to.sync();
    ++times;
  });
  std::fprintf(stderr, "facts: %.1f MB of loopback for each of %d moves\n", (loopback_bytes() - bytes) / times / 1e6,
               times);
  return giga_per_second(std::move(samples), static_cast<double>(bytes_of_x));
}

}  // namespace

void add_fleet(std::vector<Benchmark>& list) {
  list.push_back({"gpt2_routed", "tokens/s", "higher", [](const Context& c) { return routed_step(c, false); }, true});
  list.push_back({"gpt2_zero1", "tokens/s", "higher", [](const Context& c) { return routed_step(c, true); }, true});
  list.push_back({"gpt2_ddp", "tokens/s", "higher", ddp_step, true, true});
  list.push_back({"placed_step", "ms", "lower", placed_step, true});
  for (const auto& [name, mib] : {std::pair{"to_device_256m", 256}, {"to_device_1g", 1024}}) {
    list.push_back(
        {name, "GB/s", "higher", [mib](const Context& c) { return move(c, std::int64_t{mib} << 20); }, true, true});
  }
}

}  // namespace burn::bench

// Many sessions at once on one worker, each training a tiny model: all of them finish with the same losses, threads and
// memory of the worker are bounded, and it is quiet afterwards.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "burn/burn.h"
#include "tests/server/process.h"

namespace burn {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Tiny {
  nn::Linear hidden, out;
  BURN_MODULE(Tiny, hidden, out)

  static Tiny init(const Device& device) {
    return {.hidden = nn::LinearConfig{.d_input = 4, .d_output = 8}.init(device),
            .out = nn::LinearConfig{.d_input = 8, .d_output = 1}.init(device)};
  }
  Tensor<2> forward(const Tensor<2>& x) const { return out(hidden(x).tanh()); }  // [batch, 4] -> [batch, 1]
};

// Each thread waits until all are there: so many sessions are open at once.
class Barrier {
 public:
  explicit Barrier(int count) : missing_(count) {}
  bool wait() {
    std::unique_lock lock{mutex_};
    if (--missing_ == 0) changed_.notify_all();
    return changed_.wait_for(lock, seconds{300}, [&] { return missing_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int missing_;
};

struct Client {
  std::vector<float> losses;
  std::vector<double> milliseconds;  // of a step, its loss included
  std::string failed;
};

void train(const std::string& url, int steps, Barrier& all_open, Client& client) {
  std::optional<Device> ad;
  try {
    ad = Device::new_session(url).autodiff();
    ad->sync();
  } catch (const std::exception& error) {
    client.failed = error.what();
  }
  if (!all_open.wait()) client.failed = "not all came";
  if (!client.failed.empty()) return;
  try {
    ad->seed(7);
    auto net = Tiny::init(*ad);
    auto optim = optim::SgdConfig{}.init<Tiny>();
    const auto x = Tensor<2>::random({16, 4}, Distribution::uniform(-1, 1), *ad);
    const auto y = x.sum_dim(1).sin();
    for (int step = 0; step < steps; ++step) {
      const auto begin = Clock::now();
      const auto off = net.forward(x) - y;
      const auto loss = (off * off).mean();
      net = optim.step(0.05, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
      client.losses.push_back(loss.into_scalar<float>());
      client.milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
  } catch (const std::exception& error) {
    client.failed = error.what();
  }
}

// A line of /proc/PID/status, as a number.
std::size_t status_of(pid_t process, const std::string& name) {
  std::ifstream file{fmt::format("/proc/{}/status", process)};
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) return std::stoul(line.substr(name.size() + 1));
  }
  return 0;
}

// Of all threads, in hundredths of a second.
unsigned long cpu_time(pid_t process) {
  std::ifstream file{fmt::format("/proc/{}/stat", process)};
  std::string line;
  std::getline(file, line);
  std::istringstream rest{line.substr(line.rfind(')') + 1)};
  std::string word;
  for (int i = 0; i < 11; ++i) rest >> word;
  unsigned long user = 0, system = 0;
  rest >> user >> system;
  return user + system;
}

void train_at_once(int count, int steps) {
  server::Process worker{{BURN_SERVER, "--device", "cpu", "--ws", "127.0.0.1:0", "--grpc", "off", "--sessions",
                          std::to_string(count), "--sessions-per-peer", std::to_string(count)}};
  const auto url = worker.read_line().substr(10);
  const auto threads_before = status_of(worker.id(), "Threads");
  const auto memory_before = status_of(worker.id(), "VmRSS");

  std::vector<Client> clients(static_cast<std::size_t>(count));
  Barrier all_open{count};
  std::atomic<std::size_t> most_threads = 0, most_memory = 0;
  std::atomic<bool> is_done = false;
  std::thread watch{[&] {
    while (!is_done) {
      most_threads = std::max<std::size_t>(most_threads, status_of(worker.id(), "Threads"));
      most_memory = std::max<std::size_t>(most_memory, status_of(worker.id(), "VmRSS"));
      std::this_thread::sleep_for(milliseconds{20});
    }
  }};
  std::vector<std::thread> threads;
  for (auto& client : clients) threads.emplace_back([&] { train(url, steps, all_open, client); });
  for (auto& thread : threads) thread.join();
  is_done = true;
  watch.join();

  std::vector<double> times;
  for (const auto& client : clients) {
    EXPECT_EQ(client.failed, "");
    EXPECT_EQ(client.losses, clients.front().losses);
    times.insert(times.end(), client.milliseconds.begin(), client.milliseconds.end());
  }
  ASSERT_EQ(times.size(), clients.size() * static_cast<std::size_t>(steps));
  EXPECT_LT(clients.front().losses.back(), clients.front().losses.front());
  std::ranges::sort(times);
  const auto quantile = [&](double q) {
    return times[static_cast<std::size_t>(q * static_cast<double>(times.size() - 1))];
  };
  fmt::print("{} sessions: {} threads, {:.2f} MiB each, a step {:.2f} ms at the median, {:.2f} ms at the 99th\n", count,
             most_threads.load(), static_cast<double>(most_memory - memory_before) / 1024 / count, quantile(0.5),
             quantile(0.99));
  EXPECT_LE(most_threads, threads_before + static_cast<std::size_t>(count) + 16) << "one for each session";

  // All gone, and quiet.
  const auto patience = Clock::now() + seconds{60};
  while (status_of(worker.id(), "Threads") > threads_before + 8 && Clock::now() < patience) {
    std::this_thread::sleep_for(milliseconds{50});
  }
  EXPECT_LE(status_of(worker.id(), "Threads"), threads_before + 8);
  std::this_thread::sleep_for(seconds{3});  // memory that lies idle goes back meanwhile
  const auto before = cpu_time(worker.id());
  std::this_thread::sleep_for(seconds{2});
  EXPECT_LE(cpu_time(worker.id()) - before, 2u) << "hundredths of a second in two";
  worker.send(SIGTERM);
  EXPECT_EQ(worker.wait(), 0);
}

TEST(Sessions, TrainAtOnce) { train_at_once(BURN_SESSIONS, 10); }

}  // namespace
}  // namespace burn

// Compares the learner with a hand-written loop: the same model, batches, clipping and averages; the learner also
// measures four metrics, serves a dashboard that a client watches, and writes a checkpoint every ten seconds.
//
// Benchmarks in microseconds: a sample is the mean over ten steps, or over a hundred on a GPU, as in steps.cc.
//
// Benchmarks _ratio and _p99 return one number each, the learner's time over the loop's: of the median of such samples,
// and of the 99th percentile of single steps. The two alternate every half second in one process, so that other load on
// the machine affects both, and each sample ends with a sync: a client that runs ahead sends steps in bursts, whose
// intervals are not the times of steps.
#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "bench/models.h"

namespace burn::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Batch {
  Tensor<2> images;        // [batch, features]
  Tensor<1, Int> targets;  // [batch]
};

// All batches are equal, but each is uploaded separately.
template <typename Net>
data::DataLoader<Batch> loader_of(const Device& device, std::int64_t batch, std::size_t batches) {
  const auto numbers = std::make_shared<const std::pair<TensorData, TensorData>>(batch_data<Net>(batch));
  const auto make = [device, numbers](std::span<const std::size_t>) {
    return Batch{Tensor<2>::from_data(numbers->first, device), Tensor<1, Int>::from_data(numbers->second, device)};
  };
  const auto size = static_cast<std::size_t>(batch);
  return {make, size * batches, {.batch_size = size}};
}

template <typename Net>
struct Trained {
  Net net;
  BURN_MODULE(Trained, net)

  train::ClassificationOutput step(const Batch& batch) const {
    const auto output = net.forward(batch.images);
    return {nn::CrossEntropyLoss{}(output, batch.targets), output, batch.targets};
  }
};

// Called after each step of the learner or of the loop.
using AfterStep = std::function<void()>;

struct CallsAfterSteps : train::Callback {
  explicit CallsAfterSteps(AfterStep f) : after(std::move(f)) {}
  AfterStep after;
  std::string name() const override { return "CallsAfterSteps"; }
  void step(train::Run&) override { after(); }
};

// Connects to the dashboard whose address a message of the training announces, and watches it as a browser does.
class DashboardClient : public train::events::EventSink {
 public:
  void event(const train::events::Event& event) override {
    const auto* message = std::get_if<train::events::Message>(&event.body);
    const std::string_view begin = "dashboard: http://";
    if (message == nullptr || !message->text.starts_with(begin) || thread_.joinable()) return;
    const auto port = static_cast<std::uint16_t>(std::stoi(message->text.substr(message->text.rfind(':') + 1)));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socket_ = UniqueFd(::socket(AF_INET, SOCK_STREAM, 0));
    const auto request = "GET /api/events?runs=0 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n\r\n";
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        ::send(socket_.get(), request.data(), request.size(), 0) < 0)
      throw std::runtime_error("learner: the dashboard does not answer");
    thread_ = std::thread{[this] {
      char piece[4096];
      for (ssize_t got = 0; (got = ::read(socket_.get(), piece, sizeof(piece))) > 0;) bytes_ += got;
    }};
  }
  // Waits until the dashboard is closed. Errors (thrown): there was no dashboard.
  void finish() {
    if (thread_.joinable()) thread_.join();
    if (bytes_ == 0) throw std::runtime_error("learner: nothing came from the dashboard");
  }

 private:
  UniqueFd socket_;
  std::thread thread_;
  std::int64_t bytes_ = 0;
};

enum class Extras { none, averages_and_clipping };

constexpr std::int64_t kBatch = 64;
constexpr std::size_t kEpoch = 200'000;  // batches; takes more than ten seconds, the interval of checkpoints
constexpr double kClip = 1;
constexpr optim::Ema kEma{.decay = 0.999};

template <typename Net>
void run_learner(const Context& c, double seconds, Extras extras, const AfterStep& after) {
  const Device ad = c.device.autodiff();
  ad.seed(1);
  const auto folder = std::filesystem::temp_directory_path() / ("burn-bench-learner-" + std::to_string(::getpid()));
  const auto watching = std::make_shared<DashboardClient>();
  auto training = train::SupervisedTraining(folder, loader_of<Net>(ad, kBatch, kEpoch))
                      .renderer(std::make_shared<train::SilentRenderer>())
                      .logger(watching)
                      .dashboard("127.0.0.1:0")
                      .callbacks(std::make_shared<CallsAfterSteps>(after))
                      .epochs(1'000'000)
                      .max_time(std::chrono::duration<double>{seconds});
  if (extras == Extras::averages_and_clipping) {
    training.metrics(metric::Loss{}, metric::Accuracy{}, metric::TopKAccuracy{5}, metric::LearningRate{})
        .clip_norm(kClip)
        .ema(kEma)
        .checkpoints(train::KeepLast{1}, train::EveryTime{std::chrono::seconds{10}});
  } else {
    training.checkpoints(std::nullopt);
  }
  (void)training.launch(train::Learner(Trained<Net>{Net::init(ad)}, optim::AdamConfig{}, 1e-3));
  watching->finish();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

template <typename Net>
void run_loop(const Context& c, double seconds, Extras extras, const AfterStep& after) {
  const Device ad = c.device.autodiff();
  ad.seed(1);
  Net net = Net::init(ad);
  auto optim = optim::AdamConfig{}.init<Net>();
  auto average = kEma.init(net);
  auto loader = loader_of<Net>(ad, kBatch, kEpoch);
  const auto end = Clock::now() + std::chrono::duration<double>{seconds};
  while (Clock::now() < end) {
    for (const auto& made : loader) {
      const auto loss = nn::CrossEntropyLoss{}(net.forward(made.images), made.targets);
      auto gradients = optim::GradientsParams::from_grads(loss.backward(), net);
      if (extras == Extras::averages_and_clipping) {
        (void)gradients.clip_norm(kClip);
        net = optim.step(1e-3, std::move(net), std::move(gradients), average);
      } else {
        net = optim.step(1e-3, std::move(net), std::move(gradients));
      }
      after();
      if (Clock::now() >= end) break;
    }
  }
  ad.sync();
}

using Side = void (*)(const Context&, double seconds, Extras, const AfterStep&);

// The times at which each step of one side was sent.
template <typename Net>
std::vector<Clock::time_point> times_of(const Context& c, Side side, Extras extras) {
  std::vector<Clock::time_point> times;
  side(c, c.seconds + 1, extras, [&] { times.push_back(Clock::now()); });
  return times;
}

// The means over each `steps` steps, in microseconds, without the first second, in which plans are made.
std::vector<double> means(const std::vector<Clock::time_point>& times, std::size_t steps) {
  std::vector<double> samples;
  const auto begin = std::ranges::lower_bound(times, times.front() + std::chrono::seconds{1});
  for (auto at = begin; times.end() - at > static_cast<std::ptrdiff_t>(steps);
       at += static_cast<std::ptrdiff_t>(steps)) {
    const std::chrono::duration<double, std::micro> took = *(at + static_cast<std::ptrdiff_t>(steps)) - *at;
    samples.push_back(took.count() / static_cast<double>(steps));
  }
  return samples;
}

// Makes two threads run alternately, for half a second each.
class AlternatingThreads {
 public:
  // Called by a thread whose turn is over; returns when it has its next turn, or the other thread has ended.
  void pass(int self) {
    std::unique_lock lock{mutex_};
    turn_ = 1 - self;
    changed_.notify_all();
    wait(lock, self);
    begin_ = Clock::now();
  }
  void begin(int self) {
    std::unique_lock lock{mutex_};
    wait(lock, self);
    begin_ = Clock::now();
  }
  void end(int self) {
    const std::scoped_lock lock{mutex_};
    has_ended_ = true;
    turn_ = 1 - self;
    changed_.notify_all();
  }
  // Calls end() on destruction.
  struct Ended {
    AlternatingThreads& turns;
    int self;
    ~Ended() { turns.end(self); }
  };
  bool is_over() const { return Clock::now() - begin_ > std::chrono::milliseconds{500}; }

 private:
  void wait(std::unique_lock<std::mutex>& lock, int self) {
    changed_.wait(lock, [&] { return turn_ == self || has_ended_; });
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  int turn_ = 0;
  bool has_ended_ = false;
  Clock::time_point begin_;  // start of the turn; used by the thread whose turn it is
};

// Microseconds per step of each side, as means over `steps` steps with a sync at the end. Excludes the first sample of
// each turn, and the first second of each side, in which plans are made.
template <typename Net>
std::array<std::vector<double>, 2> take_turns(const Context& c, std::size_t steps, Extras extras) {
  AlternatingThreads turns;
  std::array<std::vector<double>, 2> samples;
  const double seconds = 2 * (c.seconds + 1);
  const auto run = [&](int self, Side side) {
    turns.begin(self);
    const AlternatingThreads::Ended ended{turns, self};
    const auto keep_from = Clock::now() + std::chrono::seconds{2};
    auto last = keep_from;  // end of the previous sample
    bool is_first = true;
    std::size_t count = 0;
    side(c, seconds, extras, [&] {
      if (++count % steps != 0) return;
      c.device.sync();
      const auto now = Clock::now();
      const std::chrono::duration<double, std::micro> took = now - last;
      if (!is_first && last > keep_from)
        samples[static_cast<std::size_t>(self)].push_back(took.count() / static_cast<double>(steps));
      is_first = turns.is_over();
      if (is_first) turns.pass(self);
      last = Clock::now();
    });
  };
  auto other = std::async(std::launch::async, [&] { run(1, run_loop<Net>); });
  run(0, run_learner<Net>);
  other.get();
  return samples;
}

// The quantile of the learner's times divided by that of the loop's.
template <typename Net>
std::vector<double> ratio(const Context& c, std::size_t steps, Extras extras, double quantile) {
  auto samples = take_turns<Net>(c, steps, extras);
  const auto of = [&](std::vector<double>& list) {
    if (list.empty()) throw std::runtime_error("learner: too little time for a sample");
    std::ranges::sort(list);
    return list[static_cast<std::size_t>(quantile * static_cast<double>(list.size() - 1))];
  };
  return {of(samples[0]) / of(samples[1])};
}

template <typename Net>
void add(std::vector<Benchmark>& list, const std::string& name) {
  const auto steps = [](const Context& c) { return std::size_t{c.gpu ? 100U : 10U}; };
  for (const auto extras : {Extras::averages_and_clipping, Extras::none}) {
    const auto row = name + (extras == Extras::none ? "_plain" : "");
    const auto times = [=](Side side) {
      return [=](const Context& c) { return means(times_of<Net>(c, side, extras), steps(c)); };
    };
    list.push_back({row, "us", "lower", times(run_learner<Net>)});
    list.push_back({row + "_loop", "us", "lower", times(run_loop<Net>)});
    list.push_back(
        {row + "_ratio", "ratio", "lower", [=](const Context& c) { return ratio<Net>(c, steps(c), extras, 0.5); }});
    list.push_back({row + "_p99", "ratio", "lower", [=](const Context& c) { return ratio<Net>(c, 1, extras, 0.99); }});
  }
}

}  // namespace

void add_learner_gpt2(std::vector<Benchmark>& list);  // learner_gpt2.cc

void add_learner(std::vector<Benchmark>& list) {
  add<Mlp>(list, "learner_mlp64");
  add<Cnn>(list, "learner_cnn64");
  add_learner_gpt2(list);
}

}  // namespace burn::bench

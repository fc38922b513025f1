// The cost of observing a training: publishing events, reading the event file back, and the memory of the dashboards.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "bench/bench.h"
#include "train/dashboard/web/json.h"
#include "train/dashboard/web/web_dashboard.h"
#include "train/events/event_file.h"
#include "train/events/event_stream.h"

namespace burn::bench {
namespace {

namespace fs = std::filesystem;
namespace events = train::events;
namespace dashboard = train::dashboard;
using Clock = std::chrono::steady_clock;

constexpr std::int32_t kMetrics = 20;  // one point of each per 2 ms: 10,000 points per second
constexpr std::chrono::milliseconds kStep{2};

struct Folder {
  fs::path path = fs::temp_directory_path() / ("burn-bench-events-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

events::Start start_of(std::int32_t metrics) {
  events::Start start{.run = "bench", .name = "bench", .device = "cpu", .epochs = 1};
  for (std::int32_t i = 0; i < metrics; ++i) start.metrics.push_back({"Metric " + std::to_string(i), "m", false, {}});
  return start;
}

events::MetricPoint point_of(std::int32_t metric, std::int64_t step) {
  return events::MetricPoint::of(metric, train::Split::train, step, 1 / (1 + 1e-3 * static_cast<double>(step % 5000)));
}

// Processor time used by this thread, in seconds.
double thread_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

// The percentage of a 2 ms step that the training thread spends on publishing 20 points and the progress, including
// waiting for locks, while the event file is written and the web dashboard is open.
std::vector<double> publishing(const Context& c) {
  const Folder folder;
  dashboard::WebOptions web;
  web.address = {"127.0.0.1", 0, true};
  events::EventStream stream{{std::make_shared<dashboard::WebDashboard>(web, folder.path, nullptr),
                              std::make_shared<events::EventFileSink>(folder.path / "events")}};
  stream.publish(start_of(kMetrics));
  std::vector<double> samples;
  const auto end = Clock::now() + std::chrono::duration<double>(c.seconds);
  for (std::int64_t step = 1; Clock::now() < end || samples.size() < 20; ++step) {
    const auto begin = Clock::now();
    for (std::int32_t metric = 0; metric < kMetrics; ++metric) stream.publish(point_of(metric, step));
    stream.publish(events::Progress{.step = step, .items = step, .total_items = 1'000'000});
    const auto published = Clock::now();
    samples.push_back(100 * std::chrono::duration<double>(published - begin).count() /
                      std::chrono::duration<double>(kStep).count());
    while (Clock::now() < begin + kStep) {  // simulates the step's computation by spinning
    }
  }
  return samples;
}

// Publishes the same points without pauses: processor time per point.
std::vector<double> publishing_time(const Context& c) {
  const Folder folder;
  events::EventStream stream{{std::make_shared<events::EventFileSink>(folder.path / "events")}};
  stream.publish(start_of(kMetrics));
  constexpr int kPoints = 10'000;
  std::vector<double> samples;
  const auto end = Clock::now() + std::chrono::duration<double>(c.seconds);
  for (std::int64_t step = 1; Clock::now() < end || samples.size() < 5; ++step) {
    const double begin = thread_seconds();
    for (int i = 0; i < kPoints; ++i) stream.publish(point_of(static_cast<std::int32_t>(i % kMetrics), step));
    samples.push_back((thread_seconds() - begin) / kPoints);
  }
  return microseconds(std::move(samples));
}

// Milliseconds to read an event file of a million points and build the data that is sent to the page.
std::vector<double> reading(const Context&) {
  constexpr std::int64_t kPoints = 1'000'000;
  const Folder folder;
  {
    events::EventFileSink file{folder.path / "events"};
    file.event({1, start_of(4)});
    for (std::int64_t i = 0; i < kPoints; ++i) {
      file.event({2 + i, point_of(static_cast<std::int32_t>(i % 4), 1 + i / 4)});
      if (i % 10'000 == 0) file.flush();
    }
    file.flush();
  }
  std::vector<double> samples;
  for (int i = 0; i < 5; ++i) {
    const auto begin = Clock::now();
    dashboard::RunBoard board;
    dashboard::FolderReader reader{{folder.path}, board};
    reader.poll();
    dashboard::CurveCursor cursor{{0}};
    std::size_t sent = 0;
    board.read([&](const auto& runs) { sent = cursor.changes(runs).size() + dashboard::runs_json(runs).size(); });
    if (sent == 0) throw std::runtime_error("events_read: nothing was read");
    samples.push_back(std::chrono::duration<double>(Clock::now() - begin).count() * 1e3);
  }
  return samples;
}

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// The process memory that 100 million points of twenty metrics add, in the state of both dashboards and in the page's
// cursor.
std::vector<double> memory(const Context&) {
  constexpr std::int64_t kPoints = 100'000'000;
  const double before = resident_mib();
  dashboard::RunState of_terminal;
  dashboard::RunBoard board;
  board.add({});
  dashboard::CurveCursor cursor{{0}};
  of_terminal.add({1, start_of(kMetrics)});
  board.change(0, [&](dashboard::BoardRun& run) { run.state.add({1, start_of(kMetrics)}); });
  std::size_t sent = 0;
  constexpr std::int64_t kAtOnce = 1'000'000;
  for (std::int64_t i = 0; i < kPoints; i += kAtOnce) {
    board.change(0, [&](dashboard::BoardRun& run) {
      for (std::int64_t k = i; k < i + kAtOnce; ++k) {
        const events::Event event{k, point_of(static_cast<std::int32_t>(k % kMetrics), 1 + k / kMetrics)};
        of_terminal.add(event);
        run.state.add(event);
      }
    });
    board.read([&](const auto& runs) { sent += cursor.changes(runs).size(); });
  }
  if (sent == 0 || of_terminal.points() != kPoints) throw std::runtime_error("events_memory: points are missing");
  return {resident_mib() - before};
}

}  // namespace

void add_events(std::vector<Benchmark>& list) {
  list.push_back({"events", "% of 2 ms", "lower", publishing});
  list.push_back({"events_publish", "us", "lower", publishing_time});
  list.push_back({"events_read_1m", "ms", "lower", reading});
  list.push_back({"events_memory_100m", "MiB", "lower", memory});
}

}  // namespace burn::bench

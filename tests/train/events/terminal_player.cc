// Plays a made-up training on the terminal's dashboard, for tests/train/events/terminal_test.py.
//
//   terminal_player FOLDER SECONDS [segv|abort|exit|throw|kill]    how it ends; by default as a training does
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "tests/train/events/made_up_run.h"
#include "train/dashboard/terminal/terminal.h"
#include "train/events/event_file.h"
#include "train/events/event_stream.h"

namespace {

using namespace burn::train;

std::atomic<int> stop_request{-1};

void end_by(const std::string& way) {
  std::cout << "last words" << std::endl;
  if (way == "segv") ::raise(SIGSEGV);
  if (way == "abort") std::abort();
  if (way == "exit") std::exit(3);
  if (way == "throw") throw std::runtime_error("thrown out of a training");
}

// Publishes steps of 2 ms until the time is over or a stop is requested.
void train(events::EventStream& stream, double seconds, const std::string& way) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  stream.publish(events::made_up_start());
  std::int64_t step = 0;
  for (std::int64_t epoch = 1; epoch <= 4; ++epoch) {
    for (std::int64_t batch = 1; batch <= 100; ++batch) {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds / 400));
      const auto x = static_cast<double>(++step);
      stream.publish(events::MetricPoint::of(0, burn::Split::train, step, 1 / (1 + 0.05 * x)));
      stream.publish(events::MetricPoint::of(1, burn::Split::train, step, 100 - 90 / (1 + 0.05 * x)));
      events::Progress progress{.split = burn::Split::train, .epoch = epoch, .epochs = 4, .step = step};
      progress.items = 8 * batch;
      progress.total_items = 800;
      progress.items_per_second = x * 8 / elapsed();
      progress.seconds_left = 1;
      stream.publish(progress);
      if (step == 20) std::cout << "printed by the program" << std::endl;
      if (!way.empty() && step == 200) end_by(way);
      if (stop_request >= 0) {
        stream.publish(events::Message{events::Level::info, "interrupted by request " + std::to_string(stop_request)});
        stream.publish(events::End{events::Ended::interrupted, ""});
        return;
      }
    }
    for (const auto& event : events::made_up_epoch(epoch)) {
      if (std::holds_alternative<events::SplitEnd>(event.body) ||
          std::holds_alternative<events::EpochEnd>(event.body) ||
          std::holds_alternative<events::CheckpointWritten>(event.body))
        stream.publish(event.body);
    }
  }
  stream.publish(events::End{});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::filesystem::path folder = argv[1];
  const std::string way = argc > 3 ? argv[3] : "";
  if (!dashboard::terminal_is_usable()) {
    std::cout << "no terminal" << std::endl;
    return 4;
  }
  {
    dashboard::TerminalOptions options{
        folder, [](dashboard::StopRequest request) { stop_request = static_cast<int>(request); }, {}};
    events::EventStream stream{{std::make_shared<dashboard::TerminalDashboard>(std::move(options)),
                                std::make_shared<events::EventFileSink>(folder / "events")}};
    train(stream, std::atof(argv[2]), way);
  }
  std::cout << "after the training" << std::endl;
}

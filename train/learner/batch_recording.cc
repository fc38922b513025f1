#include "train/learner/batch_recording.h"

#include <chrono>
#include <utility>

#include "client/batch_scope.h"
#include "client/record/recording.h"
#include "data/batch_hooks.h"

namespace burn::train {

namespace {

thread_local std::chrono::steady_clock::duration paced{0};

void pace() {
  const auto begin = std::chrono::steady_clock::now();
  client::pace_this_thread();
  paced += std::chrono::steady_clock::now() - begin;
}

}  // namespace

double take_paced_seconds() {
  return std::chrono::duration<double>(std::exchange(paced, std::chrono::steady_clock::duration{0})).count();
}

void connect_loaders() {
  data::set_batch_hooks({
      .scope = []() -> std::shared_ptr<void> { return std::make_shared<BatchScope>(); },
      .detach = []() -> std::shared_ptr<void> {
        return std::make_shared<client::DetachedRecording>(client::DetachedRecording::detach());
      },
      .adopt =
          [](const std::shared_ptr<void>& token) {
            std::static_pointer_cast<client::DetachedRecording>(token)->adopt();
          },
      .before_next = pace,
  });
}

}  // namespace burn::train

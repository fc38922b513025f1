#include "train/learner/batch_recording.h"

#include "client/batch_scope.h"
#include "client/record/recording.h"
#include "data/batch_hooks.h"

namespace burn::train {

void connect_loaders() {
  data::set_batch_hooks({
      .scope = []() -> std::shared_ptr<void> { return std::make_shared<BatchScope>(); },
      .detach = []() -> std::shared_ptr<void> {
        return std::make_shared<client::DetachedRecording>(client::DetachedRecording::detach());
      },
      .adopt = [](std::shared_ptr<void> token) { std::static_pointer_cast<client::DetachedRecording>(token)->adopt(); },
      .before_next = client::pace_this_thread,
  });
}

}  // namespace burn::train

#include "backends/vulkan/runtime/completions.h"

namespace burn::backends::vulkan {

Completions::Completions(std::shared_ptr<Timeline> timeline)
    : timeline_(std::move(timeline)), thread_("burn-vulkan", [this](const Point& point) {
        auto status = timeline_->wait(point.number);
        if (status.ok() && point.beside.of) status = point.beside.of->wait(point.beside.number);
        return status;
      }) {
  if (timeline_->queue() != Queue::compute) return;
  timeline_->set_watcher([this](std::uint64_t number) {
    thread_.add({number, {}}, [this](const Status&) { timeline_->hand_in_if_due(); });
  });
}

Completions::~Completions() { timeline_->set_watcher(nullptr); }

}  // namespace burn::backends::vulkan

// A router's fleet of workers of this process, as a device.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/registry/registry.h"
#include "base/error.h"
#include "client/record/device_state.h"
#include "router/fleet_session.h"
#include "session/local_session.h"
#include "session/worker.h"

namespace burn::router {

inline std::shared_ptr<session::Worker> worker() {
  return session::Worker::create(value_or_throw(backends::open_backend("cpu")));
}

// A device of so many workers, and what each of them has in use.
class LocalFleet {
 public:
  // `tensor_bytes`: what a session may have on each worker.
  explicit LocalFleet(const compile::partition::Mesh& mesh, std::uint64_t tensor_bytes = std::uint64_t{1} << 40) {
    FleetOptions options{.mesh = mesh};
    const auto count = static_cast<std::size_t>(mesh.members());
    for (std::size_t i = 0; i < count; ++i) {
      const auto one = worker();
      options.members.push_back(session::make_local_session(one, {.tensor_bytes = tensor_bytes}));
      options.names.push_back("w" + std::to_string(i));
      probes_.push_back(session::make_local_session(one));
    }
    auto first = count == 1 ? std::move(options.members.front()) : make_fleet_session(std::move(options));
    device_ = std::make_unique<Device>(Device::from_session("fleet", std::move(first)));
  }
  const Device& device() const { return *device_; }
  std::vector<std::uint64_t> bytes_in_use() const {
    device_->flush();
    device_->sync();
    std::vector<std::uint64_t> all;
    for (const auto& probe : probes_) {
      std::promise<Result<proto::SessionStats>> answer;
      probe->stats([&](Result<proto::SessionStats> stats) { answer.set_value(std::move(stats)); });
      all.push_back(value_or_throw(answer.get_future().get()).device.memory_in_use);
    }
    return all;
  }

 private:
  std::vector<std::unique_ptr<proto::Session>> probes_;
  std::unique_ptr<Device> device_;
};

}  // namespace burn::router

// Blocking reads, syncs and stats of a session.
#pragma once

#include <future>
#include <utility>

#include "proto/session.h"

namespace burn::session {

inline Result<proto::HostTensor> read(proto::Session& session, proto::TensorId id) {
  std::promise<Result<proto::HostTensor>> promise;
  session.read(id, [&](Result<proto::HostTensor> tensor) { promise.set_value(std::move(tensor)); });
  return promise.get_future().get();
}
inline Status sync(proto::Session& session) {
  std::promise<Status> promise;
  session.sync([&](Status status) { promise.set_value(std::move(status)); });
  return promise.get_future().get();
}
inline Result<proto::SessionStats> stats(proto::Session& session) {
  std::promise<Result<proto::SessionStats>> promise;
  session.stats([&](const Result<proto::SessionStats>& stats) { promise.set_value(stats); });
  return promise.get_future().get();
}

}  // namespace burn::session

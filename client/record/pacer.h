// Limits how far a thread that feeds a device may run ahead of it: batches that wait there take memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/status.h"
#include "proto/session.h"

namespace burn::client {

// Thread-safe.
class Pacer {
 public:
  // Steps that may be unfinished on a nearby device: enough to upload for one while others run.
  static constexpr std::uint64_t kMaxAhead = 8;
  // For a distant device, as many more as it executes during eight round trips, but at most this many in all.
  static constexpr std::uint64_t kMaxAheadFarAway = 256;

  // The connection's round trip time; std::nullopt while it is not connected yet.
  using RoundTrip = std::function<std::optional<std::chrono::nanoseconds>()>;

  Pacer(proto::Session& session, RoundTrip round_trip);

  // Begins a step: waits until at most ahead() earlier steps are unfinished. Returns at once if the session is broken.
  void step();
  // Returns and clears the first failure that the session reported to the pacer instead of to the next sync.
  Status take_failure();
  // Clears the failure if it is `reported`: a read has reported it, so no sync needs to.
  void forget_failure(const Status& reported);
  std::uint64_t ahead() const;

 private:
  struct Shared;

  // After this many steps each, a sync asks the session to report when it has finished them.
  static constexpr std::uint64_t kMarkEvery = kMaxAhead / 2;

  proto::Session& session_;
  const RoundTrip round_trip_;
  const std::shared_ptr<Shared> shared_;  // with callbacks, which may outlive this object
};

}  // namespace burn::client

// Keeps a thread that feeds a device from running ahead of it without bound: batches that wait there take memory.
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
  // Steps that may be under way on a device that is near: enough to upload for one while others run.
  static constexpr std::uint64_t kMaxAhead = 8;
  // And on one that is far: as many as it does during eight round trips beside those, but no more than this.
  static constexpr std::uint64_t kMaxAheadFarAway = 256;

  // What the connection's round trip is; nothing while it is not there yet.
  using RoundTrip = std::function<std::optional<std::chrono::nanoseconds>()>;

  Pacer(proto::Session& session, RoundTrip round_trip);

  // One step more. Waits until no more than ahead() of those before it are unfinished; at once when the session is
  // broken.
  void step();
  // The first failure that the session told here instead of to the next sync.
  Status take_failure();
  // A read has told of this one: no sync needs to.
  void forget_failure(const Status& told);
  std::uint64_t ahead() const;

 private:
  struct Shared;

  // Every so many steps the session is asked to tell when it has come that far.
  static constexpr std::uint64_t kMarkEvery = kMaxAhead / 2;

  proto::Session& session_;
  const RoundTrip round_trip_;
  const std::shared_ptr<Shared> shared_;  // with callbacks, which may come late
};

}  // namespace burn::client

// Keeps whoever feeds a device from running ahead of it without bound: batches that wait there take memory.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "proto/session.h"

namespace burn::client {

// Thread-safe.
class Pacer {
 public:
  // Steps that may be under way: enough to hide a network's latency and to upload for one while others run.
  static constexpr std::uint64_t kMostAhead = 8;

  explicit Pacer(proto::Session& session);

  // One step more. Waits until no more than kMostAhead of those before it are unfinished; at once when the session is
  // broken.
  void step();
  // The first failure that the session told here instead of to the next sync.
  Status take_failure();

 private:
  struct Shared;

  // Every so many steps the session is asked to tell when it has come that far.
  static constexpr std::uint64_t kMarkEvery = kMostAhead / 2;

  proto::Session& session_;
  const std::shared_ptr<Shared> shared_;  // with callbacks, which may come late
};

}  // namespace burn::client

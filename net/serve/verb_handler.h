// What a worker does for each verb that a client sends to a session: the session's function, and the answer to it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/status.h"
#include "net/serve/answers.h"
#include "net/serve/bulk.h"
#include "proto/served_session.h"

namespace burn::net {

// Of one conversation. What takes frames is called by one thread at a time; the rest is thread-safe.
class VerbHandler {
 public:
  // `session` and `answers` outlive it, and the session has ended when it is destroyed. `fail`: ends the connection;
  // called from any thread.
  VerbHandler(proto::ServedSession& session, Answers& answers, std::function<void(const Status&)> fail);

  // One thread at a time calls these.
  // A frame in its turn. An error ends the connection and the session.
  Status handle(proto::Frame& frame);
  // Where a chunk's bytes should go.
  std::shared_ptr<std::byte> destination(const proto::ChunkHead& chunk) {
    return receiver_.destination(chunk.chunk, chunk.payload_size);
  }
  // Gives the client the credit that it has earned.
  Status grant();
  // The client goes on over another connection: what has come of each tensor that is not whole.
  std::vector<proto::Chunk> restart_uploads() { return receiver_.restart(); }

  bool is_answered() const { return unanswered_ == 0; }  // every question
  // The server ends the session at `end`: a client that takes notices is told, now or when it says that it does.
  void announce_end(std::chrono::steady_clock::time_point end);
  bool takes_notices() const { return takes_notices_; }

  // Ends the connection unless what was said could be.
  void check(const Status& said) const {
    if (!said.ok()) [[unlikely]]
      fail_(said);
  }

 private:
  struct OfFrame;  // the functions, one for each verb

  void answer(std::uint64_t request, Result<proto::HostTensor> tensor);
  Status tell_end();

  proto::ServedSession& session_;
  Answers& answers_;
  const std::function<void(const Status&)> fail_;
  const std::uint64_t max_downloads_;
  BulkReceiver receiver_;                      // of the thread that brings frames
  std::atomic<std::uint64_t> unanswered_ = 0;  // questions: a device may answer long after they are executed
  std::atomic<bool> takes_notices_ = false;

  std::mutex ending_;  // held for moments
  std::optional<std::chrono::steady_clock::time_point> announced_end_;
};

}  // namespace burn::net

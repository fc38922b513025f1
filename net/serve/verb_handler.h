// What a worker does for each verb that a client sends to a session: calls the session, and sends the answer.
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

// For one conversation. The functions that handle frames are called by one thread at a time; the rest is thread-safe.
class VerbHandler {
 public:
  // `session` and `answers` must outlive it, and the session must have ended before it is destroyed. `fail`: ends the
  // connection; called from any thread.
  VerbHandler(proto::ServedSession& session, Answers& answers, std::function<void(const Status&)> fail);

  // The following are called by one thread at a time.
  // Handles a frame whose turn it is. An error ends the connection and the session.
  Status handle(proto::Frame& frame);
  // Memory into which a chunk's bytes are to be received, or null.
  std::shared_ptr<std::byte> destination(const proto::ChunkHead& chunk) {
    return receiver_.destination(chunk.chunk, chunk.payload_size);
  }
  // Grants the client the credit for consumed bytes.
  Status grant();
  // The client continues over another connection. Returns how much of each incomplete tensor was received.
  std::vector<proto::Chunk> restart_uploads() { return receiver_.restart(); }

  bool is_answered() const { return unanswered_ == 0; }  // every question is answered
  // The server ends the session at `end`. A client that takes notices is told now, others when they say that they take
  // notices.
  void announce_end(std::chrono::steady_clock::time_point end);
  bool takes_notices() const { return takes_notices_; }

  // Ends the connection if sending failed.
  void check(const Status& said) const {
    if (!said.ok()) [[unlikely]]
      fail_(said);
  }

 private:
  struct OfFrame;  // visitor with a function for each verb

  void answer(std::uint64_t request, Result<proto::HostTensor> tensor);
  Status tell_end();

  proto::ServedSession& session_;
  Answers& answers_;
  const std::function<void(const Status&)> fail_;
  const std::uint64_t max_downloads_;
  BulkReceiver receiver_;                      // used by the thread that handles frames
  std::atomic<std::uint64_t> unanswered_ = 0;  // open questions; an answer may come long after their execution
  std::atomic<bool> takes_notices_ = false;

  std::mutex ending_;  // held briefly
  std::optional<std::chrono::steady_clock::time_point> announced_end_;
};

}  // namespace burn::net

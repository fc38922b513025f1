// What the server sends to a client, in the order in which it is sent: answers, downloads in chunks as the client's
// credit allows, and other messages. If the client may resume after a lost connection, answers are held until it
// confirms them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "proto/channel.h"

namespace burn::net {

// Thread-safe. Nothing is copied: the session's bytes are held.
class Answers {
 public:
  // Bytes of answers that may wait for the client to read or confirm them. Chunks do not count: they need the client's
  // credit.
  static constexpr std::size_t kMaxBacklogBytes = std::size_t{256} << 20;
  static constexpr std::size_t kMaxUnconfirmed = 4096;                 // answers
  static constexpr std::uint64_t kMaxCredit = std::uint64_t{1} << 30;  // a client's window is never that large

  // `holds`: answers are held until they are confirmed.
  explicit Answers(bool holds) : holds_(holds) {}

  // Sends `welcome` on the new channel, then the unconfirmed answers again. Credit starts from its initial value.
  void connect(std::shared_ptr<proto::Channel> channel, const proto::Body& welcome);
  // What is sent without a channel is held for the next one, or is dropped if answers are not held. Returns the old
  // channel.
  std::shared_ptr<proto::Channel> disconnect();
  // Drops what a resuming client says that it has. Errors: INVALID_ARGUMENT for more than was sent.
  Status resume(const proto::Resume& seen);

  // Sends the answer to a question; `bytes` are its tensor's. Errors: RESOURCE_EXHAUSTED when the client does not read
  // what it asks for, or does not confirm it; the client is to be disconnected.
  Status answer(proto::Body body, SharedBytes bytes = {});
  // Sends a message that is never held, as a resuming client asks for it again. Errors: as above.
  Status tell(const proto::Body& body);
  // The client confirms answers, and grants credit. Errors: INVALID_ARGUMENT for numbers that cannot be.
  Status on_credit(const proto::Credit& credit);
  Status confirm(std::uint64_t answers);

  void clear();
  std::size_t downloads() const;  // downloads that are not sent in full, or not confirmed
  bool is_sent() const;           // everything was passed to the channel, and has left its queue

 private:
  struct Answer {
    proto::Body body;
    SharedBytes payload;
  };
  struct Download {
    std::uint64_t key = 0;     // the request that it answers
    std::uint64_t number = 0;  // the number of its answer
    SharedBytes bytes;
    std::size_t sent = 0;
  };

  // Require the lock.
  Status send(const proto::Body& body, SharedBytes payload = {});
  void put(const proto::Body& body, SharedBytes payload = {});  // Requires: a channel. Not limited by kMaxBacklogBytes.
  Status confirm_locked(std::uint64_t answers);
  Status confirm_downloads(std::uint64_t downloads);
  Status hold(const proto::Body& body, const SharedBytes& payload);
  void send_what_fits();

  const bool holds_;
  mutable std::mutex mutex_;
  std::shared_ptr<proto::Channel> channel_;
  std::deque<Answer> unconfirmed_;
  std::size_t unconfirmed_bytes_ = 0;  // of payloads
  std::uint64_t answer_count_ = 0;     // answers so far, sent or not
  std::deque<Download> downloads_;     // the first `sent_downloads_` are sent
  std::size_t sent_downloads_ = 0;
  std::uint64_t done_downloads_ = 0;  // number of downloads removed from `downloads_`
  std::uint64_t credit_ = 0;
};

}  // namespace burn::net

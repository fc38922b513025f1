// What a client is told, in an order of its own: answers, those that come in chunks as its credit allows, and what is
// said beside them. If the client may come back after its connection is lost, answers are held until it confirms them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "proto/channel.h"

namespace burn::net {

// Thread-safe. Nothing is copied: what is held is the bytes that a session gave.
class Answers {
 public:
  // Bytes of answers that may wait for the client to read or to confirm them. Chunks are not among them: they need its
  // credit.
  static constexpr std::size_t kMaxBacklogBytes = std::size_t{256} << 20;
  static constexpr std::size_t kMaxUnconfirmed = 4096;                 // answers
  static constexpr std::uint64_t kMaxCredit = std::uint64_t{1} << 30;  // a client's window is never that large

  // `holds`: until they are confirmed.
  explicit Answers(bool holds) : holds_(holds) {}

  // Says `welcome` on the new channel, then again what is not confirmed. Credit starts anew.
  void connect(std::shared_ptr<proto::Channel> channel, const proto::Body& welcome);
  // What is said meanwhile waits for the next channel, or is dropped if nothing is held.
  std::shared_ptr<proto::Channel> disconnect();
  // Answers the client has, as it says when it comes back. Errors: INVALID_ARGUMENT for more than there are.
  Status resume(const proto::Resume& seen);

  // The answer to a question: `bytes` are its tensor's. Errors: RESOURCE_EXHAUSTED when the client does not take what
  // it asks for, or does not say so: it is to be dropped.
  Status answer(proto::Body body, SharedBytes bytes = {});
  // Something that a client which comes back learns anew. Errors: as above.
  Status tell(const proto::Body& body);
  // What the client has, and how much more it takes. Errors: INVALID_ARGUMENT when it cannot be.
  Status on_credit(const proto::Credit& credit);
  Status confirm(std::uint64_t answers);

  void clear();
  std::size_t downloads() const;  // that are not sent in full, or not confirmed
  bool is_sent() const;           // everything is with the channel, and gone from there

 private:
  struct Answer {
    proto::Body body;
    SharedBytes payload;
  };
  struct Download {
    std::uint64_t key = 0;     // the request
    std::uint64_t number = 0;  // of its answer
    SharedBytes bytes;
    std::size_t sent = 0;
  };

  // With the lock held.
  Status send(const proto::Body& body, SharedBytes payload = {});
  void put(const proto::Body& body, SharedBytes payload = {});  // Requires: a channel. However much waits there.
  Status confirm_locked(std::uint64_t answers);
  Status confirm_downloads(std::uint64_t downloads);
  Status hold(const proto::Body& body, const SharedBytes& payload);
  void send_what_fits();

  const bool holds_;
  mutable std::mutex mutex_;
  std::shared_ptr<proto::Channel> channel_;
  std::deque<Answer> unconfirmed_;
  std::size_t unconfirmed_bytes_ = 0;  // of payloads
  std::uint64_t told_ = 0;             // answers so far
  std::deque<Download> downloads_;     // the first sent_downloads_ of them are sent
  std::size_t sent_downloads_ = 0;
  std::uint64_t done_downloads_ = 0;  // gone from downloads_
  std::uint64_t credit_ = 0;
};

}  // namespace burn::net

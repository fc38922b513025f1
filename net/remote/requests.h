// Questions that the server has not answered yet, and the tensors received as answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "proto/verbs.h"

namespace burn::net {

// A callback bound to its result: to be called once, without a lock. Empty: no answer is complete yet.
using Completion = std::function<void()>;

// Adding requests and fail_all() are thread-safe; the on_... functions belong to the channel's thread, and fail_all()
// must not run at the same time. Answers are validated: an error of theirs says which rule the server broke, and ends
// the conversation.
class Requests {
 public:
  using ReadCallback = proto::Session::ReadCallback;
  using SyncCallback = proto::Session::SyncCallback;
  using UnorderedCallback = std::function<void(Result<proto::Body>)>;

  // `seq`: number of the frame that asks.
  std::uint64_t add(ReadCallback done, std::uint64_t seq) { return add_any({.callback = std::move(done), .seq = seq}); }
  std::uint64_t add(SyncCallback done, std::uint64_t seq) { return add_any({.callback = std::move(done), .seq = seq}); }

  // Adds a question outside the order of frames. `ask` makes its frame from its number; the answer is a `Report`.
  // Returns the question.
  template <proto::Report Report>
  proto::Body add_unordered(const std::function<proto::Body(std::uint64_t)>& ask, UnorderedCallback done) {
    return add_unordered(ask, proto::kIndexOf<Report>, std::move(done));
  }

  // `max_bytes`: the largest tensor allowed.
  Result<Completion> on_data(const proto::Data& data, const SharedBytes& payload, std::uint64_t max_bytes);
  Result<Completion> on_chunk(const proto::Chunk& chunk, std::span<const std::byte> bytes);
  // Memory into which the chunk's bytes may be received before on_chunk is called with them; null if on_chunk would
  // refuse the chunk, or there was no memory for the tensor.
  std::shared_ptr<std::byte> destination(const proto::Chunk& chunk, std::size_t size);
  Result<Completion> on_done(const proto::Done& done);

  template <proto::Report Report>
  Result<Completion> on_report(const Report& report) {
    return on_report(report.request, report.status, report);
  }

  std::vector<Completion> fail_all(const Status& why);
  // Fails the unordered questions that cannot be asked: those for which `check` returns an error.
  std::vector<Completion> fail_unordered(const std::function<Status(const proto::Body& question)>& check);
  // Returns the open unordered questions, to be sent on a new connection. If the server received one over an earlier
  // connection, too, it answers each copy: the first answer counts, later ones are dropped.
  std::vector<proto::Body> unordered_to_resend();

  std::size_t size() const;  // number of open questions
  // The seq of the ordered question that has been open for the longest; std::nullopt if none is.
  std::optional<std::uint64_t> oldest_seq() const;
  // Whether the question answered last, in part or in full, was the one open for the longest. An unordered question
  // counts as such only if no ordered one was open.
  bool was_oldest() const { return was_oldest_; }
  // What has been received: answers (Data and Done), complete downloads, and bytes of the next download. The first two
  // may be called from any thread.
  std::uint64_t answers() const { return answers_; }
  std::uint64_t downloads() const { return downloads_; }
  std::uint64_t offset() const { return offset_; }

 private:
  // A tensor that arrives in chunks, stored in its final memory.
  struct Download {
    ir::TensorType type;
    std::uint64_t size = 0, received = 0;
    std::shared_ptr<std::byte[]> bytes;  // null: there was no memory for it
  };
  struct Unordered {
    proto::Body question;
    std::size_t answer = 0;  // Body::index() of its answer
    UnorderedCallback done;
    int asked_again = 0;  // on this many new connections

    void operator()(const Status& why) const { done(why); }
  };
  struct Request {
    std::variant<ReadCallback, SyncCallback, Unordered> callback;
    std::uint64_t seq = 0;  // 0 for an unordered question
    Download download;      // of a read, once its Data has arrived

    bool is_unordered() const { return std::holds_alternative<Unordered>(callback); }
  };

  using ById = std::map<std::uint64_t, Request>;  // in the order they were asked

  std::uint64_t add_any(Request request);
  proto::Body add_unordered(const std::function<proto::Body(std::uint64_t)>& ask, std::size_t answer,
                            UnorderedCallback done);
  Result<Completion> on_report(std::uint64_t id, const Status& status, proto::Body report);
  // Requires: the lock. The ordered question that has been open for the longest, else the first unordered one, else
  // end().
  ById::const_iterator oldest() const;
  Request* find(std::uint64_t id);
  bool take_late_answer(std::uint64_t id, std::size_t answer);  // whether it is a late answer, in late_answers_
  Request take(std::uint64_t id);
  static Completion fail(Request request, const Status& why);

  mutable std::mutex mutex_;  // guards the map; an entry is used by the channel's thread only
  ById requests_;
  // Answered unordered questions that were sent several times: the answer's index, and how many more answers may
  // arrive.
  std::map<std::uint64_t, std::pair<std::size_t, int>> late_answers_;
  std::uint64_t last_id_ = 0;
  std::atomic<std::uint64_t> answers_ = 0, downloads_ = 0;
  std::uint64_t offset_ = 0;
  bool was_oldest_ = false;  // used by the channel's thread
};

}  // namespace burn::net

// Questions that the server has not answered yet, and the tensors that come as answers.
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

// A callback with its result: to be called once, without a lock. Empty: nothing is complete yet.
using Completion = std::function<void()>;

// Asking and fail_all() are thread-safe; the on_... functions belong to the channel's thread, and fail_all() must not
// run beside them. Answers are not believed: an error of theirs says which rule the server broke, and is the end of the
// conversation.
class Requests {
 public:
  using ReadCallback = proto::Session::ReadCallback;
  using SyncCallback = proto::Session::SyncCallback;
  using BesideCallback = std::function<void(Result<proto::Body>)>;

  // `seq`: of the frame that asks.
  std::uint64_t add(ReadCallback done, std::uint64_t seq) { return add_any({.callback = std::move(done), .seq = seq}); }
  std::uint64_t add(SyncCallback done, std::uint64_t seq) { return add_any({.callback = std::move(done), .seq = seq}); }

  // One that is asked beside the order, by what `ask` makes of its number, and answered by a `Report`: that question.
  template <proto::Report Report>
  proto::Body add_beside(const std::function<proto::Body(std::uint64_t)>& ask, BesideCallback done) {
    return add_beside(ask, proto::kIndexOf<Report>, std::move(done));
  }

  // `max_bytes`: what a tensor may have.
  Result<Completion> on_data(const proto::Data& data, const SharedBytes& payload, std::uint64_t max_bytes);
  Result<Completion> on_chunk(const proto::Chunk& chunk, std::span<const std::byte> bytes);
  // Where the chunk's bytes may be received before on_chunk is told of them; null when it will not take them, or in no
  // place.
  std::shared_ptr<std::byte> destination(const proto::Chunk& chunk, std::size_t size);
  Result<Completion> on_done(const proto::Done& done);

  template <proto::Report Report>
  Result<Completion> on_report(const Report& report) {
    return on_report(report.request, report.status, report);
  }

  std::vector<Completion> fail_all(const Status& why);
  // Those questions beside the order of which `check` says why they cannot be asked.
  std::vector<Completion> fail_beside(const std::function<Status(const proto::Body& question)>& check);
  // Those beside the order that are open, to be asked on a new connection. The server may have got one over an earlier
  // connection, too, and then answers each: the first answer counts, later ones are dropped.
  std::vector<proto::Body> beside_to_ask();

  std::size_t size() const;  // questions that are open
  // The seq of the ordered question that has been open for the longest; nothing: none is.
  std::optional<std::uint64_t> oldest_seq() const;
  // Whether the question that was answered last, in part or in full, had been open for the longest; one that was asked
  // beside the order only if no other was open.
  bool was_oldest() const { return was_oldest_; }
  // How much has come: Data and Done, downloads in full, and bytes of the next download. The first two from any thread.
  std::uint64_t answers() const { return answers_; }
  std::uint64_t downloads() const { return downloads_; }
  std::uint64_t offset() const { return offset_; }

 private:
  // A tensor that comes in chunks, put where it stays.
  struct Download {
    ir::TensorType type;
    std::uint64_t size = 0, received = 0;
    std::shared_ptr<std::byte[]> bytes;  // null: there was no memory for it
  };
  struct Beside {
    proto::Body question;
    std::size_t answer = 0;  // Body::index() of what answers it
    BesideCallback done;
    int asked_again = 0;  // on how many new connections

    void operator()(const Status& why) const { done(why); }
  };
  struct Request {
    std::variant<ReadCallback, SyncCallback, Beside> callback;
    std::uint64_t seq = 0;  // 0 of one beside the order
    Download download;      // of a read, once its Data has come

    bool is_beside() const { return std::holds_alternative<Beside>(callback); }
  };

  using ById = std::map<std::uint64_t, Request>;  // in the order they were asked

  std::uint64_t add_any(Request request);
  proto::Body add_beside(const std::function<proto::Body(std::uint64_t)>& ask, std::size_t answer, BesideCallback done);
  Result<Completion> on_report(std::uint64_t id, const Status& status, proto::Body report);
  // With the lock held: the ordered one that has been open for the longest, else the first beside the order, else none.
  ById::const_iterator oldest() const;
  Request* find(std::uint64_t id);
  bool take_late_answer(std::uint64_t id, std::size_t answer);  // whether it is one of those
  Request take(std::uint64_t id);
  static Completion fail(Request request, const Status& why);

  mutable std::mutex mutex_;  // over the map; an entry belongs to the channel's thread
  ById requests_;
  // Of questions beside the order that have been answered: what answers them, and how many more of it may come.
  std::map<std::uint64_t, std::pair<std::size_t, int>> late_answers_;
  std::uint64_t last_id_ = 0;
  std::atomic<std::uint64_t> answers_ = 0, downloads_ = 0;
  std::uint64_t offset_ = 0;
  bool was_oldest_ = false;  // of the channel's thread
};

}  // namespace burn::net

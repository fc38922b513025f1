// Items that are read one after the other: a log, a queue, shards without an index.
//
//   auto loader = data::DataLoaderBuilder(batcher).batch_size(64).num_workers(2).build(LinesOf{"big.jsonl"}, 10'000);
//
// A loader of a stream gives so many batches in an epoch, and goes on in the next epoch where it was. After the last
// item it begins another pass. Where it is has a text, the position, from which another process goes on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace burn::data {

// A pass under way. Used by one thread at a time.
template <typename T>
class StreamReader {
 public:
  StreamReader() = default;
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;
  virtual ~StreamReader() = default;

  virtual std::optional<T> next() = 0;  // nothing: the pass is over
  // Where the item is that next() would give: any text but the empty one, which is the beginning of a pass.
  virtual std::string position() const = 0;
};

// Immutable once made; open() may be called by several threads at once.
template <typename T>
class Stream {
 public:
  using Item = T;

  Stream() = default;
  Stream(const Stream&) = default;
  Stream& operator=(const Stream&) = default;
  virtual ~Stream() = default;

  // A pass (counted from 0) from a position on that a reader of that pass gave; empty: from its beginning. The items
  // and their order are a function of the pass, as of shards that are shuffled anew for each.
  virtual std::unique_ptr<StreamReader<T>> open(std::size_t pass, const std::string& position) const = 0;
};

template <typename S>
concept IsStream = std::is_base_of_v<Stream<typename S::Item>, S>;

// A pass and a position in it, as the text that a loader gives: "2:1048576"; empty: the beginning of the first.
struct StreamPosition {
  std::size_t pass = 0;
  std::string in_pass;

  // Errors (thrown): INVALID_ARGUMENT for a text that is none.
  static StreamPosition parse(const std::string& text);
  std::string text() const;
};

// Lets threads read in the order of the numbers they have, each number once, from 0 on.
class ReadingOrder {
 public:
  // Waits for those before, then reads. Errors (thrown): what `read` throws; INTERNAL where one before has thrown.
  void in_turn(std::size_t number, const std::function<void()>& read);

 private:
  std::mutex mutex_;
  std::condition_variable moved_;
  std::size_t next_ = 0;
  bool has_failed_ = false;
};

// Throws INVALID_ARGUMENT: a pass of a stream has no item.
[[noreturn]] void throw_no_items(std::size_t pass);

// The batches of a stream from a position on. Thread-safe.
template <typename T>
class StreamBatches {
 public:
  struct Items {
    std::vector<T> items;
    std::string position;  // after them
  };

  StreamBatches(std::shared_ptr<const Stream<T>> stream, std::size_t batch_size, const std::string& position)
      : stream_(std::move(stream)), batch_size_(batch_size), at_(StreamPosition::parse(position)) {}

  // Each batch once, from 0 on; waits until those before it are read.
  Items read(std::size_t batch) {
    Items read;
    order_.in_turn(batch, [&] {
      if (!reader_) reader_ = stream_->open(at_.pass, at_.in_pass);
      while (read.items.size() < batch_size_) read.items.push_back(next());
      read.position = StreamPosition{at_.pass, reader_->position()}.text();
    });
    return read;
  }

 private:
  T next() {
    bool is_at_begin = at_.in_pass.empty() && is_fresh_;
    for (;;) {
      auto item = reader_->next();
      is_fresh_ = false;
      if (item) return *std::move(item);
      if (is_at_begin) throw_no_items(at_.pass);
      at_ = {at_.pass + 1, ""};
      reader_ = stream_->open(at_.pass, at_.in_pass);
      is_at_begin = true;
    }
  }

  const std::shared_ptr<const Stream<T>> stream_;
  const std::size_t batch_size_;
  ReadingOrder order_;  // guards what follows
  StreamPosition at_;   // of the pass, where it was opened
  std::unique_ptr<StreamReader<T>> reader_;
  bool is_fresh_ = true;  // nothing has been asked of the first reader
};

}  // namespace burn::data

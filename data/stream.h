// Items that can only be read in order: a log, a queue, shards without an index.
//
//   auto loader = data::DataLoaderBuilder(batcher).batch_size(64).num_workers(2).build(LinesOf{"big.jsonl"}, 10'000);
//
// A loader of a stream returns a fixed number of batches in an epoch, and continues in the next epoch. After the last
// item it begins another pass. Its position is a text, with which another process can continue.
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

// Reads one pass of a stream. One thread at a time.
template <typename T>
class StreamReader {
 public:
  StreamReader() = default;
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;
  virtual ~StreamReader() = default;

  virtual std::optional<T> next() = 0;  // std::nullopt at the end of the pass
  // The position of the item that next() would return. Any text but the empty one, which means the beginning of a pass.
  virtual std::string position() const = 0;
};

// Immutable; several threads may call open() at once.
template <typename T>
class Stream {
 public:
  using Item = T;

  Stream() = default;
  Stream(const Stream&) = default;
  Stream& operator=(const Stream&) = default;
  virtual ~Stream() = default;

  // Opens a pass (counted from 0) at a position that a reader of that pass has returned; empty: at its beginning. The
  // items and their order may depend on the pass, such as if shards are shuffled anew for each.
  virtual std::unique_ptr<StreamReader<T>> open(std::size_t pass, const std::string& position) const = 0;
};

template <typename S>
concept IsStream = std::is_base_of_v<Stream<typename S::Item>, S>;

// A pass and a position in it, as the text that a loader returns: "2:1048576"; empty: the beginning of the first pass.
struct StreamPosition {
  std::size_t pass = 0;
  std::string in_pass;

  // Errors (thrown): INVALID_ARGUMENT for a text that is not a position.
  static StreamPosition parse(const std::string& text);
  std::string text() const;
};

// Makes threads read in the order of their numbers, each number once, from 0 on.
class ReadingOrder {
 public:
  // Waits until all lower numbers have read, then calls `read`. Errors (thrown): those of `read`; INTERNAL if an
  // earlier one has thrown.
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
    std::string position;  // after these items
  };

  StreamBatches(std::shared_ptr<const Stream<T>> stream, std::size_t batch_size, const std::string& position)
      : stream_(std::move(stream)), batch_size_(batch_size), at_(StreamPosition::parse(position)) {}

  // Reads a batch, each once, from 0 on. Waits until the batches before it have been read.
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
  ReadingOrder order_;  // guards the members below
  StreamPosition at_;   // the pass, and where in it reader_ was opened
  std::unique_ptr<StreamReader<T>> reader_;
  bool is_fresh_ = true;  // next() of the first reader has not been called yet
};

}  // namespace burn::data

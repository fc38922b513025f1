// Batches of a data set, made ahead by worker threads and returned in order.
//
//   auto loader = data::DataLoaderBuilder(MnistBatcher{device})
//                     .batch_size(64).shuffle(42).num_workers(2).build(dataset);
//   for (const MnistBatch& batch : loader) ...  // one pass is one epoch, the next loop is the next epoch
//
// A batcher is anything with `Batch batch(std::vector<Item>) const`, or a function of that form; the workers call it
// (and the data set) concurrently. The order of the items depends on the seed of shuffle() and the epoch only, not on
// the number of workers. An exception in a worker is rethrown by the loop at the position of its batch. Leaving a loop
// early stops the workers.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "client/device.h"
#include "data/batch_iterator.h"
#include "data/batch_plan.h"
#include "data/batcher.h"
#include "data/dataset.h"
#include "data/indices.h"
#include "data/prefetcher.h"
#include "data/stream.h"

namespace burn::data {

// Cheap to copy; a copy shares the data set and the batcher, and counts its own epochs. Not thread-safe.
template <typename Batch>
class DataLoader {
 public:
  using value_type = Batch;
  using Make = std::function<Batch(std::span<const std::size_t> indices)>;
  using MakeOn = std::function<Make(const Device& device)>;  // makes the same batches on another device
  // For a stream: Open returns a function that makes part `part` of each batch from `position` on. It is called once
  // for each batch, with the batch's number, counted from there.
  using Made = MadeBatch<Batch>;
  using MakeNext = std::function<Made(std::size_t batch)>;
  using Open = std::function<MakeNext(const std::string& position, std::size_t part, std::size_t parts)>;
  using OpenOn = std::function<Open(const Device& device)>;

  DataLoader(Make make, std::size_t num_items, LoaderOptions options, MakeOn make_on = {})
      : make_(std::make_shared<const Make>(std::move(make))),
        make_on_(std::move(make_on)),
        options_(std::move(options)),
        end_(num_items) {
    check(options_);
  }
  // A loader of a stream, with `batches` in an epoch.
  DataLoader(Open open, std::size_t batches, LoaderOptions options, OpenOn open_on)
      : open_(std::make_shared<const Open>(std::move(open))),
        open_on_(std::move(open_on)),
        options_(std::move(options)),
        end_(batches * options_.batch_size) {
    check(options_);
    check_stream(options_, batches);
  }

  std::size_t size() const { return data::num_batches(options_, end_ - begin_); }  // in batches
  std::size_t items_in(std::size_t batch) const {                                  // 0 from size() on
    const auto begin = std::min(batch * options_.batch_size, end_ - begin_);
    return batch < size() ? std::min(options_.batch_size, end_ - begin_ - begin) : 0;
  }
  std::size_t num_items() const { return options_.drop_last ? size() * options_.batch_size : end_ - begin_; }
  const LoaderOptions& options() const { return options_; }

  // The number of the next loop's epoch, from 0. Set it to resume a training at epoch k with the same shuffles.
  std::size_t epoch() const { return next_epoch_; }
  DataLoader& epoch(std::size_t next) {
    next_epoch_ = next;
    return *this;
  }

  bool is_stream() const { return open_ != nullptr; }
  // The position in a stream at which the next loop begins: after the last batch that was taken. Set it to continue in
  // another process. Empty at the beginning, and always for a data set. Errors, of the next loop: INVALID_ARGUMENT for
  // a text that is not a position.
  const std::string& position() const { return *position_.text; }
  DataLoader& position(std::string next) {  // NOLINT(performance-unnecessary-value-param): it is moved from
    *position_.text = std::move(next);
    return *this;
  }

  BatchIterator<Batch> begin() {
    return iterate(next_epoch_++, 0, kAllBatches, position(), is_stream() ? position_.text : nullptr);
  }
  std::default_sentinel_t end() const { return {}; }

  // A pass over a given epoch, without changing epoch(): its batches from `first` on, at most `limit` of them. The
  // others are not made, so it takes no longer to begin in the middle of an epoch than at its start.
  static constexpr std::size_t kAllBatches = static_cast<std::size_t>(-1);
  // For a stream, the first batch is at `position`; `first` only determines how many are left.
  BatchIterator<Batch> start(std::size_t epoch, std::size_t first = 0, std::size_t limit = kAllBatches,
                             const std::string& position = {}) const {
    return iterate(epoch, first, limit, position, nullptr);
  }

  // Loaders over the items [begin, end) (slice), and over equal parts of the data set (split), such as one for each
  // device. Errors: UNIMPLEMENTED for a stream, which has no parts.
  DataLoader slice(std::size_t begin, std::size_t end) const {
    if (is_stream()) throw Error(StatusCode::unimplemented, "data loader: a stream cannot be sliced or split");
    check_range(begin, end, end_ - begin_);
    DataLoader part = *this;
    part.end_ = begin_ + end;
    part.begin_ = begin_ + begin;
    return part;
  }
  std::vector<DataLoader> split(std::size_t parts) const {
    std::vector<DataLoader> loaders;
    for (const auto& [begin, end] : even_ranges(end_ - begin_, parts)) loaders.push_back(slice(begin, end));
    return loaders;
  }

  // One loader for each device, which makes its part of each batch on the device; the parts are even_ranges() of the
  // batch's items. A part that would be empty gets the batch's first item, which is then in more than one part;
  // items_in() is less than the number of devices for such a batch. Errors (thrown): UNIMPLEMENTED for a batcher that
  // has neither a member `device` nor to_device(const Device&).
  std::vector<DataLoader> parts_on(const std::vector<Device>& devices) const {
    if (!make_on_ && !open_on_) {
      throw Error(StatusCode::unimplemented,
                  "data loader: its batcher makes batches on one device; give it a member `device`, or "
                  "`to_device(const Device&) const`, for those on others");
    }
    std::vector<DataLoader> loaders;
    for (std::size_t k = 0; k < devices.size(); ++k) {
      auto& loader = loaders.emplace_back(*this);
      if (is_stream())
        loader.open_ = std::make_shared<const Open>(open_on_(devices[k]));
      else
        loader.make_ = std::make_shared<const Make>(make_on_(devices[k]));
      loader.part_ = k;
      loader.parts_ = devices.size();
    }
    return loaders;
  }

 private:
  // Copying makes a new string, so that copies of a loader have independent positions.
  struct Position {
    Position() = default;
    Position(const Position& other) : text(std::make_shared<std::string>(*other.text)) {}
    Position& operator=(Position other) noexcept {
      text.swap(other.text);
      return *this;
    }
    ~Position() = default;
    std::shared_ptr<std::string> text = std::make_shared<std::string>();
  };

  BatchIterator<Batch> iterate(std::size_t epoch, std::size_t first, std::size_t limit, const std::string& position,
                               std::shared_ptr<std::string> position_out) const {
    const auto count = std::min(limit, size() - std::min(first, size()));
    const auto workers = options_.num_workers;
    auto make = is_stream() ? makes_next(position) : makes_planned(epoch, first);
    return BatchIterator<Batch>(
        Prefetcher::Owner(new Prefetcher(count, workers, options_.prefetch.value_or(2 * workers), std::move(make),
                                         options_.hooks ? *options_.hooks : batch_hooks())),
        std::move(position_out));
  }
  Prefetcher::Make makes_next(const std::string& position) const {
    return [make = (*open_)(position, part_, parts_)](std::size_t batch) -> std::shared_ptr<void> {
      return std::make_shared<Made>(make(batch));
    };
  }
  Prefetcher::Make makes_planned(std::size_t epoch, std::size_t first) const {
    auto plan = std::make_shared<const BatchPlan>(options_, begin_, end_, epoch);
    return [make = make_, plan, first, part = part_, parts = parts_](std::size_t batch) -> std::shared_ptr<void> {
      return std::make_shared<Made>(Made{(*make)(part_of(plan->indices(first + batch), part, parts))});
    };
  }

  static std::span<const std::size_t> part_of(std::span<const std::size_t> indices, std::size_t part,
                                              std::size_t parts) {
    if (parts == 1) return indices;
    const auto [begin, end] = even_ranges(indices.size(), parts)[part];
    return begin == end ? indices.first(1) : indices.subspan(begin, end - begin);
  }

  std::shared_ptr<const Make> make_;
  MakeOn make_on_;
  std::shared_ptr<const Open> open_;  // not null: a loader of a stream
  OpenOn open_on_;
  Position position_;
  LoaderOptions options_;
  std::size_t begin_ = 0, end_, next_epoch_ = 0;
  std::size_t part_ = 0, parts_ = 1;
};

template <typename Batcher>
class DataLoaderBuilder {
 public:
  explicit DataLoaderBuilder(Batcher batcher) : batcher_(std::move(batcher)) {}

  DataLoaderBuilder& batch_size(std::size_t items) { return set(options_.batch_size, items); }
  DataLoaderBuilder& shuffle(std::uint64_t seed) { return set(options_.shuffle_seed, seed); }
  DataLoaderBuilder& num_workers(std::size_t threads) { return set(options_.num_workers, threads); }
  DataLoaderBuilder& prefetch(std::size_t batches) { return set(options_.prefetch, batches); }
  DataLoaderBuilder& drop_last(bool drop = true) { return set(options_.drop_last, drop); }
  DataLoaderBuilder& hooks(BatchHooks hooks) {
    return set(options_.hooks, std::make_shared<const BatchHooks>(std::move(hooks)));
  }

  // Can be called again, with other options or another data set.
  template <typename D>
  auto build(D dataset) const {
    using Item = ItemOf<D>;
    using Batch = decltype(internal::make_batch(batcher_, std::vector<Item>{}));
    const AnyDataset<Item> source(std::move(dataset));
    const auto make_with = [source](const Batcher& batcher) {
      return [batcher, source](std::span<const std::size_t> indices) {
        return internal::make_batch(batcher, source.get_many(indices));
      };
    };
    typename DataLoader<Batch>::MakeOn make_on;
    if constexpr (internal::HasDevice<Batcher> || internal::MovesToDevice<Batcher>) {
      make_on = [batcher = batcher_, make_with](const Device& device) {
        return make_with(internal::on_device(batcher, device));
      };
    }
    return DataLoader<Batch>(make_with(batcher_), source.len(), options_, std::move(make_on));
  }
  // A loader of a stream, which one worker at a time reads in order, while others make batches of the items that they
  // have read. An epoch has `batches_per_epoch` batches, all of them complete. Errors (thrown): shuffle() was called,
  // as a stream has its own order; 0 batches.
  template <IsStream S>
  auto build(S stream, std::size_t batches_per_epoch) const {
    return build(std::make_shared<const S>(std::move(stream)), batches_per_epoch);
  }
  template <IsStream S>
  auto build(std::shared_ptr<S> shared, std::size_t batches_per_epoch) const {
    using Item = typename S::Item;
    using Batch = decltype(internal::make_batch(batcher_, std::vector<Item>{}));
    check_present(shared.get());
    const std::shared_ptr<const Stream<Item>> stream = std::move(shared);
    const auto open_with = [stream, size = options_.batch_size](const Batcher& batcher) {
      return [=](const std::string& position, std::size_t part, std::size_t parts) {
        auto batches = std::make_shared<StreamBatches<Item>>(stream, size, position);
        return [=](std::size_t batch) -> MadeBatch<Batch> {
          auto [items, after] = batches->read(batch);
          return {internal::make_batch(batcher, internal::part_of(std::move(items), part, parts)), std::move(after)};
        };
      };
    };
    typename DataLoader<Batch>::OpenOn open_on;
    if constexpr (internal::HasDevice<Batcher> || internal::MovesToDevice<Batcher>) {
      open_on = [batcher = batcher_, open_with](const Device& device) {
        return open_with(internal::on_device(batcher, device));
      };
    }
    return DataLoader<Batch>(open_with(batcher_), batches_per_epoch, options_, std::move(open_on));
  }

 private:
  template <typename Field, typename Value>
  DataLoaderBuilder& set(Field& field, Value value) {
    field = std::move(value);
    return *this;
  }

  Batcher batcher_;
  LoaderOptions options_;
};

}  // namespace burn::data

// Batches of a data set, made ahead by worker threads and handed out in order.
//
//   auto loader =
//   data::DataLoaderBuilder(MnistBatcher{device}).batch_size(64).shuffle(42).num_workers(2).build(dataset); for (const
//   MnistBatch& batch : loader) ...       // one pass is one epoch, the next loop is the next epoch
//
// A batcher is anything with `Batch batch(std::vector<Item>) const`, or a function of that form; the workers call it
// (and the data set) at the same time. The order of the items is a function of the shuffle's seed and the epoch,
// whatever the number of workers. What a worker throws comes out of the loop at the place of its batch. Leaving a loop
// early stops the workers.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "client/device.h"
#include "data/batch_plan.h"
#include "data/dataset.h"
#include "data/indices.h"
#include "data/prefetcher.h"

namespace burn::data {

// A pass under way. An input iterator that can be moved but not copied; belongs to one thread.
template <typename Batch>
class BatchIterator {
 public:
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;

  explicit BatchIterator(Prefetcher::Owner source) : source_(std::move(source)) { ++*this; }

  Batch& operator*() const { return *current_; }
  Batch* operator->() const { return current_.get(); }
  BatchIterator& operator++() {
    current_ = nullptr;  // before the next one comes: its memory may be needed
    current_ = std::static_pointer_cast<Batch>(source_->next());
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const BatchIterator& it, std::default_sentinel_t) { return it.current_ == nullptr; }

 private:
  Prefetcher::Owner source_;
  std::shared_ptr<Batch> current_;
};

// Cheap to copy; a copy shares the data set and the batcher, and counts its own epochs. Not thread-safe.
template <typename Batch>
class DataLoader {
 public:
  using value_type = Batch;
  using Make = std::function<Batch(std::span<const std::size_t> indices)>;
  using MakeOn = std::function<Make(const Device& device)>;  // of the same batches on another device

  DataLoader(Make make, std::size_t num_items, LoaderOptions options, MakeOn make_on = {})
      : make_(std::make_shared<const Make>(std::move(make))),
        make_on_(std::move(make_on)),
        options_(std::move(options)),
        end_(num_items) {
    check(options_);
  }

  std::size_t size() const { return data::num_batches(options_, end_ - begin_); }  // in batches
  std::size_t items_in(std::size_t batch) const {                                  // 0 from size() on
    const auto begin = std::min(batch * options_.batch_size, end_ - begin_);
    return batch < size() ? std::min(options_.batch_size, end_ - begin_ - begin) : 0;
  }
  std::size_t num_items() const { return options_.drop_last ? size() * options_.batch_size : end_ - begin_; }
  const LoaderOptions& options() const { return options_; }

  // The epoch that the next loop is, counted from 0: to resume a training at epoch k with the shuffles it would have
  // had.
  std::size_t epoch() const { return next_epoch_; }
  DataLoader& epoch(std::size_t next) {
    next_epoch_ = next;
    return *this;
  }

  BatchIterator<Batch> begin() { return start(next_epoch_++); }
  std::default_sentinel_t end() const { return {}; }

  // A pass of a chosen epoch, which leaves epoch() alone: its batches from `first` on, at most `limit` of them. The
  // others are not made, so a pass that goes on in the middle begins as fast as one at the start.
  static constexpr std::size_t kAllBatches = static_cast<std::size_t>(-1);
  BatchIterator<Batch> start(std::size_t epoch, std::size_t first = 0, std::size_t limit = kAllBatches) const {
    auto plan = std::make_shared<const BatchPlan>(options_, begin_, end_, epoch);
    const auto count = std::min(limit, plan->size() - std::min(first, plan->size()));
    auto make = [make = make_, plan, first, part = part_, parts = parts_](std::size_t batch) -> std::shared_ptr<void> {
      return std::make_shared<Batch>((*make)(part_of(plan->indices(first + batch), part, parts)));
    };
    const auto workers = options_.num_workers;
    return BatchIterator<Batch>(
        Prefetcher::Owner(new Prefetcher(count, workers, options_.prefetch.value_or(2 * workers), std::move(make),
                                         options_.hooks ? *options_.hooks : batch_hooks())));
  }

  // Loaders over the items [begin, end) and over equal parts of the data set, as for one device each.
  DataLoader slice(std::size_t begin, std::size_t end) const {
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

  // Loaders that make each batch of this one in parts, as many as there are devices, and each part on its device:
  // even_ranges() of the batch's items. One that has no item of a batch gets the batch's first, which is then in two
  // parts: items_in() tells where.
  // Errors (thrown): UNIMPLEMENTED for a batcher that has neither a member `device` nor to_device(const Device&).
  std::vector<DataLoader> parts_on(const std::vector<Device>& devices) const {
    if (!make_on_) {
      throw Error(StatusCode::unimplemented,
                  "data loader: its batcher makes batches on one device; give it a member `device`, or "
                  "`to_device(const Device&) const`, for those on others");
    }
    std::vector<DataLoader> loaders;
    for (std::size_t k = 0; k < devices.size(); ++k) {
      auto& loader = loaders.emplace_back(*this);
      loader.make_ = std::make_shared<const Make>(make_on_(devices[k]));
      loader.part_ = k;
      loader.parts_ = devices.size();
    }
    return loaders;
  }

 private:
  static std::span<const std::size_t> part_of(std::span<const std::size_t> indices, std::size_t part,
                                              std::size_t parts) {
    if (parts == 1) return indices;
    const auto [begin, end] = even_ranges(indices.size(), parts)[part];
    return begin == end ? indices.first(1) : indices.subspan(begin, end - begin);
  }

  std::shared_ptr<const Make> make_;
  MakeOn make_on_;
  LoaderOptions options_;
  std::size_t begin_ = 0, end_, next_epoch_ = 0;
  std::size_t part_ = 0, parts_ = 1;
};

namespace internal {
template <typename Batcher, typename Item>
auto make_batch(const Batcher& batcher, std::vector<Item> items) {
  if constexpr (requires { batcher.batch(std::move(items)); }) {
    return batcher.batch(std::move(items));
  } else {
    return batcher(std::move(items));
  }
}

template <typename Batcher>
concept HasDevice = requires(Batcher& batcher) {
  { batcher.device } -> std::same_as<Device&>;
};
template <typename Batcher>
concept MovesToDevice = requires(const Batcher& batcher, const Device& device) {
  { batcher.to_device(device) } -> std::same_as<Batcher>;
};

// The batcher of another device, with the tape where it had one.
template <typename Batcher>
Batcher on_device(Batcher batcher, const Device& device) {
  if constexpr (MovesToDevice<Batcher>) {
    return batcher.to_device(device);
  } else {
    batcher.device = batcher.device.is_autodiff() ? device.autodiff() : device.inner();
    return batcher;
  }
}
}  // namespace internal

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

  // The builder can build again: with other options, or over another data set.
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

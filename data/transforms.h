// Data sets made of other data sets: mapped items, other orders, parts, concatenations and windows.
//
// The item type is deduced from the source: ShuffledDataset(MnistDataset::train(folder), 42).
#pragma once

#include <algorithm>
#include <functional>
#include <string>

#include "data/dataset.h"
#include "data/indices.h"

namespace burn::data {

// Applies a function to every item, each time it is fetched. The function is called from several threads.
template <typename In, typename Out>
class MapperDataset : public Dataset<Out> {
 public:
  MapperDataset(AnyDataset<In> source, std::function<Out(In)> map) : source_(std::move(source)), map_(std::move(map)) {}

  Out get(std::size_t index) const override { return map_(source_.get(index)); }
  std::size_t len() const override { return source_.len(); }
  std::vector<Out> get_many(std::span<const std::size_t> indices) const override {
    std::vector<Out> items;
    items.reserve(indices.size());
    for (auto& item : source_.get_many(indices)) items.push_back(map_(std::move(item)));
    return items;
  }

 private:
  AnyDataset<In> source_;
  std::function<Out(In)> map_;
};
template <typename D, typename F>
MapperDataset(D, F) -> MapperDataset<ItemOf<D>, std::invoke_result_t<F, ItemOf<D>>>;

// The items at given indices, in that order; an index may occur more than once.
template <typename T>
class SelectionDataset : public Dataset<T> {
 public:
  // Errors: an index outside of the source.
  SelectionDataset(AnyDataset<T> source, std::vector<std::size_t> indices)
      : source_(std::move(source)), indices_(std::move(indices)) {
    check_indices(indices_, source_.len());
  }

  T get(std::size_t index) const override {
    check_index(index, indices_.size());
    return source_.get(indices_[index]);
  }
  std::size_t len() const override { return indices_.size(); }
  std::vector<T> get_many(std::span<const std::size_t> indices) const override {
    return source_.get_many(pick(indices_, indices));
  }

  std::span<const std::size_t> indices() const { return indices_; }

 private:
  AnyDataset<T> source_;
  std::vector<std::size_t> indices_;
};
template <typename D>
SelectionDataset(D, std::vector<std::size_t>) -> SelectionDataset<ItemOf<D>>;

// All items in an order that depends on the seed alone.
template <typename T>
class ShuffledDataset : public SelectionDataset<T> {
 public:
  ShuffledDataset(AnyDataset<T> source, std::uint64_t seed)
      : SelectionDataset<T>(source, shuffled_indices(source.len(), seed)) {}
};
template <typename D>
ShuffledDataset(D, std::uint64_t) -> ShuffledDataset<ItemOf<D>>;

// `size` items drawn at random: with replacement each independently; without it, in passes over the source, each in a
// new order. Errors: size > 0 and an empty source.
template <typename T>
class SamplerDataset : public SelectionDataset<T> {
 public:
  SamplerDataset(AnyDataset<T> source, std::size_t size, std::uint64_t seed,
                 Replacement replacement = Replacement::with)
      : SelectionDataset<T>(source, sampled_indices(source.len(), size, seed, replacement)) {}
};
template <typename D>
SamplerDataset(D, std::size_t, std::uint64_t, Replacement = Replacement::with) -> SamplerDataset<ItemOf<D>>;

// The items [begin, end).
template <typename T>
class PartialDataset : public Dataset<T> {
 public:
  // Errors: begin > end, or end beyond the source.
  PartialDataset(AnyDataset<T> source, std::size_t begin, std::size_t end)
      : source_(std::move(source)), begin_(begin), end_(end) {
    check_range(begin, end, source_.len());
  }

  // Divides the source into `parts` parts, in order, whose sizes differ by at most one.
  static std::vector<PartialDataset> split(AnyDataset<T> source, std::size_t parts) {
    std::vector<PartialDataset> result;
    for (const auto& [begin, end] : even_ranges(source.len(), parts)) result.emplace_back(source, begin, end);
    return result;
  }

  T get(std::size_t index) const override {
    check_index(index, len());
    return source_.get(begin_ + index);
  }
  std::size_t len() const override { return end_ - begin_; }
  std::vector<T> get_many(std::span<const std::size_t> indices) const override {
    return source_.get_many(pick_from_range(begin_, end_, indices));
  }

 private:
  AnyDataset<T> source_;
  std::size_t begin_, end_;
};
template <typename D>
PartialDataset(D, std::size_t, std::size_t) -> PartialDataset<ItemOf<D>>;

// The items of several data sets, one data set after the other.
template <typename T>
class ComposedDataset : public Dataset<T> {
 public:
  explicit ComposedDataset(std::vector<AnyDataset<T>> sources) : sources_(std::move(sources)) {
    for (const auto& source : sources_) ends_.push_back(len() + source.len());
  }

  T get(std::size_t index) const override {
    check_index(index, len());
    const auto at = source_of(index);
    return sources_[at].get(index - begin_of(at));
  }
  std::size_t len() const override { return ends_.empty() ? 0 : ends_.back(); }
  // Makes one call to each source that has some of the items.
  std::vector<T> get_many(std::span<const std::size_t> indices) const override {
    std::vector<std::vector<std::size_t>> wanted(sources_.size());
    for (const auto index : indices) {
      check_index(index, len());
      const auto at = source_of(index);
      wanted[at].push_back(index - begin_of(at));
    }
    std::vector<std::vector<T>> fetched(sources_.size());
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (!wanted[i].empty()) fetched[i] = sources_[i].get_many(wanted[i]);
    }
    std::vector<std::size_t> taken(sources_.size());
    std::vector<T> items;
    items.reserve(indices.size());
    for (const auto index : indices) {
      const auto at = source_of(index);
      items.push_back(std::move(fetched[at][taken[at]++]));
    }
    return items;
  }

 private:
  std::size_t source_of(std::size_t index) const {
    return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
  }
  std::size_t begin_of(std::size_t source) const { return source == 0 ? 0 : ends_[source - 1]; }

  std::vector<AnyDataset<T>> sources_;
  std::vector<std::size_t> ends_;
};

// Every run of `size` successive items: window i has the items i, ..., i + size - 1.
template <typename T>
class WindowsDataset : public Dataset<std::vector<T>> {
 public:
  // Errors: size 0.
  WindowsDataset(AnyDataset<T> source, std::size_t size) : source_(std::move(source)), size_(size) {
    check_window(size);
  }

  std::vector<T> get(std::size_t index) const override {
    check_index(index, len());
    return source_.get_many(range(index, index + size_));
  }
  std::size_t len() const override { return source_.len() < size_ ? 0 : source_.len() - size_ + 1; }
  std::vector<std::vector<T>> get_many(std::span<const std::size_t> indices) const override {
    auto items = source_.get_many(windows(indices, len(), size_));
    std::vector<std::vector<T>> result;
    result.reserve(indices.size());
    for (auto first = items.begin(); first != items.end(); first += static_cast<std::ptrdiff_t>(size_)) {
      const auto last = first + static_cast<std::ptrdiff_t>(size_);
      result.emplace_back(std::move_iterator(first), std::move_iterator(last));
    }
    return result;
  }

 private:
  AnyDataset<T> source_;
  std::size_t size_;
};
template <typename D>
WindowsDataset(D, std::size_t) -> WindowsDataset<ItemOf<D>>;

}  // namespace burn::data

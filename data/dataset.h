// Collections of items that are fetched by index.
//
// Data sets are immutable, and several threads (a loader's workers) call their const functions at once: an
// implementation with a cache must lock it. Code that uses a data set holds an AnyDataset, which shares it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace burn::data {

// Throws OUT_OF_RANGE "data set: item 12 of 10".
void check_index(std::size_t index, std::size_t size);
// Throws INTERNAL "data set: get_many gave 3 items for 4 indices".
void check_count(std::size_t given, std::size_t wanted);
// Throws INVALID_ARGUMENT if the pointer to a data set is null.
void check_present(const void* dataset);

template <typename T>
class Dataset {
 public:
  using Item = T;

  Dataset() = default;
  Dataset(const Dataset&) = default;
  Dataset& operator=(const Dataset&) = default;
  virtual ~Dataset() = default;

  // Errors: OUT_OF_RANGE for an index of len() or more; any error of reading the item.
  virtual Item get(std::size_t index) const = 0;
  virtual std::size_t len() const = 0;

  // Several items at once, in the order of `indices`. Override it if one query for many items is cheaper than many
  // queries: loaders request whole batches, and every data set made of others (data/transforms.h) passes one call on as
  // one call.
  virtual std::vector<Item> get_many(std::span<const std::size_t> indices) const {
    std::vector<Item> items;
    items.reserve(indices.size());
    for (const auto index : indices) items.push_back(get(index));
    return items;
  }

  bool is_empty() const { return len() == 0; }

  class Iterator {
   public:
    using value_type = Item;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const Dataset* dataset, std::size_t index) : dataset_(dataset), index_(index) {}
    Item operator*() const { return dataset_->get(index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) { return std::exchange(*this, Iterator(dataset_, index_ + 1)); }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Dataset* dataset_ = nullptr;
    std::size_t index_ = 0;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, len()}; }
};

namespace internal {
template <typename D>
struct ItemOf {
  using Type = typename D::Item;
};
template <typename D>
struct ItemOf<std::shared_ptr<D>> {
  using Type = typename D::Item;
};
}  // namespace internal

// The item type of a data set, of a shared pointer to one, or of an AnyDataset.
template <typename D>
using ItemOf = typename internal::ItemOf<std::remove_cvref_t<D>>::Type;

// Any data set with items of type T. Cheap to copy.
template <typename T>
class AnyDataset {
 public:
  using Item = T;

  // Owns a data set passed by value, shares one passed by pointer. Errors: a null pointer.
  template <typename D>
    requires std::is_base_of_v<Dataset<T>, D>
  AnyDataset(D dataset) : dataset_(std::make_shared<const D>(std::move(dataset))) {}  // NOLINT: implicit on purpose
  template <typename D>
    requires std::is_base_of_v<Dataset<T>, D>
  AnyDataset(std::shared_ptr<D> dataset) : dataset_(std::move(dataset)) {  // NOLINT: implicit on purpose
    check_present(dataset_.get());
  }

  Item get(std::size_t index) const { return dataset_->get(index); }
  std::size_t len() const { return dataset_->len(); }
  bool is_empty() const { return len() == 0; }
  // Errors: also a data set that returns more or fewer items than requested.
  std::vector<Item> get_many(std::span<const std::size_t> indices) const {
    auto items = dataset_->get_many(indices);
    check_count(items.size(), indices.size());
    return items;
  }

 private:
  std::shared_ptr<const Dataset<T>> dataset_;
};

// A data set that holds its items in memory.
template <typename T>
class InMemDataset : public Dataset<T> {
 public:
  explicit InMemDataset(std::vector<T> items) : items_(std::move(items)) {}

  // Fetches all items once, some thousands at a time.
  template <typename D>
  static InMemDataset from_dataset(const D& dataset) {
    constexpr std::size_t kAtOnce = 4096;
    std::vector<T> items;
    std::vector<std::size_t> indices;
    items.reserve(dataset.len());
    while (items.size() < dataset.len()) {
      indices.resize(std::min(kAtOnce, dataset.len() - items.size()));
      std::iota(indices.begin(), indices.end(), items.size());
      auto fetched = dataset.get_many(indices);
      check_count(fetched.size(), indices.size());
      std::move(fetched.begin(), fetched.end(), std::back_inserter(items));
    }
    return InMemDataset(std::move(items));
  }

  T get(std::size_t index) const override {
    check_index(index, items_.size());
    return items_[index];
  }
  std::size_t len() const override { return items_.size(); }

 private:
  std::vector<T> items_;
};

}  // namespace burn::data

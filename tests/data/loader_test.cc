#include "data/loader.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <thread>

#include <gmock/gmock.h>

#include "base/error.h"
#include "data/transforms.h"

namespace burn::data {
namespace {

using testing::ElementsAre;
using Batches = std::vector<std::vector<int>>;

static_assert(std::input_iterator<BatchIterator<int>>);

struct Gather {
  std::vector<int> batch(std::vector<int> items) const { return items; }
};

InMemDataset<int> numbers(int count) {
  std::vector<int> items;
  for (int i = 0; i < count; ++i) items.push_back(i);
  return InMemDataset(std::move(items));
}

Batches one_epoch(DataLoader<std::vector<int>>& loader) {
  Batches batches;
  for (const auto& batch : loader) batches.push_back(batch);
  return batches;
}

std::vector<int> flat(const Batches& batches) {
  std::vector<int> all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

TEST(DataLoader, BatchesInOrder) {
  auto loader = DataLoaderBuilder(Gather{}).batch_size(4).build(numbers(10));
  EXPECT_EQ(loader.size(), 3u);
  EXPECT_EQ(loader.num_items(), 10u);
  EXPECT_EQ(one_epoch(loader), (Batches{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
}

TEST(DataLoader, DropsAnIncompleteBatchWhenAsked) {
  auto loader = DataLoaderBuilder(Gather{}).batch_size(4).drop_last().build(numbers(10));
  EXPECT_EQ(loader.size(), 2u);
  EXPECT_EQ(loader.num_items(), 8u);
  EXPECT_EQ(one_epoch(loader), (Batches{{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

TEST(DataLoader, TakesAFunctionForABatcher) {
  auto loader = DataLoaderBuilder([](std::vector<int> items) { return items.size(); }).batch_size(4).build(numbers(5));
  std::vector<std::size_t> sizes;
  for (const auto size : loader) sizes.push_back(size);
  EXPECT_THAT(sizes, ElementsAre(4, 1));
}

TEST(DataLoader, IsEmptyForNoItems) {
  auto loader = DataLoaderBuilder(Gather{}).batch_size(4).num_workers(2).build(numbers(0));
  EXPECT_EQ(loader.size(), 0u);
  EXPECT_TRUE(one_epoch(loader).empty());
}

TEST(DataLoader, OrderDoesNotDependOnTheWorkers) {
  std::vector<Batches> seen;
  for (const std::size_t workers : {0, 1, 2, 7}) {
    auto loader = DataLoaderBuilder(Gather{}).batch_size(3).shuffle(42).num_workers(workers).build(numbers(50));
    Batches batches = one_epoch(loader);
    const Batches second = one_epoch(loader);
    EXPECT_NE(batches, second);
    batches.insert(batches.end(), second.begin(), second.end());
    seen.push_back(batches);
  }
  for (const auto& batches : seen) EXPECT_EQ(batches, seen.front());
  auto all = flat(seen.front());
  std::sort(all.begin(), all.end());
  for (int i = 0; i < 100; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], i / 2);
}

TEST(DataLoader, ResumesAtAnEpoch) {
  auto builder = DataLoaderBuilder(Gather{}).batch_size(5).shuffle(1).num_workers(2);
  auto through = builder.build(numbers(20));
  (void)one_epoch(through);
  (void)one_epoch(through);
  const Batches third = one_epoch(through);
  EXPECT_EQ(through.epoch(), 3u);
  auto resumed = builder.build(numbers(20));
  EXPECT_EQ(one_epoch(resumed.epoch(2)), third);
  EXPECT_EQ(*resumed.start(2), third.front());
}

TEST(DataLoader, SplitsIntoLoadersOverTheParts) {
  auto loader = DataLoaderBuilder(Gather{}).batch_size(2).shuffle(3).num_workers(1).build(numbers(7));
  auto parts = loader.split(2);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_THAT(flat(one_epoch(parts[0])), testing::UnorderedElementsAre(0, 1, 2, 3));
  EXPECT_THAT(flat(one_epoch(parts[1])), testing::UnorderedElementsAre(4, 5, 6));
  auto inner = parts[1].slice(1, 2);
  EXPECT_THAT(flat(one_epoch(inner)), ElementsAre(5));
  EXPECT_THROW((void)parts[1].slice(0, 4), Error);
}

TEST(DataLoader, ThrowsWhatAWorkerThrewAtItsPlace) {
  const MapperDataset dataset(numbers(20), [](int i) {
    if (i == 13) throw Error(StatusCode::data_loss, "item 13 is broken");
    return i;
  });
  auto loader = DataLoaderBuilder(Gather{}).batch_size(2).num_workers(3).build(dataset);
  Batches before;
  try {
    for (const auto& batch : loader) before.push_back(batch);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "item 13 is broken");
  }
  EXPECT_EQ(before.size(), 6u);
}

TEST(DataLoader, StopsWhenTheLoopIsLeft) {
  auto loader = DataLoaderBuilder(Gather{}).batch_size(1).num_workers(4).prefetch(8).build(numbers(100000));
  for (int round = 0; round < 20; ++round) {
    for (const auto& batch : loader) {
      if (batch[0] == round) break;
    }
  }
  EXPECT_EQ(loader.epoch(), 20u);
}

TEST(DataLoader, TwoPassesAtOnceDoNotDisturbEachOther) {
  const auto loader = DataLoaderBuilder(Gather{}).batch_size(2).shuffle(9).num_workers(2).build(numbers(40));
  std::vector<Batches> seen(3);
  std::vector<std::thread> threads;
  for (auto& batches : seen) {
    threads.emplace_back([&] {
      for (auto it = loader.start(0); it != std::default_sentinel; ++it) batches.push_back(*it);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

TEST(DataLoader, RefusesABatchSizeOfZero) {
  EXPECT_THROW((void)DataLoaderBuilder(Gather{}).batch_size(0).build(numbers(1)), Error);
}

TEST(DataLoader, UsesTheGlobalHooksUnlessItHasItsOwn) {
  std::atomic<int> global{0}, own{0};
  const auto count = [](std::atomic<int>& number) {
    return [&number]() -> std::shared_ptr<void> {
      ++number;
      return nullptr;
    };
  };
  set_batch_hooks({.scope = count(global)});
  auto loader = DataLoaderBuilder(Gather{}).num_workers(1).build(numbers(3));
  (void)one_epoch(loader);
  auto with_own = DataLoaderBuilder(Gather{}).num_workers(1).hooks({.scope = count(own)}).build(numbers(5));
  (void)one_epoch(with_own);
  set_batch_hooks({});
  (void)one_epoch(loader);
  EXPECT_EQ(global, 3);
  EXPECT_EQ(own, 5);
}

}  // namespace
}  // namespace burn::data

// Loaders of streams: the batches do not depend on the number of workers, nor on whether they start at a position.
#include "data/stream.h"

#include <atomic>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/loader.h"
#include "tests/support/error_of.h"

namespace burn::data {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The numbers 0, 1, ..., plus a hundred in each later pass; its position is the next number.
struct Numbers : Stream<int> {
  int count;
  std::shared_ptr<std::atomic<int>> opened = std::make_shared<std::atomic<int>>(0);
  int fails_at = -1;
  explicit Numbers(int size, int fails = -1) : count(size), fails_at(fails) {}

  struct Reader : StreamReader<int> {
    const Numbers* numbers;
    int next_one, pass;
    Reader(const Numbers& of, int first, int of_pass) : numbers(&of), next_one(first), pass(of_pass) {}
    std::optional<int> next() override {
      if (next_one == numbers->count) return std::nullopt;
      if (next_one == numbers->fails_at) throw Error(StatusCode::data_loss, "number 7 is torn");
      return next_one++ + 100 * pass;
    }
    std::string position() const override { return std::to_string(next_one); }
  };
  std::unique_ptr<StreamReader<int>> open(std::size_t pass, const std::string& position) const override {
    ++*opened;
    return std::make_unique<Reader>(*this, position.empty() ? 0 : std::stoi(position), static_cast<int>(pass));
  }
};

using Ints = std::vector<int>;
const auto kAsTheyAre = [](Ints items) { return items; };

DataLoader<Ints> loader_of(const Numbers& numbers, std::size_t batches, std::size_t workers = 0) {
  return DataLoaderBuilder(kAsTheyAre).batch_size(4).num_workers(workers).build(numbers, batches);
}

std::vector<Ints> all_of(DataLoader<Ints>& loader) {
  std::vector<Ints> batches;
  for (const auto& batch : loader) batches.push_back(batch);
  return batches;
}

TEST(Streams, GoOnInTheNextEpochAndBeginAgainAfterTheirLastItem) {
  for (const std::size_t workers : {0, 1, 4}) {
    auto loader = loader_of(Numbers{10}, 2, workers);
    EXPECT_EQ(loader.size(), 2U);
    EXPECT_EQ(loader.num_items(), 8U);
    EXPECT_EQ(all_of(loader), (std::vector<Ints>{{0, 1, 2, 3}, {4, 5, 6, 7}}));
    EXPECT_EQ(all_of(loader), (std::vector<Ints>{{8, 9, 100, 101}, {102, 103, 104, 105}}));
  }
}

TEST(Streams, AreReadInOrderByManyWorkers) {
  auto loader = loader_of(Numbers{4000}, 1000, 8);
  int expected = 0;
  for (const auto& batch : loader) {
    for (const int number : batch) ASSERT_EQ(number, expected++);
  }
  EXPECT_EQ(expected, 4000);
}

TEST(Streams, GoOnAfterTheLastBatchThatWasTakenNotTheLastThatWasMade) {
  for (const std::size_t workers : {0, 3}) {
    auto loader = loader_of(Numbers{100}, 20, workers);
    for (const auto& batch : loader) {
      if (batch.front() == 8) break;
    }
    EXPECT_EQ(loader.position(), "0:12");
    EXPECT_EQ(all_of(loader).front(), (Ints{12, 13, 14, 15}));
  }
}

TEST(Streams, GoOnAtAPositionInAnotherLoader) {
  auto first = loader_of(Numbers{10}, 7);
  const auto whole = all_of(first);
  for (std::size_t taken = 0; taken < 6; ++taken) {
    auto one = loader_of(Numbers{10}, 7, 2);
    auto iterator = one.begin();
    for (std::size_t i = 0; i < taken; ++i) ++iterator;
    auto other = loader_of(Numbers{10}, 7, 3).position(iterator.position());
    EXPECT_EQ(all_of(other).front(), whole[taken + 1]) << taken;
  }
}

TEST(Streams, AreNotReadUpToAPosition) {
  const Numbers numbers{1 << 30};
  const auto loader = loader_of(numbers, 1'000'000);
  auto iterator = loader.start(0, 999'998, DataLoader<Ints>::kAllBatches, "3:1000000000");
  EXPECT_EQ(iterator->front(), 1'000'000'300);
  EXPECT_EQ(*numbers.opened, 1);
  EXPECT_NE(++iterator, std::default_sentinel);
  EXPECT_EQ(++iterator, std::default_sentinel);  // the end of a million batches
}

TEST(Streams, HavePositionsThatACopyOfALoaderDoesNotShare) {
  auto loader = loader_of(Numbers{100}, 2);
  auto copy = loader;
  (void)all_of(loader);
  EXPECT_EQ(loader.position(), "0:8");
  EXPECT_EQ(copy.position(), "");
  EXPECT_EQ(all_of(copy).front(), (Ints{0, 1, 2, 3}));
}

TEST(Streams, TellWhatTheirReaderThrowsAtThePlaceOfItsBatch) {
  for (const std::size_t workers : {0, 4}) {
    auto loader = loader_of(Numbers{100, 7}, 5, workers);
    std::size_t taken = 0;
    EXPECT_THAT(test::error_of([&] {
                  for (const auto& batch : loader) taken += batch.size();
                }),
                HasSubstr("number 7 is torn"));
    EXPECT_EQ(taken, 4U);
    EXPECT_EQ(loader.position(), "0:4");
  }
}

TEST(Streams, WithoutItemsAreErrors) {
  auto loader = loader_of(Numbers{0}, 1);
  EXPECT_THAT(test::error_of([&] { (void)all_of(loader); }), HasSubstr("pass 0 of the stream has no item"));
  auto at_end = loader_of(Numbers{8}, 1).position("0:8");
  EXPECT_EQ(all_of(at_end).front(), (Ints{100, 101, 102, 103}));
}

TEST(Streams, RefuseWhatOnlyADataSetHas) {
  auto builder = DataLoaderBuilder(kAsTheyAre).batch_size(4);
  EXPECT_THAT(test::error_of([&] { (void)builder.build(Numbers{8}, 0); }), HasSubstr("an epoch of 0 batches"));
  EXPECT_THAT(test::error_of([&] { (void)builder.build(Numbers{8}, 2).split(2); }),
              HasSubstr("a stream cannot be sliced or split"));
  EXPECT_THAT(test::error_of([&] { (void)builder.shuffle(1).build(Numbers{8}, 2); }),
              AllOf(HasSubstr("shuffle() needs a data set"), HasSubstr("Stream::open")));
}

TEST(StreamPositions, AreTextsThatAreReadBack) {
  for (const auto* text : {"0:1", "12:a:b", "3:"}) EXPECT_EQ(StreamPosition::parse(text).text(), text);
  EXPECT_EQ(StreamPosition::parse("").pass, 0U);
  for (const auto* text : {"1", ":1", "x:1", "-1:3", "99999999999999999999999:1"}) {
    EXPECT_THAT(test::error_of([&] { (void)StreamPosition::parse(text); }),
                AllOf(HasSubstr("is no position of a stream"), HasSubstr(text)));
  }
}

}  // namespace
}  // namespace burn::data

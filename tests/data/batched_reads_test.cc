// A batched read stays a single read: every data set that wraps others forwards get_many() as get_many().
#include <memory>

#include <gmock/gmock.h>

#include "base/error.h"
#include "data/loader.h"
#include "data/transforms.h"

namespace burn::data {
namespace {

using testing::ElementsAre;

// The numbers 0, 10, 20, ...; counts its calls. Simulates a database, where each query costs a round trip.
struct Counted : Dataset<int> {
  explicit Counted(std::size_t count) : count(count) {}

  int get(std::size_t index) const override {
    ++single;
    return item(index);
  }
  std::size_t len() const override { return count; }
  std::vector<int> get_many(std::span<const std::size_t> indices) const override {
    ++many;
    std::vector<int> items;
    for (const auto index : indices) items.push_back(item(index));
    return items;
  }
  int item(std::size_t index) const {
    check_index(index, count);
    return static_cast<int>(index) * 10;
  }

  const std::size_t count;
  mutable int single = 0, many = 0;
};

using Indices = std::vector<std::size_t>;

// The result of get_many(), which must equal the items that get() returns one by one.
template <typename D>
auto ask(const D& dataset, const Indices& indices) {
  std::vector<typename D::Item> expected;
  for (const auto index : indices) expected.push_back(dataset.get(index));
  auto items = dataset.get_many(indices);
  EXPECT_EQ(items, expected);
  return items;
}

class BatchedReads : public ::testing::Test {
 protected:
  std::shared_ptr<Counted> source = std::make_shared<Counted>(10);

  // Expects one call of get_many() for all indices, and none of get().
  template <typename D>
  void expect_one_call(const D& dataset, const Indices& indices) {
    (void)ask(dataset, indices);
    source->single = source->many = 0;
    (void)dataset.get_many(indices);
    EXPECT_EQ(source->many, 1);
    EXPECT_EQ(source->single, 0);
  }
  template <typename D>
  void expect_out_of_range(const D& dataset) {
    try {
      (void)dataset.get_many(Indices{0, dataset.len()});
      ADD_FAILURE() << "nothing thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), StatusCode::out_of_range) << error.what();
    }
  }
};

TEST_F(BatchedReads, PassThroughEveryWrapper) {
  expect_one_call(MapperDataset(source, [](int i) { return i + 0.5; }), {3, 0, 3});
  expect_one_call(SelectionDataset(source, Indices{4, 0, 4}), {2, 1});
  expect_one_call(ShuffledDataset(source, 1), {0, 9, 5});
  expect_one_call(SamplerDataset(source, 30, 1), {0, 29, 5});
  expect_one_call(PartialDataset(source, 2, 7), {4, 0, 0});
  expect_one_call(PartialDataset<int>::split(source, 3)[1], {2, 0});
  expect_one_call(WindowsDataset(source, 3), {7, 0, 1});
  expect_one_call(ComposedDataset<int>({source}), {1, 9});
  expect_one_call(AnyDataset<int>(source), {1, 9});
}

TEST_F(BatchedReads, PassThroughWrappersOfWrappers) {
  const ShuffledDataset shuffled(MapperDataset(PartialDataset(source, 1, 9), [](int i) { return i * i; }), 3);
  expect_one_call(WindowsDataset(ComposedDataset<int>({shuffled, shuffled}), 2), {3, 4});
}

TEST_F(BatchedReads, AskEachJoinedSourceOnceAndKeepTheOrder) {
  const auto other = std::make_shared<Counted>(3);
  const ComposedDataset<int> joined({source, std::make_shared<Counted>(0), other});
  EXPECT_THAT(ask(joined, {12, 0, 10, 9, 0, 12}), ElementsAre(20, 0, 0, 90, 0, 20));
  source->many = other->many = 0;
  (void)joined.get_many(Indices{12, 0, 10, 9});
  EXPECT_EQ(source->many, 1);
  EXPECT_EQ(other->many, 1);
  (void)joined.get_many(Indices{11});
  EXPECT_EQ(source->many, 1);  // the first source has none of the indices
}

TEST_F(BatchedReads, OfWindowsAreTheWindows) {
  EXPECT_THAT(ask(WindowsDataset(source, 2), {8, 0}), ElementsAre(ElementsAre(80, 90), ElementsAre(0, 10)));
}

TEST_F(BatchedReads, OfNothingAreNothing) {
  EXPECT_TRUE(PartialDataset(source, 4, 4).get_many(Indices{}).empty());
  EXPECT_TRUE(ComposedDataset<int>({}).get_many(Indices{}).empty());
  EXPECT_TRUE(WindowsDataset(source, 11).get_many(Indices{}).empty());
  EXPECT_TRUE(ShuffledDataset(std::make_shared<Counted>(0), 1).get_many(Indices{}).empty());
}

TEST_F(BatchedReads, OutsideOfTheWrapperAreRefusedAlsoWhereTheSourceHasMore) {
  expect_out_of_range(PartialDataset(source, 2, 5));
  expect_out_of_range(SelectionDataset(source, Indices{1}));
  expect_out_of_range(ShuffledDataset(source, 1));
  expect_out_of_range(SamplerDataset(source, 5, 1));
  expect_out_of_range(WindowsDataset(source, 3));
  expect_out_of_range(ComposedDataset<int>({source, source}));
  expect_out_of_range(MapperDataset(source, [](int i) { return i; }));
}

TEST_F(BatchedReads, OfALoaderAreOneForEachBatchTheIncompleteOneIncluded) {
  auto loader = DataLoaderBuilder([](std::vector<int> items) { return items.size(); })
                    .batch_size(4)
                    .shuffle(1)
                    .build(PartialDataset(source, 0, 9));
  std::vector<std::size_t> sizes;
  for (const auto size : loader) sizes.push_back(size);
  EXPECT_THAT(sizes, ElementsAre(4, 4, 1));
  EXPECT_EQ(source->many, 3);
  EXPECT_EQ(source->single, 0);
}

TEST_F(BatchedReads, FillTheMemory) {
  const auto many = std::make_shared<Counted>(10000);
  const auto copy = InMemDataset<int>::from_dataset(MapperDataset(many, [](int i) { return i + 1; }));
  ASSERT_EQ(copy.len(), 10000u);
  EXPECT_EQ(copy.get(9999), 99991);
  EXPECT_EQ(many->single, 0);
  EXPECT_LE(many->many, 3);
}

TEST_F(BatchedReads, ThatGiveTheWrongNumberAreAnError) {
  struct Short : Counted {
    using Counted::Counted;
    std::vector<int> get_many(std::span<const std::size_t>) const override { return {1}; }
  };
  try {
    (void)PartialDataset(Short{10}, 0, 5).get_many(Indices{1, 2});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "data set: get_many gave 1 items for 2 indices");
  }
}

TEST_F(BatchedReads, NeedADataSet) { EXPECT_THROW(AnyDataset<int>(std::shared_ptr<Counted>()), Error); }

}  // namespace
}  // namespace burn::data

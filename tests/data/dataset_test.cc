#include "data/dataset.h"

#include <functional>
#include <string>

#include <gmock/gmock.h>

#include "base/error.h"
#include "data/transforms.h"

namespace burn::data {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

template <typename D>
auto all(const D& dataset) {
  return std::vector<typename D::Item>(dataset.begin(), dataset.end());
}

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

InMemDataset<int> numbers(int count) {
  std::vector<int> items;
  for (int i = 0; i < count; ++i) items.push_back(i);
  return InMemDataset(std::move(items));
}

TEST(Dataset, IteratesAndFetchesMany) {
  const auto dataset = numbers(4);
  EXPECT_THAT(all(dataset), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(dataset.get_many(std::vector<std::size_t>{3, 0, 3}), ElementsAre(3, 0, 3));
  EXPECT_FALSE(dataset.is_empty());
  EXPECT_EQ(message_of([&] { (void)dataset.get(4); }), "data set: item 4 of 4");
}

TEST(Dataset, IsSharedByPointerOrTakenByValue) {
  const auto shared = std::make_shared<InMemDataset<int>>(numbers(3));
  EXPECT_THAT(all(PartialDataset(shared, 1, 3)), ElementsAre(1, 2));
  EXPECT_THAT(all(PartialDataset(numbers(3), 1, 3)), ElementsAre(1, 2));
  EXPECT_THAT(all(PartialDataset(AnyDataset<int>(shared), 1, 3)), ElementsAre(1, 2));
}

TEST(Transforms, Map) {
  const MapperDataset words(numbers(3), [](int i) { return std::string(static_cast<std::size_t>(i), 'x'); });
  EXPECT_THAT(all(words), ElementsAre("", "x", "xx"));
  EXPECT_THAT(words.get_many(std::vector<std::size_t>{2, 1}), ElementsAre("xx", "x"));
}

TEST(Transforms, Select) {
  const SelectionDataset selection(numbers(5), {4, 0, 4});
  EXPECT_THAT(all(selection), ElementsAre(4, 0, 4));
  EXPECT_THAT(selection.get_many(std::vector<std::size_t>{1, 2}), ElementsAre(0, 4));
  EXPECT_EQ(message_of([&] { (void)selection.get(3); }), "data set: item 3 of 3");
  EXPECT_EQ(message_of([] { SelectionDataset(numbers(5), {0, 5}); }), "data set: selection 1 asks for item 5 of 5");
}

TEST(Transforms, ShuffleBySeed) {
  const auto a = all(ShuffledDataset(numbers(100), 1));
  EXPECT_EQ(a, all(ShuffledDataset(numbers(100), 1)));
  EXPECT_NE(a, all(ShuffledDataset(numbers(100), 2)));
  EXPECT_THAT(a, testing::UnorderedElementsAreArray(all(numbers(100))));
}

TEST(Transforms, SampleWithAndWithoutReplacement) {
  const auto with = all(SamplerDataset(numbers(10), 1000, 1));
  EXPECT_EQ(with.size(), 1000u);
  for (int i = 0; i < 10; ++i) EXPECT_NEAR(std::ranges::count(with, i), 100, 50);

  const auto without = all(SamplerDataset(numbers(4), 10, 1, Replacement::without));
  ASSERT_EQ(without.size(), 10u);
  EXPECT_THAT(std::vector(without.begin(), without.begin() + 4), UnorderedElementsAre(0, 1, 2, 3));
  EXPECT_THAT(std::vector(without.begin() + 4, without.begin() + 8), UnorderedElementsAre(0, 1, 2, 3));
  EXPECT_EQ(message_of([] { SamplerDataset(numbers(0), 2, 1); }),
            "data set: 2 items cannot be drawn from an empty one");
}

TEST(Transforms, TakeParts) {
  const auto parts = PartialDataset<int>::split(numbers(7), 3);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_THAT(all(parts[0]), ElementsAre(0, 1, 2));
  EXPECT_THAT(all(parts[1]), ElementsAre(3, 4));
  EXPECT_THAT(all(parts[2]), ElementsAre(5, 6));
  EXPECT_EQ(message_of([&] { (void)parts[1].get(2); }), "data set: item 2 of 2");
  EXPECT_EQ(message_of([] { PartialDataset(numbers(7), 3, 8); }), "data set: no items 3 to 8 among 7");
  EXPECT_EQ(message_of([] { (void)PartialDataset<int>::split(numbers(7), 0); }),
            "data set: cannot be split into 0 parts");
}

TEST(Transforms, Join) {
  const ComposedDataset<int> joined({numbers(2), numbers(0), numbers(3)});
  EXPECT_THAT(all(joined), ElementsAre(0, 1, 0, 1, 2));
  EXPECT_THROW((void)joined.get(5), Error);
  EXPECT_TRUE(ComposedDataset<int>({}).is_empty());
}

TEST(Transforms, Window) {
  const WindowsDataset windows(numbers(5), 3);
  ASSERT_EQ(windows.len(), 3u);
  EXPECT_THAT(windows.get(2), ElementsAre(2, 3, 4));
  EXPECT_THROW((void)windows.get(3), Error);
  EXPECT_EQ(WindowsDataset(numbers(2), 3).len(), 0u);
  EXPECT_EQ(message_of([] { WindowsDataset(numbers(2), 0); }), "data set: windows of 0 items");
}

TEST(Transforms, Nest) {
  const ShuffledDataset nested(MapperDataset(PartialDataset(numbers(10), 2, 6), [](int i) { return i * i; }), 1);
  EXPECT_THAT(all(nested), UnorderedElementsAre(4, 9, 16, 25));
}

}  // namespace
}  // namespace burn::data

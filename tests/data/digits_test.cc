#include "data/digits.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "base/error.h"

namespace burn::data {
namespace {

// FNV-1a over images and labels.
std::uint64_t hash_of(const DigitsDataset& digits) {
  std::uint64_t hash = 14695981039346656037u;
  const auto add = [&](std::uint8_t byte) { hash = (hash ^ byte) * 1099511628211u; };
  for (const auto& item : digits) {
    for (const auto pixel : item.image) add(pixel);
    add(item.label);
  }
  return hash;
}

TEST(Digits, AreTheSameOnEveryPlatform) { EXPECT_EQ(hash_of(DigitsDataset(200, 42)), 16811890531620973796u); }

TEST(Digits, DependOnSeedAndIndexAlone) {
  const DigitsDataset few(10, 1), many(1000, 1), other(10, 2);
  EXPECT_EQ(few.get(7).image, many.get(7).image);
  EXPECT_EQ(few.get(7).label, many.get(7).label);
  EXPECT_NE(few.get(7).image, other.get(7).image);
  EXPECT_THROW((void)few.get(10), Error);
}

TEST(Digits, AreBalancedAndMixed) {
  const DigitsDataset digits(1000, 3);
  std::vector<int> histogram(10);
  int in_order = 0;
  for (std::size_t i = 0; i < digits.len(); ++i) {
    const auto label = digits.get(i).label;
    ++histogram[label];
    in_order += label == i % 10;
  }
  EXPECT_THAT(histogram, testing::Each(100));
  EXPECT_LT(in_order, 200);
}

TEST(Digits, LookLikeMnist) {
  for (const auto& item : DigitsDataset(500, 4)) {
    const auto brightest = *std::ranges::max_element(item.image);
    const auto inked = std::ranges::count_if(item.image, [](std::uint8_t pixel) { return pixel > 0; });
    EXPECT_GT(brightest, 100);
    EXPECT_GT(inked, 20);
    EXPECT_LT(inked, 350);
    EXPECT_EQ(item.image[0] + item.image[27] + item.image[27 * 28] + item.image[27 * 28 + 27], 0);  // the corners
  }
}

// The nearest of 2,000 neighbours mostly has the right label, so the labels fit the images, and the digits can be told
// apart.
TEST(Digits, CanBeLearned) {
  const auto known = InMemDataset<MnistItem>::from_dataset(DigitsDataset(2000, 5));
  int right = 0;
  for (const auto& item : DigitsDataset(100, 6)) {
    long best = -1;
    std::uint8_t label = 0;
    for (std::size_t i = 0; i < known.len(); ++i) {
      const auto candidate = known.get(i);
      long distance = 0;
      for (std::size_t p = 0; p < item.image.size(); ++p) {
        const int difference = item.image[p] - candidate.image[p];
        distance += difference * difference;
      }
      if (best < 0 || distance < best) best = distance, label = candidate.label;
    }
    right += label == item.label;
  }
  EXPECT_GE(right, 80);
}

}  // namespace
}  // namespace burn::data

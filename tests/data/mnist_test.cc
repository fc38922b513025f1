#include "data/mnist.h"

#include <cstdlib>
#include <functional>

#include <gmock/gmock.h>

#include "base/error.h"
#include "data/digits.h"
#include "tests/data/idx_files.h"
#include "tests/support/temp_folder.h"

namespace burn::data {
namespace {

namespace fs = std::filesystem;
using test::gzip;
using test::idx_file;
using test::idx_header;
using test::TempFolder;
using testing::ElementsAre;

constexpr const char* kTrainImages = "train-images-idx3-ubyte";
constexpr const char* kTrainLabels = "train-labels-idx1-ubyte";
constexpr const char* kTestImages = "t10k-images-idx3-ubyte";
constexpr const char* kTestLabels = "t10k-labels-idx1-ubyte";

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

// Synthetic digits as MNIST files.
std::pair<std::string, std::string> files_of(const DigitsDataset& digits) {
  const auto count = static_cast<std::uint32_t>(digits.len());
  std::string images = idx_header(8, {count, 28, 28}), labels = idx_header(8, {count});
  for (const auto& item : digits) {
    images.append(item.image.begin(), item.image.end());
    labels += static_cast<char>(item.label);
  }
  return {images, labels};
}

TEST(Mnist, ReadsBothSetsCompressedOrNot) {
  const TempFolder folder;
  const DigitsDataset train(50, 1), test(20, 2);
  const auto [train_images, train_labels] = files_of(train);
  const auto [test_images, test_labels] = files_of(test);
  folder.write(std::string(kTrainImages) + ".gz", gzip(train_images));
  folder.write(kTrainLabels, train_labels);
  folder.write(kTestImages, test_images);
  folder.write(std::string(kTestLabels) + ".gz", gzip(test_labels));

  const auto read_train = MnistDataset::train(folder.path()), read_test = MnistDataset::test(folder.path());
  ASSERT_EQ(read_train.len(), 50u);
  ASSERT_EQ(read_test.len(), 20u);
  EXPECT_EQ(read_train.get(49).image, train.get(49).image);
  EXPECT_EQ(read_test.get(0).label, test.get(0).label);
  EXPECT_THROW((void)read_test.get(20), Error);
}

TEST(Mnist, CutsTheTestFilesWhereThereAreNoOthers) {
  const TempFolder folder;
  const DigitsDataset digits(101, 3);
  const auto [images, labels] = files_of(digits);
  folder.write(kTestImages, images);
  folder.write(kTestLabels, labels);
  const auto train = MnistDataset::train(folder.path()), test = MnistDataset::test(folder.path());
  ASSERT_EQ(train.len(), 80u);
  ASSERT_EQ(test.len(), 21u);
  EXPECT_EQ(train.get(79).image, digits.get(79).image);
  EXPECT_EQ(test.get(0).image, digits.get(80).image);
}

TEST(Mnist, SaysThatItCutsAndGivesAllIfAsked) {
  const TempFolder folder;
  const auto [images, labels] = files_of(DigitsDataset(10, 3));
  const auto path = folder.write(kTestImages, images);
  folder.write(kTestLabels, labels);
  testing::internal::CaptureStderr();
  const auto test = MnistDataset::test(folder.path()), train = MnistDataset::train(folder.path());
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "burn: MNIST: " + folder.path().native() +
          " has no training files, so its 10 test images are cut: the first 8 are the training set, the other 2 the "
          "test set (MnistDataset::whole_test gives all)\n");
  EXPECT_TRUE(test.is_cut());
  EXPECT_EQ(test.describe(), "images 8 to 9 of the 10 in " + path.native());
  EXPECT_EQ(train.describe(), "images 0 to 7 of the 10 in " + path.native());

  testing::internal::CaptureStderr();
  const auto whole = MnistDataset::whole_test(folder.path());
  EXPECT_EQ(whole.len(), 10u);
  EXPECT_FALSE(whole.is_cut());
  EXPECT_EQ(whole.describe(), "all 10 images in " + path.native());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Mnist, IsWholeAndSilentWhereTheTrainingFilesAre) {
  const TempFolder folder;
  const auto [images, labels] = files_of(DigitsDataset(10, 3));
  for (const auto* name : {kTrainImages, kTestImages}) folder.write(name, images);
  for (const auto* name : {kTrainLabels, kTestLabels}) folder.write(name, labels);
  testing::internal::CaptureStderr();
  EXPECT_EQ(MnistDataset::test(folder.path()).len(), 10u);
  EXPECT_FALSE(MnistDataset::train(folder.path()).is_cut());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Mnist, NamesWhatIsMissing) {
  const TempFolder folder;
  const auto here = folder.path().native();
  EXPECT_EQ(message_of([&] { MnistDataset::train(folder / "none"); }), "MNIST: there is no folder " + here + "/none");
  EXPECT_EQ(message_of([&] { MnistDataset::train(folder.path()); }),
            "MNIST: there is neither train-images-idx3-ubyte nor train-images-idx3-ubyte.gz in " + here);
  folder.write(kTestImages, idx_file({1, 28, 28}));
  EXPECT_EQ(message_of([&] { MnistDataset::test(folder.path()); }),
            "MNIST: there is neither t10k-labels-idx1-ubyte nor t10k-labels-idx1-ubyte.gz in " + here);
}

TEST(Mnist, NamesTheNumbersThatDisagree) {
  const TempFolder folder;
  const auto images = folder.write(kTestImages, idx_file({3, 28, 28}));
  const auto labels = folder.write(kTestLabels, idx_file({4}));
  EXPECT_EQ(message_of([&] { MnistDataset::test(folder.path()); }),
            images.native() + " has 3 images, but " + labels.native() + " has 4 labels");
  folder.write(kTestImages, idx_file({4, 28, 27}));
  EXPECT_EQ(message_of([&] { MnistDataset::test(folder.path()); }),
            images.native() + ": the images are 28x27, not 28x28");
  folder.write(kTestImages, idx_file({12, 28, 28}));
  folder.write(kTestLabels, idx_file({12}));
  EXPECT_EQ(message_of([&] { MnistDataset::test(folder.path()); }), labels.native() + ": label 10 is 10, not a digit");
  folder.write(kTestLabels, gzip(idx_file({12})).substr(0, 20));
  EXPECT_EQ(message_of([&] { MnistDataset::test(folder.path()); }).substr(0, labels.native().size()), labels.native());
}

// The real images, if they are in mnist10k/ of BURN_DATA_DIR (or of ../shared/data).
TEST(Mnist, ReadsTheRealTestSet) {
  const char* variable = std::getenv("BURN_DATA_DIR");
  const fs::path folder = fs::path(variable != nullptr ? variable : "../shared/data") / "mnist10k";
  if (!fs::exists(folder)) GTEST_SKIP() << "no MNIST in " << folder << "; set BURN_DATA_DIR";
  const auto train = MnistDataset::train(folder), test = MnistDataset::test(folder);
  EXPECT_EQ(train.len(), 8000u);
  EXPECT_EQ(test.len(), 2000u);
  std::vector<int> histogram(10);
  std::uint64_t sum = 0;
  for (const auto* part : {&train, &test}) {
    for (const auto& item : *part) {
      ++histogram[item.label];
      for (const auto pixel : item.image) sum += pixel;
    }
  }
  EXPECT_THAT(histogram, ElementsAre(980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009));
  EXPECT_NEAR(static_cast<double>(sum) / (10000 * 784), 33.79, 0.01);
  EXPECT_EQ(train.get(0).label, 7);
  EXPECT_EQ(MnistDataset::whole_test(folder).len(), 10000u);
}

}  // namespace
}  // namespace burn::data

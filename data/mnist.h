// MNIST: 28x28 grey images of handwritten digits, from its IDX files.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "data/dataset.h"

namespace burn::data {

struct MnistItem {
  static constexpr std::size_t kSide = 28;
  std::array<std::uint8_t, kSide * kSide> image;  // [row, column], 0 is the background
  std::uint8_t label;                             // 0 to 9
};

// Holds the images in memory; copies share them.
//
// A folder has the files under their usual names, compressed or not: train-images-idx3-ubyte[.gz],
// train-labels-idx1-ubyte[.gz], t10k-images-idx3-ubyte[.gz], t10k-labels-idx1-ubyte[.gz].
//
// If a folder has only the t10k files, they are divided, so that training and test use different images: the first 80 %
// are the training set, the rest is the test set. A line on stderr, once for each folder and process, and describe()
// then say so; whole_test() returns all of them.
class MnistDataset : public Dataset<MnistItem> {
 public:
  // Errors: one sentence naming the file, and the numbers where some disagree.
  static MnistDataset train(const std::filesystem::path& folder);
  static MnistDataset test(const std::filesystem::path& folder);
  // All images of the t10k files, whatever else is in the folder.
  static MnistDataset whole_test(const std::filesystem::path& folder);

  // Downloads the files that `folder` lacks, and returns it: train(download(folder)). Tries each mirror in turn.
  // Errors: UNAVAILABLE with the failure of each mirror.
  static std::filesystem::path download(const std::filesystem::path& folder);
  static std::filesystem::path download(const std::filesystem::path& folder, std::span<const std::string> mirrors);

  MnistItem get(std::size_t index) const override;
  std::size_t len() const override { return end_ - begin_; }

  // Whether it is a part of the t10k files, as the folder has no others.
  bool is_cut() const;
  // "images 8000 to 9999 of the 10000 in DIR/t10k-images-idx3-ubyte.gz"
  std::string describe() const;

 private:
  struct Files;
  MnistDataset(std::shared_ptr<const Files> files, std::size_t begin, std::size_t end)
      : files_(std::move(files)), begin_(begin), end_(end) {}
  static std::shared_ptr<const Files> read(const std::filesystem::path& folder, const std::string& prefix);

  std::shared_ptr<const Files> files_;
  std::size_t begin_, end_;
};

}  // namespace burn::data

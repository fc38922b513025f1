#include "data/mnist.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "data/download.h"
#include "data/idx.h"

namespace burn::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPixels = MnistItem::kSide * MnistItem::kSide;

constexpr std::string_view kMirrors[] = {
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
};

// The files and their sizes, by which a download is told apart from the page of a captive portal.
struct RemoteFile {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr RemoteFile kRemoteFiles[] = {
    {"train-images-idx3-ubyte.gz", 9912422},
    {"train-labels-idx1-ubyte.gz", 28881},
    {"t10k-images-idx3-ubyte.gz", 1648877},
    {"t10k-labels-idx1-ubyte.gz", 4542},
};

std::string images_name(const std::string& prefix) { return prefix + "-images-idx3-ubyte"; }
std::string labels_name(const std::string& prefix) { return prefix + "-labels-idx1-ubyte"; }

bool has(const fs::path& folder, const std::string& name) {
  return fs::is_regular_file(folder / name) || fs::is_regular_file(folder / (name + ".gz"));
}

bool has_images(const fs::path& folder, const std::string& prefix) { return has(folder, images_name(prefix)); }

fs::path locate(const fs::path& folder, const std::string& name) {
  if (fs::is_regular_file(folder / name)) return folder / name;
  if (fs::is_regular_file(folder / (name + ".gz"))) return folder / (name + ".gz");
  if (!fs::is_directory(folder)) {
    throw Error(StatusCode::not_found, fmt::format("MNIST: there is no folder {}", folder.native()));
  }
  throw Error(StatusCode::not_found,
              fmt::format("MNIST: there is neither {0} nor {0}.gz in {1}", name, folder.native()));
}

// Prints the note once for each folder, as a program loads both parts, possibly several times.
void say_cut(const fs::path& folder, std::size_t train, std::size_t all) {
  static std::mutex mutex;
  static auto& told = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (!told.insert(folder.lexically_normal().native()).second) return;
  fmt::print(
      stderr,
      "burn: MNIST: {} has no training files, so its {} test images are cut: the first {} are the training set, the "
      "other {} the test set (MnistDataset::whole_test gives all)\n",
      folder.native(), all, train, all - train);
}

}  // namespace

struct MnistDataset::Files {
  std::string path;  // of the images
  IdxArray images, labels;

  std::size_t size() const { return labels.values.size(); }
  std::size_t cut() const { return size() * 4 / 5; }  // where the training set ends
};

std::shared_ptr<const MnistDataset::Files> MnistDataset::read(const fs::path& folder, const std::string& prefix) {
  const auto images_path = locate(folder, images_name(prefix));
  const auto labels_path = locate(folder, labels_name(prefix));
  auto files = std::make_shared<Files>();
  files->path = images_path.native();
  files->images = value_or_throw(read_idx(images_path, 3));
  files->labels = value_or_throw(read_idx(labels_path, 1));

  const auto& shape = files->images.shape;
  if (shape[1] != MnistItem::kSide || shape[2] != MnistItem::kSide) {
    throw Error(StatusCode::invalid_argument,
                fmt::format("{}: the images are {}x{}, not 28x28", images_path.native(), shape[1], shape[2]));
  }
  if (shape[0] != files->labels.shape[0]) {
    throw Error(StatusCode::invalid_argument,
                fmt::format("{} has {} images, but {} has {} labels", images_path.native(), shape[0],
                            labels_path.native(), files->labels.shape[0]));
  }
  const auto& labels = files->labels.values;
  const auto bad = std::ranges::find_if(labels, [](std::uint8_t label) { return label > 9; });
  if (bad != labels.end()) {
    throw Error(StatusCode::invalid_argument,
                fmt::format("{}: label {} is {}, not a digit", labels_path.native(), bad - labels.begin(), *bad));
  }
  return files;
}

MnistDataset MnistDataset::train(const fs::path& folder) {
  const bool cut = !has_images(folder, "train") && has_images(folder, "t10k");
  auto files = read(folder, cut ? "t10k" : "train");
  if (cut) say_cut(folder, files->cut(), files->size());
  const auto end = cut ? files->cut() : files->size();
  return {std::move(files), 0, end};
}

MnistDataset MnistDataset::test(const fs::path& folder) {
  if (has_images(folder, "train")) return whole_test(folder);
  auto files = read(folder, "t10k");
  say_cut(folder, files->cut(), files->size());
  const auto begin = files->cut(), end = files->size();
  return {std::move(files), begin, end};
}

MnistDataset MnistDataset::whole_test(const fs::path& folder) {
  auto files = read(folder, "t10k");
  const auto end = files->size();
  return {std::move(files), 0, end};
}

bool MnistDataset::is_cut() const { return len() != files_->size(); }

std::string MnistDataset::describe() const {
  if (!is_cut()) return fmt::format("all {} images in {}", files_->size(), files_->path);
  if (len() == 0) return fmt::format("none of the {} images in {}", files_->size(), files_->path);
  return fmt::format("images {} to {} of the {} in {}", begin_, end_ - 1, files_->size(), files_->path);
}

MnistItem MnistDataset::get(std::size_t index) const {
  check_index(index, len());
  const auto at = begin_ + index;
  MnistItem item;
  std::copy_n(files_->images.values.begin() + static_cast<std::ptrdiff_t>(at * kPixels), kPixels, item.image.begin());
  item.label = files_->labels.values[at];
  return item;
}

fs::path MnistDataset::download(const fs::path& folder) {
  return download(folder, std::vector<std::string>(std::begin(kMirrors), std::end(kMirrors)));
}

fs::path MnistDataset::download(const fs::path& folder, std::span<const std::string> mirrors) {
  for (const auto& [name, bytes] : kRemoteFiles) {
    if (has(folder, fs::path(name).stem().native())) continue;
    std::vector<std::string> urls;
    for (const auto& mirror : mirrors) urls.push_back(mirror + std::string(name));
    download_file(urls, folder / name, bytes);
  }
  return folder;
}

}  // namespace burn::data

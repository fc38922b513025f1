#include "data/download.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "data/mnist.h"
#include "tests/support/temp_folder.h"

namespace burn::data {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using testing::HasSubstr;

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(Download, TakesTheFirstUrlThatWorks) {
  const TempFolder folder;
  const auto source = folder.write("source", "12345");
  const std::string urls[] = {"file://" + (folder / "none").native(), "file://" + source.native()};
  download_file(urls, folder / "made/here/file", 5);
  EXPECT_EQ(TempFolder::read(folder / "made/here/file"), "12345");
  EXPECT_EQ(files_in(folder / "made/here"), 1u);
}

TEST(Download, RefusesAnotherSizeAndLeavesNothing) {
  const TempFolder folder;
  const auto source = folder.write("source", "<html>");
  const std::string urls[] = {"file://" + source.native()};
  try {
    download_file(urls, folder / "file", 5);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), StatusCode::unavailable);
    EXPECT_EQ(std::string(error.what()), "cannot download file: " + urls[0] + ": it sent 6 bytes instead of 5");
  }
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(Download, SaysWhatEachMirrorAnswered) {
  const TempFolder folder;
  const std::string mirrors[] = {"http://127.0.0.1:1/", "nonsense://"};
  try {
    (void)MnistDataset::download(folder.path(), mirrors);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("cannot download train-images-idx3-ubyte.gz: http://127.0.0.1:1/train-images-idx3-"));
    EXPECT_THAT(error.what(), HasSubstr("; nonsense://train-images-idx3-ubyte.gz: "));
  }
  EXPECT_EQ(files_in(folder.path()), 0u);
}

TEST(Download, LeavesTheNetworkAloneWhenTheFilesAreThere) {
  const TempFolder folder;
  for (const char* name : {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                           "t10k-labels-idx1-ubyte.gz"}) {
    folder.write(name, "");
  }
  EXPECT_EQ(MnistDataset::download(folder.path(), {}), folder.path());
}

}  // namespace
}  // namespace burn::data

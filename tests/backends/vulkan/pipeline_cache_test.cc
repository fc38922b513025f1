// The file of compiled pipelines: whatever is found in its place, or happens to it, kernels compute.
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <xxhash.h>

#include "base/settings.h"
#include "tests/backends/vulkan/vulkan_test.h"
#include "tests/support/temp_folder.h"

namespace burn::backends::vulkan {
namespace {

class VulkanPipelineCache : public VulkanDeviceTest {
 protected:
  void SetUp() override {
    VulkanDeviceTest::SetUp();
    override_setting(Setting::cache_home, folder_.path().string());
  }
  void TearDown() override {
    device_.reset();
    override_setting(Setting::cache_home, "");
    VulkanDeviceTest::TearDown();
  }

  void use_and_close() {
    EXPECT_EQ(*first_of(value_or_throw(device().compile(shifted_exp(100, 3))), upload(100)), 4.0F);
    device_.reset();
  }
  std::filesystem::path file() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
      if (entry.path().extension() == ".vkcache") return entry.path();
    return {};
  }
  static std::string content(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // As the backend writes it: a hash of the driver's data before them.
  static std::string with_hash(const std::string& data) {
    const auto hash = XXH3_128bits(data.data(), data.size());
    return std::string(reinterpret_cast<const char*>(&hash), sizeof hash) + data;
  }
  static void write(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  static constexpr std::size_t kSmallest = 48;  // bytes: the hash, and the header of the driver's data
  test::TempFolder folder_;
};

TEST_F(VulkanPipelineCache, ThatIsCutOrChangedOrOfAnotherDriverIsMadeAnew) {
  use_and_close();
  const auto path = file();
  ASSERT_FALSE(path.empty());
  const auto good = content(path);
  ASSERT_GE(good.size(), kSmallest);
  // Behind the hash: 4 bytes each of header size, version, vendor, device, then the driver's UUID.
  auto of_another_driver = good.substr(16);
  of_another_driver[16] = static_cast<char>(of_another_driver[16] ^ 1);
  auto too_long_a_header = good.substr(16);
  too_long_a_header[3] = '\x7f';
  auto changed = good;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  for (const auto& bad :
       {std::string(), good.substr(0, 7), good.substr(0, good.size() / 2), changed, with_hash(of_another_driver),
        with_hash(too_long_a_header), with_hash("hostile"), std::string(1 << 20, '\xff')}) {
    write(path, bad);
    use_and_close();
    EXPECT_GE(content(path).size(), kSmallest);
    EXPECT_NE(content(path), bad);
  }
}

// As a full disk: no file may grow.
TEST_F(VulkanPipelineCache, ThatCannotBeWrittenIsLeftOut) {
  std::signal(SIGXFSZ, SIG_IGN);
  EXPECT_EQ(*first_of(value_or_throw(device().compile(shifted_exp(100, 3))), upload(100)), 4.0F);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  device_.reset();  // writes it
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(file().empty()) << file();
  use_and_close();
  EXPECT_GE(content(file()).size(), kSmallest);
}

}  // namespace
}  // namespace burn::backends::vulkan

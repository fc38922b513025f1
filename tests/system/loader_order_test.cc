// Batches that workers upload while earlier steps run, give their memory away and are dropped: every number arrives
// where it belongs.
#include <gtest/gtest.h>

#include "client/record/device_state.h"
#include "tests/system/digits_training.h"

namespace burn {
namespace {

struct Numbers {
  Tensor<1> values;
};

// The sum over all batches, of which the k-th is `size` times k % 5: small ones travel with their frame, large ones
// beside it, and most repeat bytes that the worker may still hold.
double sum_on(const Device& device, std::size_t workers, std::int64_t size) {
  constexpr std::size_t kBatches = 120;
  std::vector<std::int64_t> items(kBatches);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::int64_t>(i % 5);
  const auto make = [device, size](const std::vector<std::int64_t>& batch) {
    const std::vector<float> values(static_cast<std::size_t>(size), static_cast<float>(batch[0]));
    return Numbers{Tensor<1>::from_data(TensorData(values, {size}), device) * 2};
  };
  auto loader = data::DataLoaderBuilder(make).num_workers(workers).build(data::InMemDataset<std::int64_t>(items));
  auto total = Tensor<1>::zeros({size}, device);
  for (const auto& batch : loader) {
    total = total + batch.values;
    device.flush();
  }
  return total.sum().into_scalar<double>() / static_cast<double>(size);
}

TEST(LoaderOrder, HoldsInProcessAndOnEveryTransport) {
  const server::Server worker(test::on_every_transport());
  auto urls = worker.urls();
  urls.emplace_back("cpu");
  for (const auto& url : urls) {
    for (const std::size_t workers : {0, 1, 3}) {
      for (const std::int64_t size : {16, 4096, 200'000}) {
        SCOPED_TRACE(url + ", " + std::to_string(workers) + " workers, " + std::to_string(size) + " numbers");
        const Device device = Device::new_session(url);
        EXPECT_EQ(sum_on(device, workers, size), 2 * 24 * (0 + 1 + 2 + 3 + 4));
        EXPECT_NO_THROW(device.sync());
      }
    }
  }
}

}  // namespace
}  // namespace burn

#include "tests/system/static_life/devices.h"

#include <cstdlib>

namespace burn::test {

const std::string url = std::getenv("BURN_TEST_URL") ? std::getenv("BURN_TEST_URL") : "cpu";  // NOLINT
Device device{url};
Device autodiff = device.autodiff();
Tensor<2> weights = Tensor<2>::from_data({{1, 2}, {3, 4}}, device);

}  // namespace burn::test

// Groups of devices, in this process and on workers.
#include "client/group/group.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/server.h"
#include "tests/support/error_of.h"

namespace burn {
namespace {

using client::Group;
using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<server::Server> worker() {
  server::ServerOptions options;
  options.ws = "127.0.0.1:0";
  return std::make_unique<server::Server>(options);
}

class Groups : public testing::TestWithParam<const char*> {
 protected:
  Device open() {
    if (std::string_view(GetParam()) == "here") return Device::new_session("cpu");
    workers_.push_back(worker());
    return Device::new_session(workers_.back()->url());
  }
  std::vector<Device> open(std::size_t count) {
    std::vector<Device> devices;
    for (std::size_t k = 0; k < count; ++k) devices.push_back(open());
    return devices;
  }

  std::vector<std::unique_ptr<server::Server>> workers_;
};

Tensor<1> numbers(const Device& device, std::initializer_list<double> list) {
  const auto size = static_cast<std::int64_t>(list.size());
  return Tensor<1>::from_data(TensorData(std::vector<float>(list.begin(), list.end()), {size}), device);
}
std::vector<float> read(const Tensor<1>& x) { return x.to_data().to_vec<float>(); }

TEST_P(Groups, SumOverTheirDevices) {
  const auto devices = open(3);
  const Group group(devices);
  std::vector<Tensor<1>> parts;
  for (int k = 0; k < 3; ++k) parts.push_back(numbers(devices[static_cast<std::size_t>(k)], {1, 2.0 * k}) * 2);
  const auto sums = group.all_reduce(parts);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_THAT(read(sums[k] + 1), ElementsAre(7, 13));
    EXPECT_EQ(sums[k].device(), devices[k]);
  }
  const auto largest = group.all_reduce(parts, ir::ReduceFn::max);
  EXPECT_THAT(read(largest[1]), ElementsAre(2, 8));
}

// Work that the device waits for is sent to the other device, although no result is read there.
TEST_P(Groups, ResultsOfOneDeviceCanBeReadFirst) {
  const auto devices = open(2);
  const Group group(devices);
  const auto first = group.all_reduce(std::vector{numbers(devices[0], {1}), numbers(devices[1], {2})});
  const auto second = group.all_reduce(std::vector{first[0] * 2, first[1] * 3});
  EXPECT_THAT(read(second[1]), ElementsAre(15));
}

TEST_P(Groups, SumOnTheFirstDeviceAndSendFromIt) {
  const auto devices = open(3);
  const Group group(devices);
  Group::Lists lists;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto x = numbers(devices[k], {1, 2}) * static_cast<double>(k);
    lists.push_back({x.value(), x.reshape<2>({2, 1}).value()});
  }
  const auto sums = group.reduce(lists, {});
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_THAT(read(Tensor<1>{sums[0]}), ElementsAre(3, 6));
  EXPECT_EQ(sums[1].shape(), (ir::Shape{2, 1}));
  const auto sent = group.broadcast(sums, {});
  ASSERT_EQ(sent.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(sent[k][0].device(), devices[k].state());
    EXPECT_THAT(read(Tensor<1>{sent[k][0]}), ElementsAre(3, 6));
  }
}

// A session can be in at most 16 groups at a time, so each group must end before the loop makes the 17th.
TEST_P(Groups, EndWithTheirLastHandleBehindWhatTheyPerform) {
  const auto devices = open(2);
  for (int i = 0; i < 40; ++i) {
    std::vector<Tensor<1>> sums;
    {
      const Group group(devices);
      sums = group.all_reduce(std::vector{numbers(devices[0], {1}), numbers(devices[1], {2})});
    }
    EXPECT_THAT(read(sums[1]), ElementsAre(3)) << "group " << i;
    for (const auto& device : devices) device.sync();
  }
}

TEST_P(Groups, NeedDevicesThatDiffer) {
  const auto devices = open(2);
  EXPECT_THAT(error_of([&] {
                Group({devices[0], devices[1], devices[0].autodiff()});
              }),
              HasSubstr("group: devices 0 and 2 are one, " + devices[0].url()));
  EXPECT_THAT(error_of([&] { Group({devices[0]}); }), HasSubstr("group: it has 2 to 8 devices, not 1"));
}

TEST_P(Groups, RefuseValuesThatDoNotBelongTogether) {
  const auto devices = open(2);
  const Group group(devices);
  const auto x = numbers(devices[0], {1, 2}), y = numbers(devices[1], {1, 2});
  const auto error = [&](const std::vector<Tensor<1>>& values) { return error_of([&] { group.all_reduce(values); }); };
  EXPECT_THAT(error({x}), HasSubstr("all_reduce: 1 values for 2 devices"));
  EXPECT_THAT(error({y, x}), HasSubstr("value 0 is on " + devices[1].url() + ", not on device 0 (" + devices[0].url()));
  EXPECT_THAT(error({x, numbers(devices[1], {1, 2, 3})}), HasSubstr("all_reduce: f32[3] on device 1"));
  EXPECT_THAT(error({x, y.cast(DType::f64)}), HasSubstr("all_reduce: f64[2] on device 1"));
  const auto tracked = numbers(devices[1].autodiff(), {1, 2}).require_grad();
  EXPECT_THAT(error({x, tracked}), HasSubstr("no gradient passes"));
  EXPECT_THAT(read(group.all_reduce(std::vector{x, y})[1]), ElementsAre(2, 4)) << "the group still stands";
}

TEST_P(Groups, AFailureOfOneDeviceIsThatOfAll) {
  const auto devices = open(2);
  const Group group(devices);
  const auto index = Tensor<1, Int>::from_data({0, 9}, devices[1]);
  const auto sums =
      group.all_reduce(std::vector{numbers(devices[0], {1, 2}), numbers(devices[1], {1, 2}).select(0, index)});
  for (const auto& sum : sums) EXPECT_THAT(error_of([&] { read(sum); }), HasSubstr("index 9 is outside 0..1"));
  const auto next = group.all_reduce(std::vector{numbers(devices[0], {1}), numbers(devices[1], {2})});
  EXPECT_THAT(read(next[0]), ElementsAre(3));
}

INSTANTIATE_TEST_SUITE_P(, Groups, testing::Values("here", "remote"),
                         [](const auto& of) { return std::string{of.param}; });

TEST(Group, NamesADeviceThatIsLost) {
  auto first = worker(), second = worker();
  const std::vector<Device> devices{Device::new_session(first->url()), Device::new_session(second->url())};
  const Group group(devices);
  const auto x = numbers(devices[0], {1}), y = numbers(devices[1], {2});
  devices[0].sync(), devices[1].sync();
  const auto url = second->url();
  second.reset();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{5};
  const auto error = [&] { return error_of([&] { read(group.all_reduce(std::vector{x, y})[0]); }); };
  auto said = error();
  while (said.find(url) == std::string::npos && std::chrono::steady_clock::now() < deadline) said = error();
  EXPECT_THAT(said, HasSubstr("device 1 (" + url + ")"));
  EXPECT_THAT(error_of([&] { Group again(devices); }), HasSubstr("group: device 1 (" + url + ")"));
}

}  // namespace
}  // namespace burn

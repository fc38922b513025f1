// L-BFGS on functions with a known minimum.
#include "train/optim/lbfgs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace burn {
namespace {

struct Place {
  Param<1> a;
  Param<2> b;
  BURN_MODULE(Place, a, b)
};

class LbfgsTest : public ::testing::Test {
 protected:
  Device device = Device{"cpu"}.autodiff();

  Place place(double a, double b) const {
    const TensorOptions options{device, DType::f64};
    return {Tensor<1>::full({1}, a, options), Tensor<2>::full({1, 1}, b, options)};
  }
  static std::vector<double> values(const Place& at) {
    return {at.a.val().into_scalar<double>(), at.b.val().into_scalar<double>()};
  }
};

// Rosenbrock's valley: (1 - a)^2 + 100 (b - a^2)^2, with its minimum at (1, 1).
std::pair<Tensor<1>, GradientsParams> rosenbrock(const Place& at) {
  const auto a = at.a.val(), b = at.b.val().reshape<1>({1});
  const auto loss = ((1.0 - a).square() + (b - a.square()).square() * 100).sum();
  return {loss, GradientsParams::from_grads(loss.backward(), at)};
}

TEST_F(LbfgsTest, FindsTheEndOfRosenbrocksValley) {
  auto optim =
      optim::LbfgsConfig{.max_iter = 20, .tolerance_change = 1e-14, .line_search = optim::LineSearchFn::strong_wolfe}
          .init<Place>();
  auto at = place(-1.2, 1);
  double loss = 0;
  for (int i = 0; i < 5; ++i) std::tie(at, loss) = optim.step(1, at, rosenbrock);
  EXPECT_THAT(values(at), ::testing::ElementsAre(::testing::DoubleNear(1, 1e-5), ::testing::DoubleNear(1, 1e-5)));
  EXPECT_LT(loss, 1e-10);
}

TEST_F(LbfgsTest, WithoutASearchFollowsTheLearningRate) {
  auto optim = optim::LbfgsConfig{.max_iter = 30}.init<Place>();
  const auto bowl = [](const Place& at) {
    const auto loss = (at.a.val() - 3).square().sum() + (at.b.val() + 2).square().sum() * 5;
    return std::pair{loss, GradientsParams::from_grads(loss.backward(), at)};
  };
  const auto [at, loss] = optim.step(1, place(0, 0), bowl);
  EXPECT_THAT(values(at), ::testing::ElementsAre(::testing::DoubleNear(3, 1e-4), ::testing::DoubleNear(-2, 1e-4)));
  // A zero gradient moves nothing.
  const auto [same, least] = optim.step(1, place(3, -2), bowl);
  EXPECT_THAT(values(same), ::testing::ElementsAre(3, -2));
}

TEST_F(LbfgsTest, GoesOnFromARecord) {
  const optim::LbfgsConfig config{.max_iter = 4, .line_search = optim::LineSearchFn::strong_wolfe};
  auto one = config.init<Place>(), other = config.init<Place>();
  const auto [middle, _] = one.step(1, place(-1.2, 1), rosenbrock);
  other.load_record(middle, one.to_record());
  EXPECT_EQ(values(one.step(1, middle, rosenbrock).first), values(other.step(1, middle, rosenbrock).first));
  EXPECT_THROW(other.load_record(middle, Record{}), Error);
}

TEST_F(LbfgsTest, LeavesTheModuleAsItWasWhereTheClosureThrows) {
  auto optim = optim::LbfgsConfig{}.init<Place>();
  const auto at = place(1, 2);
  int calls = 0;
  const auto fails = [&](const Place& here) {
    if (++calls == 2) throw Error(StatusCode::unavailable, "gone");
    return rosenbrock(here);
  };
  EXPECT_THROW((void)optim.step(1, at, fails), Error);
  EXPECT_THAT(values(at), ::testing::ElementsAre(1, 2));
  EXPECT_THROW((void)optim::LbfgsConfig{.history_size = 0}.init<Place>(), Error);
}

}  // namespace
}  // namespace burn

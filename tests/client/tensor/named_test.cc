// Tensors whose dimensions have names.
#include "client/tensor/named.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.h"

namespace burn {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Rows = NamedTensor<Names<"row", "column">>;
using Cube = NamedTensor<Names<"batch", "row", "column">>;

Rows rows() { return named<"row", "column">(Tensor<2>::from_data({{1, 2, 3}, {4, 5, 6}}, "cpu")); }

template <typename A, typename B>
concept Adds = requires(A a, B b) { a + b; };
template <typename A, typename B>
concept Multiplies = requires(A a, B b) { a.matmul(b); };
template <typename A>
concept SumsOverTime = requires(A a) { a.template sum_dim<"time">(); };
template <typename A>
concept SumsOverRows = requires(A a) { a.template sum_dim<"row">(); };

// Which operations compile, and which the compiler refuses.
static_assert(Adds<Rows, Rows> && Adds<Rows, Cube> && Adds<Cube, Rows>);
static_assert(Adds<Cube, NamedTensor<Names<"column">>> && Adds<Cube, NamedTensor<Names<"batch", "column">>>);
static_assert(!Adds<Rows, NamedTensor<Names<"column", "row">>>);
static_assert(!Adds<Rows, NamedTensor<Names<"row", "time">>>);
static_assert(!Adds<Rows, NamedTensor<Names<"time">>>);
static_assert(!Adds<Rows, NamedTensor<Names<"row", "column">, Int>>);
static_assert(Multiplies<Rows, NamedTensor<Names<"column", "out">>>);
static_assert(Multiplies<Cube, NamedTensor<Names<"column", "out">>>);
static_assert(!Multiplies<Rows, Rows>);
static_assert(!Multiplies<Rows, NamedTensor<Names<"column", "row">>>);  // row, row
static_assert(!Multiplies<Cube, NamedTensor<Names<"time", "column", "out">>>);
static_assert(SumsOverRows<Rows> && !SumsOverTime<Rows>);
static_assert(sizeof(Rows) == sizeof(Tensor<2>));

TEST(NamedTensor, KnowsItsDimsByName) {
  const auto x = rows();
  EXPECT_EQ(x.dim<"row">(), 2);
  EXPECT_EQ(x.dim<"column">(), 3);
  EXPECT_EQ(x.names()[1].view(), "column");
  EXPECT_EQ((Rows::from_tensor(x.tensor()).into_tensor().shape()), (ir::Shape{2, 3}));
}

TEST(NamedTensor, BroadcastsWhatTheOtherLacksByName) {
  const auto x = rows();
  const auto of_rows = named<"row">(Tensor<1>::from_data({10, 20}, "cpu"));
  const auto of_columns = named<"column">(Tensor<1>::from_data({100, 200, 300}, "cpu"));
  EXPECT_THAT((x + of_rows).to_vec_as<float>(), ElementsAre(11, 12, 13, 24, 25, 26));
  EXPECT_THAT((of_rows + x).to_vec_as<float>(), ElementsAre(11, 12, 13, 24, 25, 26));
  EXPECT_THAT((x + of_columns).to_vec_as<float>(), ElementsAre(101, 202, 303, 104, 205, 306));
  const auto cube = named<"batch", "row", "column">(Tensor<3>::ones({2, 2, 3}, "cpu"));
  const Cube sum = x * cube;
  EXPECT_THAT(sum.dims(), ElementsAre(2, 2, 3));
  const auto of_batch = named<"batch">(Tensor<1>::from_data({1, 2}, "cpu"));
  const NamedTensor<Names<"batch">> of_both = (cube * of_batch).sum_dims_squeeze<"row", "column">();
  EXPECT_THAT(of_both.to_vec_as<float>(), ElementsAre(6, 12));
}

TEST(NamedTensor, SizesThatDifferNameTheDimTheSizesAndTheLine) {
  const auto x = rows();
  const auto y = named<"column">(Tensor<1>::zeros({4}, "cpu"));
  EXPECT_THAT(
      test::error_of([&] { (void)(x - y); }),
      AllOf(HasSubstr("sub: column is 3 and 4 in [row 2, column 3] and [column 4]"), HasSubstr("named_test.cc:")));
  const auto mask = named<"row">(Tensor<1, Bool>::zeros({3}, "cpu"));
  EXPECT_THAT(test::error_of([&] { (void)x.mask_fill(mask, 0); }), HasSubstr("mask_fill: row is 2 and 3"));
  const auto w = named<"column", "out">(Tensor<2>::zeros({5, 7}, "cpu"));
  EXPECT_THAT(test::error_of([&] { (void)x.matmul(w); }),
              AllOf(HasSubstr("matmul: column is 3 and 5"), HasSubstr("named_test.cc:")));
}

TEST(NamedTensor, MultipliesOverTheNameThatBothHave) {
  const auto x = rows();
  const NamedTensor<Names<"row", "other">> gram = x.matmul(x.rename<"row", "other">().swap_dims<"other", "column">());
  EXPECT_THAT(gram.to_vec_as<float>(), ElementsAre(14, 32, 32, 77));
  const auto batch = named<"batch", "row", "column">(Tensor<3>::ones({4, 2, 3}, "cpu"));
  const NamedTensor<Names<"batch", "row", "out">> y =
      batch.matmul(named<"column", "out">(Tensor<2>::ones({3, 5}, "cpu")));
  EXPECT_THAT(y.dims(), ElementsAre(4, 2, 5));
  EXPECT_EQ(y.sum().item(), 120);
}

TEST(NamedTensor, ReducesAndOrdersByName) {
  const auto x = rows();
  EXPECT_THAT(x.sum_dim<"row">().to_vec_as<float>(), ElementsAre(5, 7, 9));
  EXPECT_THAT((x - x.mean_dim<"column">()).to_vec_as<float>(), ElementsAre(-1, 0, 1, -1, 0, 1));
  const NamedTensor<Names<"row">> sums = x.sum_dims_squeeze<"column">();
  EXPECT_THAT(sums.to_vec_as<float>(), ElementsAre(6, 15));
  const NamedTensor<Names<"row", "column">, Int> best = x.argmax<"column">();
  EXPECT_THAT(best.to_vec_as<int>(), ElementsAre(2, 2));
  EXPECT_THAT((x.sum_dims<"row", "column">().to_vec_as<float>()), ElementsAre(21));
  EXPECT_THAT(x.flip<"column">().to_vec_as<float>(), ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_NEAR(x.softmax<"row">().sum().item(), 3, 1e-6);
  const auto running = x.map_dim<"row">([](const auto& t, int dim) { return t.cumsum(dim); });
  EXPECT_THAT(running.to_vec_as<float>(), ElementsAre(1, 2, 3, 5, 7, 9));
}

TEST(NamedTensor, ChangesItsNamesWithItsShape) {
  const auto x = rows();
  const NamedTensor<Names<"column", "row">> turned = x.permute<"column", "row">();
  EXPECT_THAT(turned.to_vec_as<float>(), ElementsAre(1, 4, 2, 5, 3, 6));
  const NamedTensor<Names<"batch", "row", "column">> wide = x.unsqueeze_dim<"batch">();
  EXPECT_THAT(wide.repeat_dim<"batch">(2).dims(), ElementsAre(2, 2, 3));
  const NamedTensor<Names<"row", "column">> narrow = wide.squeeze_dim<"batch">();
  EXPECT_THAT(narrow.dims(), ElementsAre(2, 3));
  const NamedTensor<Names<"column">> last = x.select_dim<"row">(-1);
  EXPECT_THAT(last.to_vec_as<float>(), ElementsAre(4, 5, 6));
  EXPECT_THAT(x.slice_dim<"column">(s(1)).to_vec_as<float>(), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(Rows::cat<"row">({x, x}).dims(), ElementsAre(4, 3));
  const NamedTensor<Names<"all">> flat = x.reshape<"all">({-1});
  EXPECT_THAT(flat.dims(), ElementsAre(6));
  EXPECT_EQ(x.chunk<"column">(3).size(), 3u);
}

TEST(NamedTensor, ComparesMasksAndCountsWithNumbers) {
  const auto x = rows();
  const NamedTensor<Names<"row", "column">, Bool> mask = x > 4;
  EXPECT_THAT(x.mask_fill(mask, 0).to_vec_as<float>(), ElementsAre(1, 2, 3, 4, 0, 0));
  EXPECT_THAT((1 - -x * 2).to_vec_as<float>(), ElementsAre(3, 5, 7, 9, 11, 13));
  EXPECT_THAT(x.square().sqrt().to_vec_as<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ((!mask).all().item(), false);
}

TEST(NamedTensor, HasGradientsOfTheSameNames) {
  const auto x = Rows{rows().tensor().to_device(Device{"cpu"}.autodiff())}.require_grad();
  const auto w = named<"column">(Tensor<1>::from_data({1, 2, 3}, Device{"cpu"}.autodiff()));
  const std::optional<Rows> gradient = x.grad((x * w).sum().backward());
  if (!gradient) FAIL() << "no gradient";
  EXPECT_THAT(gradient->to_vec_as<float>(), ElementsAre(1, 2, 3, 1, 2, 3));
}

TEST(NamedTensor, PrintsItsNames) {
  std::ostringstream out;
  out << rows();
  EXPECT_THAT(out.str(), AllOf(HasSubstr("row, column:"), HasSubstr("f32[2, 3]")));
}

}  // namespace
}  // namespace burn

// Moving, cutting, padding and indexing of tensors: the results, also for extreme sizes and indices.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/tensor/functions.h"
#include "tests/client/tensor/errors.h"

namespace burn {
namespace {

using test::message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <int D, Kind K>
std::vector<std::int64_t> whole(const Tensor<D, K>& x) {
  return x.template to_vec_as<std::int64_t>();
}
Tensor<1, Int> count(std::int64_t n) { return Tensor<1, Int>::arange(0, n, "cpu"); }

TEST(Arrange, MovesDimsToTheirPlaces) {
  const auto x = Tensor<4>::zeros({2, 3, 4, 5}, "cpu");
  EXPECT_THAT(x.movedim(0, -1).dims(), ElementsAre(3, 4, 5, 2));
  EXPECT_THAT(x.movedim({-1, 0}, {0, 2}).dims(), ElementsAre(5, 3, 2, 4));
  EXPECT_THAT(message_of([&] { (void)x.movedim({0, 0}, {1, 2}); }), HasSubstr("movedim: dim 0 is named twice"));
  EXPECT_THAT(message_of([&] { (void)x.movedim({0, 1}, {1}); }), HasSubstr("arrange_test.cc"));
}

TEST(Arrange, RollsTowardTheFront) {
  EXPECT_THAT(whole(count(5).roll_dim(2, 0)), ElementsAre(2, 3, 4, 0, 1));
  EXPECT_THAT(whole(count(5).roll_dim(-1, 0)), ElementsAre(4, 0, 1, 2, 3));
  EXPECT_THAT(whole(count(5).roll({7, 5}, {0, 0})), ElementsAre(2, 3, 4, 0, 1));
  EXPECT_EQ(count(0).roll_dim(3, 0).num_elements(), 0);
}

TEST(Arrange, UnfoldsIntoWindows) {
  EXPECT_THAT(whole(count(5).unfold(0, 3, 2)), ElementsAre(0, 1, 2, 2, 3, 4));
  EXPECT_THAT(whole(count(7).unfold(0, 2, 3)), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(whole(count(5).unfold(0, 2, 2)), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(count(2).unfold(0, 3, 1).dims(), ElementsAre(0, 3));
  EXPECT_THAT(message_of([] { (void)count(2).unfold(0, 0, 1); }), HasSubstr("unfold"));
}

TEST(Arrange, PadsEveryWay) {
  const auto x = count(3);
  EXPECT_THAT(whole(x.pad({{1, 2}}, 9)), ElementsAre(9, 0, 1, 2, 9, 9));
  EXPECT_THAT(whole(x.pad({{2, 1}}, PadMode::reflect())), ElementsAre(2, 1, 0, 1, 2, 1));
  EXPECT_THAT(whole(x.pad({{2, 1}}, PadMode::edge())), ElementsAre(0, 0, 0, 1, 2, 2));
  const auto square = count(4).reshape<2>({2, 2}).pad({{1, 0}, {0, 1}}, PadMode::reflect());
  EXPECT_THAT(whole(square), ElementsAre(2, 3, 2, 0, 1, 0, 2, 3, 2));
  EXPECT_THAT(message_of([&] { (void)x.pad({{3, 0}}, PadMode::reflect()); }), HasSubstr("reflect padding of 3 and 0"));
  EXPECT_THAT(message_of([&] { (void)x.pad({{-1, 0}}, PadMode::edge()); }), HasSubstr("negative padding"));
  EXPECT_THAT(message_of([] { (void)count(0).pad({{1, 0}}, PadMode::edge()); }), HasSubstr("edge padding of 1 and 0"));
}

TEST(Arrange, SplitsIntoPieces) {
  const auto x = count(7);
  const auto pieces = x.split(3, 0);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_THAT(whole(pieces[2]), ElementsAre(6));
  EXPECT_EQ(x.chunk(5, 0).size(), 4u);  // chunks of ceil(7 / 5) = 2
  EXPECT_EQ(x.chunk(9, -1).size(), 7u);
  EXPECT_EQ(count(0).split(3, 0).size(), 1u);
  EXPECT_EQ(count(0).chunk(3, 0).size(), 0u);
  EXPECT_THAT(message_of([&] { (void)x.split_with_sizes({3, 3}, 0); }), HasSubstr("[3, 3] do not make up dim 0"));
  EXPECT_THAT(message_of([&] { (void)x.split(0, 0); }), HasSubstr("split: pieces of 0"));
}

TEST(Arrange, KeepsTriangles) {
  const auto ones = Tensor<2, Int>::ones({2, 3}, "cpu");
  EXPECT_THAT(whole(ones.triu(1)), ElementsAre(0, 1, 1, 0, 0, 1));
  EXPECT_THAT(whole(ones.tril(-1)), ElementsAre(0, 0, 0, 1, 0, 0));
  EXPECT_THAT(whole(Tensor<2, Bool>::ones({2, 2}, "cpu").triu()), ElementsAre(1, 1, 0, 1));
  EXPECT_EQ(Tensor<3>::ones({2, 0, 3}, "cpu").tril().num_elements(), 0);
}

TEST(Arrange, SqueezesWhatIsSaid) {
  const auto x = Tensor<4>::zeros({1, 2, 1, 3}, "cpu");
  EXPECT_THAT(x.squeeze<2>().dims(), ElementsAre(2, 3));
  EXPECT_THAT(x.squeeze_dims<3>({-2}).dims(), ElementsAre(1, 2, 3));
  EXPECT_THAT(Tensor<2>::zeros({1, 1}, "cpu").squeeze().dims(), ElementsAre(1));
  EXPECT_THAT(message_of([&] { (void)x.squeeze(); }),
              HasSubstr("squeeze: f32[2, 3] has rank 2, a tensor of rank 3 was expected"));
  EXPECT_THAT(message_of([&] { (void)x.squeeze_dim(1); }), HasSubstr("arrange_test.cc"));
}

TEST(Arrange, SelectsByNumbers) {
  const auto x = count(6).reshape<2>({2, 3});
  EXPECT_THAT(whole(x[-1]), ElementsAre(3, 4, 5));
  EXPECT_THAT(whole(x.select_dim(1, 0)), ElementsAre(0, 3));
  EXPECT_EQ(x[1][2].item(), 5);
  EXPECT_THAT(message_of([&] { (void)x[2]; }), HasSubstr("index 2 is outside dim 0 of i64[2, 3]"));
  EXPECT_THAT(whole(x.slice_fill({s(), s(0, 3, -2)}, 9)), ElementsAre(9, 1, 9, 9, 4, 9));
}

TEST(Arrange, MakesGrids) {
  EXPECT_THAT(whole(cartesian_grid<2>({2, 2}, "cpu")), ElementsAre(0, 0, 0, 1, 1, 0, 1, 1));
  const auto axes = std::array{count(2), count(3)};
  const auto [rows, columns] = grid::meshgrid(axes);
  EXPECT_THAT(whole(rows), ElementsAre(0, 0, 0, 1, 1, 1));
  const auto sparse = grid::meshgrid(axes, {.indexing = grid::Indexing::cartesian, .sparsity = grid::Sparsity::sparse});
  EXPECT_THAT(sparse[0].dims(), ElementsAre(1, 2));
  EXPECT_THAT(sparse[1].dims(), ElementsAre(3, 1));
}

TEST(Places, TakesByIndicesOfAnyRank) {
  const auto x = count(6).reshape<2>({2, 3});
  const auto indices = Tensor<2, Int>::from_data({{2, 0}, {1, 1}}, "cpu");
  EXPECT_THAT(whole(x.take(1, indices)), ElementsAre(2, 0, 1, 1, 5, 3, 4, 4));
}

TEST(Places, GathersAndScattersByCoordinates) {
  const auto x = count(6).reshape<2>({2, 3});
  const auto places = Tensor<2, Int>::from_data({{1, 2}, {0, 1}}, "cpu");
  EXPECT_THAT(whole(x.gather_nd<1>(places)), ElementsAre(5, 1));
  EXPECT_THAT(whole(x.gather_nd<2>(Tensor<2, Int>::from_data({{1}}, "cpu"))), ElementsAre(3, 4, 5));
  const auto values = Tensor<1, Int>::from_data({10, 20}, "cpu");
  EXPECT_THAT(whole(x.scatter_nd(places, values)), ElementsAre(0, 21, 2, 3, 4, 15));
  EXPECT_THAT(whole(x.scatter_nd(places, values, IndexingUpdateOp::assign)), ElementsAre(0, 20, 2, 3, 4, 10));
  EXPECT_THAT(whole(x.scatter_nd(places, values, IndexingUpdateOp::min)), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(message_of([&] { (void)x.scatter_nd(places, count(3)); }), HasSubstr("scatter_nd"));
  EXPECT_EQ(x.gather_nd<1>(Tensor<2, Int>::zeros({0, 2}, "cpu")).num_elements(), 0);
}

// Row 0, column 4 must not be taken for row 1, column 1.
TEST(Places, OutsideInOneDimIsAnError) {
  const auto x = count(6).reshape<2>({2, 3});
  const auto read = [&](std::int64_t row, std::int64_t column) {
    return message_of([&] { (void)x.gather_nd<1>(Tensor<2, Int>::from_data({{row, column}}, "cpu")).to_data(); });
  };
  EXPECT_EQ(read(1, 2), "");
  for (const auto& message : {read(0, 4), read(-1, 5), read(2, 0), read(0, -1)}) {
    EXPECT_THAT(message, HasSubstr("arrange_test.cc")) << message;
  }
  EXPECT_EQ(x.sum().item(), 15) << "the session lives on";
}

TEST(Places, OneHotTakesOtherNumbersAndAxes) {
  const auto classes = Tensor<1>::from_data({0, 2, -1, 1}, "cpu");
  EXPECT_THAT(whole(classes.one_hot_fill(3, 5, -1, -1)), ElementsAre(5, -1, -1, -1, -1, 5, -1, -1, 5, -1, 5, -1));
  EXPECT_THAT(classes.one_hot_fill(3, 1, 0, 0).dims(), ElementsAre(3, 4));
}

TEST(Masks, FindWhatHolds) {
  const auto mask = Tensor<2, Bool>::from_data({{true, false, true}, {false, false, true}}, "cpu");
  EXPECT_THAT(whole(mask.argwhere()), ElementsAre(0, 0, 0, 2, 1, 2));
  EXPECT_THAT(whole(mask.nonzero()[1]), ElementsAre(0, 2, 2));
  const auto x = count(6).reshape<2>({2, 3});
  EXPECT_THAT(whole(x.mask_select(mask)), ElementsAre(0, 2, 5));
  EXPECT_THAT(x.mask_select(mask.bool_and(mask.bool_not())).dims(), ElementsAre(0));
  EXPECT_THAT(mask.slice({s(1, 1)}).argwhere().dims(), ElementsAre(0, 2));
  EXPECT_THAT(message_of([&] {
                (void)x.t().mask_select(mask.slice({s(0, 1)}).t().repeat({1, 3}));
              }),
              HasSubstr("mask_select: a mask"));
}

TEST(Masks, FindAllOfMany) {
  const auto x = count(10'000);
  const auto mask = x.remainder(7).equal(3);
  const auto found = whole(x.mask_select(mask));
  ASSERT_EQ(found.size(), 1428u + (10'000 % 7 > 3));
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], static_cast<std::int64_t>(7 * i + 3));
  auto later = x.mask_select_async(mask), places = x.mask_select_async(mask.bool_not());
  EXPECT_EQ(later.get().num_elements() + places.get().num_elements(), 10'000);
}

// The second overlaps the first by 0.68, the third overlaps neither, the fourth equals the third.
Tensor<2> some_boxes() {
  return Tensor<2>::from_data({{0, 0, 10, 10}, {1, 1, 11, 11}, {20, 20, 30, 30}, {20, 20, 30, 30}}, "cpu");
}
Tensor<1> scores(std::initializer_list<float> numbers) { return Tensor<1>::from_data(numbers, "cpu"); }

TEST(Nms, KeepsTheBestOfBoxesThatOverlapBestFirst) {
  EXPECT_THAT(whole(vision::nms(some_boxes(), scores({0.5, 0.9, 0.8, 0.95}))), ElementsAre(3, 1));
  EXPECT_THAT(whole(vision::nms(some_boxes(), scores({0.9, 0.5, 0.8, 0.8}))), ElementsAre(0, 2));  // a tie: the first
  EXPECT_THAT(whole(vision::nms(some_boxes(), scores({0.5, 0.9, 0.8, 0.95}), {.iou_threshold = 0.7})),
              ElementsAre(3, 1, 0));
  EXPECT_THAT(whole(vision::nms(some_boxes(), scores({0.5, 0.9, 0.8, 0.95}), {.iou_threshold = 1})),
              ElementsAre(3, 1, 2, 0));
}

TEST(Nms, LeavesOutLowScoresBeforeTheySuppress) {
  const float nan = std::nanf("");
  EXPECT_THAT(whole(vision::nms(some_boxes(), scores({0.5, nan, 0.8, -0.1}))), ElementsAre(2, 0));
  EXPECT_THAT(whole(vision::nms(some_boxes(), scores({-3, -1, -5, -2}), {.score_threshold = -2})), ElementsAre(1, 3));
  EXPECT_THAT(whole(vision::nms(some_boxes(), scores({0.5, 0.6, 0.7, 0.75}), {.score_threshold = 0.8})), ElementsAre());
  EXPECT_THAT(whole(vision::nms(some_boxes(), scores({0.5, 0.9, 0.8, 0.95}), {.max_output_boxes = 1})), ElementsAre(3));
  EXPECT_THAT(whole(vision::nms(some_boxes(), scores({0.5, 0.9, 0.8, 0.95}), {.max_output_boxes = 9})),
              ElementsAre(3, 1));
}

TEST(Nms, TakesNoBoxesAndRefusesWhatAreNone) {
  EXPECT_EQ(vision::nms(Tensor<2>::zeros({0, 4}, "cpu"), Tensor<1>::zeros({0}, "cpu")).dim(0), 0);
  EXPECT_THAT(message_of([&] {
                (void)vision::nms(Tensor<2>::zeros({3, 5}, "cpu"), scores({1, 2, 3}));
              }),
              HasSubstr("nms: takes boxes [n, 4] and scores [n], got f32[3, 5] and f32[3]"));
  EXPECT_THAT(message_of([&] {
                (void)vision::nms(some_boxes(), scores({1, 2, 3}));
              }),
              HasSubstr("got f32[4, 4] and f32[3]"));
  EXPECT_THAT(message_of([&] {
                (void)vision::nms(some_boxes(), scores({1, 2, 3, 4}), {.iou_threshold = 1.5});
              }),
              HasSubstr("nms: iou_threshold is 1.5, must be 0 to 1"));
  EXPECT_THAT(message_of([&] {
                (void)vision::nms(some_boxes(), scores({1, 2, 3, 4}), {.max_output_boxes = -1});
              }),
              HasSubstr("nms: max_output_boxes is -1, must be 0 (all) or more"));
}

TEST(Nms, TakesTrackedTensors) {
  const auto device = Device{"cpu"}.autodiff();
  const auto boxes = Tensor<2>::from_data(some_boxes().to_data(), device).require_grad();
  const auto best = Tensor<1>::from_data({0.5, 0.9, 0.8, 0.95}, device).require_grad();
  EXPECT_THAT(whole(vision::nms(boxes, best)), ElementsAre(3, 1));
}

}  // namespace
}  // namespace burn

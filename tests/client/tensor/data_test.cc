#include "client/tensor/data.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>

#include "base/error.h"
#include "client/tensor/print.h"
#include "proto/session.h"

namespace burn {
namespace {

using ir::DType;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<DType> every_dtype() {
  std::vector<DType> all;
  for (int i = 0; i < ir::kDTypeCount; ++i) all.push_back(static_cast<DType>(i));
  return all;
}

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

TEST(TensorData, KeepsValuesShapeAndType) {
  const TensorData data(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(data.dtype(), DType::f32);
  EXPECT_EQ(data.shape(), (ir::Shape{2, 3}));
  EXPECT_EQ(data.rank(), 2);
  EXPECT_EQ(data.num_elements(), 6u);
  EXPECT_EQ(data.as_bytes().size(), 24u);
  EXPECT_THAT(data.to_vec<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(TensorData, IsEmptyByDefault) {
  EXPECT_EQ(TensorData{}.num_elements(), 0u);
  EXPECT_TRUE(TensorData{}.to_vec<float>().empty());
}

TEST(TensorData, StoresBoolsAsBytes) {
  const TensorData data(std::vector<bool>{true, false, true}, {3});
  EXPECT_EQ(data.as_bytes().size(), 3u);
  EXPECT_EQ(data.as_bytes()[2], std::byte{1});
  EXPECT_THAT(data.to_vec<bool>(), ElementsAre(true, false, true));
  EXPECT_THAT(TensorData::full({2}, true).to_vec<bool>(), ElementsAre(true, true));
}

TEST(TensorData, FillsEveryType) {
  for (const DType dtype : every_dtype()) {
    EXPECT_THAT(TensorData::zeros({2}, dtype).to_vec_as<float>(), ElementsAre(0, 0)) << ir::name(dtype);
    EXPECT_THAT(TensorData::ones({2}, dtype).to_vec_as<float>(), ElementsAre(1, 1)) << ir::name(dtype);
    EXPECT_EQ(TensorData::ones({3, 4}, dtype).type(), (ir::TensorType{dtype, {3, 4}}));
  }
  EXPECT_THAT(TensorData::full<std::int16_t>({2}, -7).to_vec<std::int16_t>(), ElementsAre(-7, -7));
  EXPECT_THAT(TensorData::full_dtype({1}, 1e9, DType::i8).to_vec<std::int8_t>(), ElementsAre(127));
}

TEST(TensorData, RefusesAWrongNumberOfValues) {
  EXPECT_EQ(message_of([] {
              TensorData(std::vector<float>{1, 2}, {3});
            }),
            "tensor data: 2 values do not fill f32[3], which has 3");
  EXPECT_EQ(message_of([] { TensorData::from_bytes(SharedBytes::own(std::vector<char>(7)), {2}, DType::f32); }),
            "tensor data: 7 bytes do not fill f32[2], which has 8");
  EXPECT_EQ(message_of([] {
              TensorData::zeros({2, -1});
            }),
            "tensor data: shape [2, -1] has a negative size or too many elements");
}

TEST(TensorData, RefusesAnotherType) {
  const auto data = TensorData::zeros({2, 3});
  EXPECT_THAT(message_of([&] { (void)data.to_vec<double>(); }),
              ::testing::StartsWith("tensor data: asked for f64, but the data are f32[2, 3]; convert<T>() converts"));
}

TEST(TensorData, RefusesBytesThatAreNoBools) {
  const auto bytes = SharedBytes::own(std::vector<std::uint8_t>{0, 1, 2});
  EXPECT_EQ(message_of([&] { TensorData::from_bytes(bytes, {3}, DType::bool_); }),
            "tensor data: element 2 of bool[3] is 2, neither 0 nor 1");
}

TEST(TensorData, SharesAlignedBytesAndCopiesOthers) {
  const auto room = SharedBytes::own(std::vector<double>{1, 2, 3});
  EXPECT_EQ(TensorData::from_bytes(room.slice(8, 16), {2}, DType::f64).as_bytes().data(), room.data() + 8);

  std::vector<std::byte> shifted(9);
  const float values[] = {1.5f, -2.5f};
  std::memcpy(shifted.data() + 1, values, 8);
  const auto data = TensorData::from_bytes(SharedBytes::own(shifted).slice(1, 8), {2}, DType::f32);
  EXPECT_THAT(data.to_vec<float>(), ElementsAre(1.5f, -2.5f));
}

TEST(TensorData, GoesToTheWireTypeAndBackWithoutACopy) {
  const TensorData data(std::vector<std::int64_t>{1, 2}, {1, 2});
  const proto::HostTensor host = data.host_tensor();
  EXPECT_EQ(host.bytes.data(), data.bytes().data());
  EXPECT_EQ(TensorData::from_host(host), data);
}

TEST(TensorData, ConvertsFloatsToIntegersSaturatingTowardZero) {
  const TensorData data(std::vector<float>{1.9f, -1.9f, 300, -300, kInf, -kInf, kNan, 3e38f}, {8});
  EXPECT_THAT(data.to_vec_as<std::int8_t>(), ElementsAre(1, -1, 127, -128, 127, -128, 0, 127));
  EXPECT_THAT(data.to_vec_as<std::uint8_t>(), ElementsAre(1, 0, 255, 0, 255, 0, 0, 255));
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT(data.to_vec_as<std::int64_t>(), ElementsAre(1, -1, 300, -300, kMax, kLeast, 0, kMax));
  EXPECT_EQ(data.to_vec_as<std::uint64_t>()[4], std::numeric_limits<std::uint64_t>::max());
  EXPECT_THAT(TensorData(std::vector<double>{-0x1p63, 0x1p63, 0x1p31}, {3}).to_vec_as<std::int32_t>(),
              ElementsAre(std::numeric_limits<std::int32_t>::min(), 0x7fffffff, 0x7fffffff));
}

TEST(TensorData, ConvertsTheRestLikeCpp) {
  EXPECT_THAT(TensorData(std::vector<std::int32_t>{257, -1}, {2}).to_vec_as<std::uint8_t>(), ElementsAre(1, 255));
  EXPECT_THAT(TensorData(std::vector<float>{0, -0.f, 0.5f, kNan}, {4}).to_vec_as<bool>(),
              ElementsAre(false, false, true, true));
  EXPECT_THAT(TensorData(std::vector<bool>{true, false}, {2}).to_vec_as<double>(), ElementsAre(1, 0));
  EXPECT_THAT(TensorData(std::vector<Half>{Half(1.5f)}, {1}).to_vec_as<BFloat16>()[0].bits, BFloat16(1.5f).bits);
  const TensorData halves = TensorData(std::vector<float>{65504, 1e6f, 1e-9f}, {3}).convert<Half>();
  EXPECT_THAT(halves.to_vec_as<float>(), ElementsAre(65504, kInf, 0));
}

TEST(TensorData, EveryTypeSurvivesTheWayToDoubleAndBack) {
  for (const DType dtype : every_dtype()) {
    const auto data = TensorData(std::vector<double>{0, 1, 1, 0}, {2, 2}).convert_dtype(dtype);
    EXPECT_EQ(data.convert<double>().convert_dtype(dtype), data) << ir::name(dtype);
  }
}

TEST(TensorData, WalksOverConvertedElements) {
  float sum = 0;
  for (const float x : TensorData(std::vector<std::uint8_t>{1, 2, 3}, {3}).iter<float>()) sum += x;
  EXPECT_EQ(sum, 6);
}

TEST(TensorData, ReshapesOnlyToTheSameNumberOfElements) {
  const auto data = TensorData::zeros({2, 3});
  EXPECT_EQ(data.reshape({6}).shape(), (ir::Shape{6}));
  EXPECT_EQ(message_of([&] { (void)data.reshape({4}); }),
            "tensor data: f32[2, 3] has 6 elements and cannot become [4]");
}

TEST(TensorData, AssertEqNamesTheFirstDifferences) {
  const TensorData a(std::vector<float>{1, 2, 3, kNan}, {2, 2});
  EXPECT_NO_THROW(a.assert_eq(a));
  const TensorData b(std::vector<float>{1, 2.5f, 3, kNan}, {2, 2});
  EXPECT_EQ(message_of([&] { a.assert_eq(b); }),
            "tensor data: 1 of 4 elements of f32[2, 2] differ: [0, 1] is 2, expected 2.5");
  EXPECT_EQ(message_of([&] { a.assert_eq(a.reshape({4})); }), "tensor data: the shape is f32[2, 2], expected f32[4]");
  EXPECT_EQ(message_of([&] { a.assert_eq(a.convert<double>()); }),
            "tensor data: the type is f32[2, 2], expected f64[2, 2]");
  EXPECT_NO_THROW(a.assert_eq(a.convert<double>(), /*strict=*/false));
  EXPECT_THAT(message_of([] { TensorData::zeros({9}).assert_eq(TensorData::ones({9})); }),
              HasSubstr("9 of 9 elements of f32[9] differ: [0] is 0, expected 1; "));
}

TEST(TensorData, AssertApproxEqAllowsTheTolerance) {
  const TensorData a(std::vector<float>{1.0f, 100.0f, kInf, kNan}, {4});
  const TensorData b(std::vector<float>{1.00001f, 100.005f, kInf, kNan}, {4});
  EXPECT_NO_THROW(a.assert_approx_eq(b));
  EXPECT_NO_THROW(a.assert_approx_eq<double>(b));
  EXPECT_THAT(
      message_of([&] { a.assert_approx_eq(b, {.rtol = 1e-6, .atol = 0}); }),
      HasSubstr("2 of 4 elements of f32[4] differ by more than 0 + 1e-06 * |expected|: [0] is 1, expected 1.0000"));
  const TensorData c(std::vector<float>{1.0f, 100.0f, 5.0f, kNan}, {4});
  EXPECT_THAT(message_of([&] { a.assert_approx_eq(c); }), HasSubstr("[2] is inf, expected 5"));
  EXPECT_NO_THROW(a.convert<Half>().assert_approx_eq<Half>(a));
}

TEST(TensorPrint, NestsAndAligns) {
  EXPECT_EQ(to_string(TensorData(std::vector<float>{1, 2.5f, -3, 4.12346f}, {2, 2})),
            "[[ 1.    ,  2.5   ],\n [-3.    ,  4.1235]]");
  EXPECT_EQ(to_string(TensorData(std::vector<std::int32_t>{1, -20, 3, 4}, {2, 1, 2})),
            "[[[  1, -20]],\n\n [[  3,   4]]]");
  EXPECT_EQ(to_string(TensorData(std::vector<bool>{true, false}, {2})), "[ true, false]");
  EXPECT_EQ(to_string(TensorData(std::vector<float>{3.5f}, {})), "3.5");
  EXPECT_EQ(to_string(TensorData(std::vector<float>{1, 2}, {2})), "[1., 2.]");
  EXPECT_EQ(to_string(TensorData::zeros({0, 3})), "[]");
}

TEST(TensorPrint, UsesExponentsForWideRanges) {
  EXPECT_EQ(to_string(TensorData(std::vector<float>{1e-6f, 1, kNan}, {3})), "[1e-06, 1e+00,   nan]");
  EXPECT_EQ(to_string(TensorData(std::vector<double>{1234.5, 0.5, -kInf}, {3})),
            "[1.2345e+03, 5.0000e-01,       -inf]");
}

TEST(TensorPrint, ShortensLongAxes) {
  std::vector<std::int32_t> values(2000);
  for (int i = 0; i < 2000; ++i) values[static_cast<std::size_t>(i)] = i;
  EXPECT_EQ(to_string(TensorData(values, {2000})), "[   0,    1,    2, ..., 1997, 1998, 1999]");
  EXPECT_EQ(to_string(TensorData(values, {1000, 2})),
            "[[   0,    1],\n [   2,    3],\n [   4,    5],\n ...,\n [1994, 1995],\n [1996, 1997],\n [1998, 1999]]");
  EXPECT_EQ(to_string(TensorData(values, {2000}), {.threshold = 10, .edge_items = 1}), "[   0, ..., 1999]");
}

TEST(TensorPrint, BreaksLongLines) {
  const auto text = to_string(TensorData::zeros({8}), {.line_width = 20});
  EXPECT_EQ(text, "[0., 0., 0., 0., 0.,\n 0., 0., 0.]");
}

TEST(TensorPrint, StreamsWithTheGlobalOptions) {
  const PrintOptions before = print_options();
  set_print_options({.precision = 1});
  std::ostringstream out;
  out << TensorData(std::vector<float>{0.25f, 1}, {2});
  set_print_options(before);
  EXPECT_EQ(out.str(), "[0.2, 1. ]");
}

}  // namespace
}  // namespace burn

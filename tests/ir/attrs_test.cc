#include "ir/attrs.h"

#include <array>
#include <bit>
#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/attr_visit.h"
#include "tests/ir/samples.h"

namespace burn::ir {
namespace {

using testing::HasSubstr;

std::string image(const Op& op) {
  std::array<std::byte, kMaxOpImage> bytes;
  const auto size = write_image(op, bytes.data());
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

std::string error_of(std::string_view kind, std::vector<NamedAttr> attrs) {
  const auto op = make_op(kind, attrs);
  return op.ok() ? "no error" : op.status().message();
}

template <typename Field>
void change(Field& field) {
  if constexpr (std::is_same_v<Field, Dims>) {
    if (field.empty())
      field.push_back(0);
    else
      ++field[0];
  } else if constexpr (std::is_same_v<Field, bool>) {
    field = !field;
  } else if constexpr (std::is_enum_v<Field>) {
    field = static_cast<Field>(static_cast<int>(field) == 0 ? 1 : 0);
  } else {
    field = field + 1;
  }
}

// The op with one attribute after the other changed.
std::vector<Op> variations(const Op& op) {
  std::vector<Op> all;
  std::visit(
      [&](const auto& kind) {
        constexpr auto kCount = std::tuple_size_v<std::remove_cvref_t<decltype(kind.kAttrs)>>;
        for (std::size_t i = 0; i < kCount; ++i) {
          auto copy = kind;
          for_each_attr(copy, [&, k = std::size_t{0}](std::string_view, auto& field) mutable {
            if (k++ == i) change(field);
          });
          all.push_back(copy);
        }
      },
      op);
  return all;
}

TEST(Attrs, EveryOpSurvivesTheWayThroughItsAttributes) {
  for (const auto& sample : samples()) {
    const auto back = make_op(kind_name(sample.op), attrs_of(sample.op));
    ASSERT_TRUE(back.ok()) << back.status().to_string();
    EXPECT_EQ(image(*back), image(sample.op)) << to_string(sample.op);
    EXPECT_EQ(attrs_of(*back), attrs_of(sample.op));
  }
}

TEST(Attrs, EveryOpHasASample) {
  std::set<std::size_t> seen;
  for (const auto& sample : samples()) seen.insert(sample.op.index());
  EXPECT_EQ(seen.size(), std::variant_size_v<Op>);
}

TEST(Attrs, ImagesDifferWhereAnyAttributeDiffers) {
  for (const auto& sample : samples()) {
    std::set<std::string> images{image(sample.op)};
    const auto others = variations(sample.op);
    for (const auto& other : others) images.insert(image(other));
    EXPECT_EQ(images.size(), others.size() + 1) << to_string(sample.op);
  }
}

TEST(Attrs, ImagesOfDifferentOpsDiffer) {
  EXPECT_NE(image(Gather{1}), image(Concat{1}));
  EXPECT_NE(image(Reshape{{2}}), image(Expand{{2}}));
}

TEST(Attrs, ImagesFitTheirBuffer) {
  const Dims full = Dims::filled(kMaxRank, -1);
  EXPECT_LE(image(ConvInputGrad{full, full, full, full, full, 1}).size(), kMaxOpImage);
}

TEST(Attrs, EveryDuplicateOrMistypedAttributeIsNamed) {
  for (const auto& sample : samples()) {
    const auto kind = kind_name(sample.op);
    const auto good = attrs_of(sample.op);
    for (std::size_t i = 0; i < good.size(); ++i) {
      auto attrs = good;
      attrs.push_back(good[i]);
      EXPECT_THAT(error_of(kind, attrs), HasSubstr("\"" + good[i].name + "\" appears twice"));
      attrs = good;
      attrs[i].value = std::holds_alternative<Dims>(good[i].value) ? AttrValue{"no"} : AttrValue{Dims{7}};
      EXPECT_THAT(error_of(kind, attrs), HasSubstr("\"" + good[i].name + "\" must be"));
    }
    auto attrs = good;
    attrs.push_back({"colour", std::int64_t{1}});
    EXPECT_THAT(error_of(kind, attrs), HasSubstr("unknown attribute \"colour\""));
  }
}

TEST(Attrs, AbsentOnesHaveTheirDefaults) {
  for (const auto& sample : samples()) {
    const auto kind = kind_name(sample.op);
    const auto defaults =
        std::visit([](const auto& op) { return attrs_of(std::remove_cvref_t<decltype(op)>{}); }, sample.op);
    const auto good = attrs_of(sample.op);
    for (std::size_t i = 0; i < good.size(); ++i) {
      auto attrs = good, expected = good;
      attrs.erase(attrs.begin() + static_cast<std::ptrdiff_t>(i));
      expected[i] = defaults[i];
      const auto op = make_op(kind, attrs);
      ASSERT_TRUE(op.ok()) << op.status().to_string();
      EXPECT_EQ(attrs_of(*op), expected) << to_string(sample.op) << " without " << good[i].name;
    }
    const auto back = make_op(kind, changed_attrs_of(sample.op));
    ASSERT_TRUE(back.ok()) << back.status().to_string();
    EXPECT_EQ(image(*back), image(sample.op));
  }
}

TEST(Attrs, NamesOnlyWhatIsNotTheDefault) {
  const auto names = [](const Op& op) {
    std::vector<std::string> all;
    for (const auto& attr : changed_attrs_of(op)) all.push_back(attr.name);
    return all;
  };
  EXPECT_THAT(names(Sort{}), testing::IsEmpty());
  EXPECT_THAT(names(Sort{0, true}), testing::ElementsAre("descending"));
  EXPECT_THAT(names(Attention{1, true}), testing::ElementsAre("causal"));
  EXPECT_THAT(names(AvgPool{{2}, {2}, {0}}), testing::ElementsAre("kernel", "stride", "padding"));
}

// Zeros with a sign, NaNs with a payload: attributes are bits, not values.
TEST(Attrs, EveryBitOfARealNumberCounts) {
  const auto nan = [](std::uint64_t payload) { return std::bit_cast<double>(0x7ff8000000000000 | payload); };
  std::set<std::string> images;
  const auto numbers = {0.0, -0.0, 0.1, std::numeric_limits<double>::infinity(), nan(0), nan(5), 5e-324};
  for (const double x : numbers) {
    const Op op = Constant{DType::f64, 0, x};
    const auto back = make_op("constant", changed_attrs_of(op));
    ASSERT_TRUE(back.ok()) << back.status().to_string();
    EXPECT_EQ(image(*back), image(op)) << to_string(op);
    images.insert(image(op));
  }
  EXPECT_EQ(images.size(), numbers.size());
}

TEST(Attrs, UnknownOpsAreUnimplementedAndNamed) {
  const auto op = make_op("teleport", {});
  EXPECT_EQ(op.status().to_string(), "UNIMPLEMENTED: op \"teleport\"");
}

TEST(Attrs, EnumsAndBooleansTakeNothingButTheirValues) {
  EXPECT_EQ(error_of("pointwise", {{"fn", "exponential"}}),
            "pointwise: attribute \"fn\" must be one of its names, not \"exponential\"");
  EXPECT_THAT(error_of("cast", {{"dtype", "f128"}}), HasSubstr("not \"f128\""));
  EXPECT_THAT(error_of("sort", {{"axis", std::int64_t{0}}, {"descending", std::int64_t{2}}}),
              HasSubstr("must be 0 or 1, not 2"));
  EXPECT_EQ(error_of("attention", {{"scale", std::int64_t{1}}}),
            "attention: attribute \"scale\" must be a real number, not 1");
}

TEST(Attrs, HostileNamesComeOutShortAndPrintable) {
  const std::string name(100'000, '\x1b');
  const auto op = make_op(name, {});
  EXPECT_LT(op.status().message().size(), 100u);
  EXPECT_EQ(op.status().message().find('\x1b'), std::string::npos);
}

TEST(Op, PrintsItsAttributes) {
  EXPECT_EQ(to_string(Op{Reduce{ReduceFn::sum, {0, 1}}}), "reduce(fn=sum, axes=[0, 1])");
  EXPECT_EQ(to_string(Op{MatMul{}}), "matmul");
  EXPECT_EQ(to_string(Op{Pointwise{PointwiseFn::exp}}), "exp");
  EXPECT_EQ(to_string(Op{Sort{1, true}}), "sort(axis=1, descending=true)");
  EXPECT_EQ(to_string(Op{Attention{0.125, true}}), "attention(scale=0.125, causal=true)");
  EXPECT_EQ(to_string(Op{Constant{DType::f32, 0, 1.5}}), "constant(dtype=f32, value=1.5)");
  EXPECT_EQ(to_string(Op{Constant{DType::i32, -3}}), "constant(dtype=i32, value=-3)");
}

TEST(Op, PointwiseAnswersWithItsFunction) {
  EXPECT_EQ(name(Op{Pointwise{PointwiseFn::atan2}}), "atan2");
  EXPECT_EQ(kind_name(Op{Pointwise{PointwiseFn::atan2}}), "pointwise");
  EXPECT_EQ(name(Op{Scan{}}), "scan");
}

}  // namespace
}  // namespace burn::ir

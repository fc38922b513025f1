// Configurations as JSON: writing, reading, and the messages of what is refused.
#include "nn/module/config.h"

#include <cmath>
#include <limits>
#include <random>

#include "nn/nn.h"
#include "tests/nn/nn_test.h"
#include "tests/support/temp_folder.h"

namespace burn {
namespace {

using test::error_of;

struct Nothing {
  BURN_CONFIG(Nothing)
};

struct Inner {
  std::int64_t size = 3;
  std::string name = "inner";
  BURN_CONFIG(Inner, size, name)
};

struct Everything {
  bool flag = true;
  int small = -1;
  std::uint8_t byte = 7;
  std::int64_t large = std::int64_t{1} << 60;
  float single = 0.5f;
  double number = 1e-5;
  std::string text = "a \"quoted\" word";
  std::array<std::int64_t, 2> pair{1, 2};
  std::vector<double> list{0.25, 4};
  std::vector<bool> flags{true, false};
  std::optional<double> none, some = 2.5;
  Inner inner;
  std::vector<Inner> inners{{.size = 1}, {.size = 2, .name = "b"}};
  std::optional<Inner> maybe = Inner{.size = 9};
  Nothing nothing;
  BURN_CONFIG(Everything, flag, small, byte, large, single, number, text, pair, list, flags, none, some, inner, inners,
              maybe, nothing)
};

TEST(Config, WritesEveryKindOfField) {
  EXPECT_EQ(
      Everything{}.to_json(),
      R"({"flag":true,"small":-1,"byte":7,"large":1152921504606846976,"single":5E-1,"number":1E-5,)"
      R"("text":"a \"quoted\" word","pair":[1,2],"list":[2.5E-1,4E0],"flags":[true,false],"none":null,"some":2.5E0,)"
      R"("inner":{"size":3,"name":"inner"},"inners":[{"size":1,"name":"inner"},{"size":2,"name":"b"}],)"
      R"("maybe":{"size":9,"name":"inner"},"nothing":{}})"
      "\n");
}

TEST(Config, ReadsBackWhatItWrote) {
  Everything config;
  config.flag = false;
  config.small = 12;
  config.pair = {5, 6};
  config.list = {};
  config.none = 1.5;
  config.some.reset();
  config.inner.name = "other";
  config.maybe.reset();
  const auto copy = Everything::from_json(config.to_json());
  EXPECT_EQ(copy.to_json(), config.to_json());
  EXPECT_EQ(copy.pair, config.pair);
  EXPECT_EQ(copy.inner.name, "other");
}

TEST(Config, RoundTripsThroughAFile) {
  const test::TempFolder folder;
  const nn::LinearConfig config{.d_input = 4, .d_output = 2, .bias = false};
  config.save(folder / "linear.json");
  EXPECT_EQ(nn::LinearConfig::load(folder / "linear.json").to_json(), config.to_json());
  const auto missing = error_of([&] { (void)nn::LinearConfig::load(folder / "missing.json"); });
  EXPECT_NE(missing.find("missing.json"), std::string::npos) << missing;
}

TEST(Config, KeepsDefaultsOfMissingFields) {
  const auto config = Everything::from_json(R"({"inner": {"size": 8}})");
  EXPECT_EQ(config.inner.size, 8);
  EXPECT_EQ(config.inner.name, "inner");
  EXPECT_EQ(config.small, -1);
  EXPECT_EQ(config.inners.size(), 2u);
}

TEST(Config, TakesWholeNumbersForFractions) { EXPECT_EQ(Everything::from_json(R"({"number": 3})").number, 3.0); }

// Exact to the last bit, whatever the number of digits: a learning rate is the same after saving and loading.
TEST(Config, ReadsTheNearestNumberToWhatIsWritten) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const double number = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 200) - 150);
    const auto json = Everything{.number = number}.to_json();
    ASSERT_EQ(Everything::from_json(json).number, number) << json;
  }
  const auto number = [](const std::string& text) {
    return Everything::from_json("{\"number\": " + text + "}").number;
  };
  EXPECT_EQ(number("18888888888888888888888888888888888888888888e-3"), 18888888888888888888888888888888888888888888e-3);
  EXPECT_EQ(number("3E-4"), 3e-4);
  EXPECT_EQ(number("-0.1e+1"), -1.0);
  EXPECT_EQ(number("1e-400"), 0.0);
  EXPECT_EQ(number("4.9e-324"), 4.9e-324);
}

TEST(Config, RefusesNumbersThatNoDoubleHolds) {
  EXPECT_EQ(error_of([] { (void)Everything::from_json("{\n\"number\": 0.8e401}", "net.json"); }),
            "net.json is not JSON: 0.8e401 is more than a number of 64 bits holds (line 2)");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error_of([=] { (void)Everything{.number = infinity}.to_json(); }),
            "a configuration's number is inf, which JSON has no word for");
  EXPECT_EQ(error_of([=] {
              (void)Everything{.list = {1, -infinity}}.to_json();
            }),
            "a configuration's list[] is -inf, which JSON has no word for");
}

TEST(Config, RefusesWhatDoesNotFit) {
  const auto reading = [](const char* text) {
    return error_of([=] { (void)Everything::from_json(text, "net.json"); });
  };
  EXPECT_EQ(reading("{\"flag\": tru}"), "net.json is not JSON: syntax error (line 1)");
  EXPECT_EQ(reading("{\n\"flag\": true,\n\"text\": }"), "net.json is not JSON: syntax error (line 3)");
  EXPECT_EQ(reading("{} {"), "net.json is not JSON: there is more after its end (line 1)");
  EXPECT_THAT(reading("{\"flag\": true"), ::testing::StartsWith("net.json is not JSON: "));
  EXPECT_EQ(reading(R"({"small": "one"})"), R"(net.json.small is "one", a whole number was expected)");
  EXPECT_EQ(reading(R"({"small": 1.5})"), "net.json.small is 1.5E0, a whole number was expected");
  EXPECT_EQ(reading(R"({"small": 3000000000})"), "net.json.small is 3000000000, which its field cannot hold");
  EXPECT_EQ(reading(R"({"byte": -1})"), "net.json.byte is -1, which its field cannot hold");
  EXPECT_EQ(reading(R"({"flag": 1})"), "net.json.flag is 1, true or false was expected");
  EXPECT_EQ(reading(R"({"number": null})"), "net.json.number is null, a number was expected");
  EXPECT_EQ(reading(R"({"text": 1})"), "net.json.text is 1, a string was expected");
  EXPECT_EQ(reading(R"({"list": 1})"), "net.json.list is 1, a list was expected");
  EXPECT_EQ(reading(R"({"pair": [1, 2, 3]})"), "net.json.pair has 3 items, 2 were expected");
  EXPECT_EQ(reading(R"({"pair": [1, true]})"), "net.json.pair[1] is true, a whole number was expected");
  EXPECT_EQ(reading(R"({"inners": [{"size": false}]})"),
            "net.json.inners[0].size is false, a whole number was expected");
  EXPECT_EQ(reading(R"({"inner": {"sise": 1}})"),
            R"(net.json.inner has a field "sise" that its configuration lacks; that has: size, name)");
  EXPECT_EQ(reading(R"({"nothing": 1})"), "net.json.nothing is 1, an object was expected");
  EXPECT_EQ(reading("[]"), "net.json is [], an object was expected");
}

TEST(Config, OfLayersAreReadableJson) {
  EXPECT_EQ(nn::DropoutConfig{.prob = 0.25}.to_json(), "{\"prob\":2.5E-1}\n");
  EXPECT_EQ((nn::AdaptiveAvgPool2dConfig{.output_size = {8, 8}}.to_json()), "{\"output_size\":[8,8]}\n");
  EXPECT_EQ(
      (nn::MaxPool1dConfig{.kernel_size = 3, .padding = nn::PaddingConfig1d::explicit_({1}, {0})}.to_json()),
      R"({"kernel_size":3,"stride":null,"dilation":1,"padding":{"kind":"explicit","begin":[1],"end":[0]},"ceil_mode":false})"
      "\n");
  const auto config = nn::Conv2dConfig::from_json(
      R"({"channels": [1, 8], "kernel_size": [3, 3], "padding": {"kind": "same"}, "initializer": {"kind": "xavier_normal", "gain": 2}})");
  EXPECT_EQ(config.channels[1], 8);
  EXPECT_EQ(config.padding, nn::PaddingConfig2d::same());
  EXPECT_EQ(config.stride[0], 1);
  EXPECT_EQ(config.initializer.kind, "xavier_normal");
  EXPECT_EQ(config.initializer.gain, 2);
  const auto loss =
      nn::CrossEntropyLossConfig::from_json(R"({"pad_tokens": [0], "weights": [1, 2], "smoothing": 0.1})");
  EXPECT_THAT(loss.weights, ::testing::Optional(::testing::SizeIs(2)));
}

// A field list that needs more than one level of the macro's rescans.
struct Long {
  int a0 = 0, a1 = 1, a2 = 2, a3 = 3, a4 = 4, a5 = 5, a6 = 6, a7 = 7, a8 = 8, a9 = 9, b0 = 10, b1 = 11, b2 = 12,
      b3 = 13, b4 = 14, b5 = 15, b6 = 16, b7 = 17, b8 = 18, b9 = 19, c0 = 20, c1 = 21, c2 = 22, c3 = 23, c4 = 24,
      c5 = 25, c6 = 26, c7 = 27, c8 = 28, c9 = 29;
  BURN_CONFIG(Long, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4,
              c5, c6, c7, c8, c9)
};

TEST(Config, WalksLongFieldListsInOrder) {
  int expected = 0;
  Long{}.for_each_field([&](std::string_view, int value) { EXPECT_EQ(value, expected++); });
  EXPECT_EQ(expected, 30);
}

}  // namespace
}  // namespace burn

// Random and hostile attributes and operands through make_op, infer and the builder: whatever comes off the wire,
// nothing may crash, and what is accepted must be a shape. Run under the sanitizers this also looks for overflow.
#include <bit>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "ir/attrs.h"
#include "ir/program.h"
#include "tests/ir/samples.h"

namespace burn::ir {
namespace {

class Fuzzer {
 public:
  explicit Fuzzer(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return random_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }

  std::int64_t number() {
    constexpr auto kMin = std::numeric_limits<std::int64_t>::min(), kMax = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t kHostile[] = {kMin,      kMin + 1,        kMax,         kMax - 1,  -1,
                                         1LL << 31, (1LL << 31) - 1, -(1LL << 31), 1LL << 32, 1LL << 58,
                                         1LL << 59, 1LL << 62};
    if (one_in(3)) return kHostile[below(std::size(kHostile))];
    return static_cast<std::int64_t>(below(9));
  }

  Dims dims(bool hostile) {
    Dims dims;
    for (auto rank = below(kMaxRank + 1); rank > 0; --rank) {
      dims.push_back(hostile ? number() : static_cast<std::int64_t>(below(7)));
    }
    return dims;
  }

  // A type that a decoder would let pass.
  TensorType type() {
    TensorType type{static_cast<DType>(below(kDTypeCount)), dims(one_in(4))};
    return checked_num_elements(type.shape) ? type : TensorType{type.dtype, {}};
  }

  void disturb(AttrValue& value) {
    if (auto* list = std::get_if<Dims>(&value); list && !list->empty() && !one_in(4)) {
      (*list)[static_cast<int>(below(static_cast<std::size_t>(list->rank())))] = number();
    } else if (list) {
      *list = dims(true);
    } else if (std::holds_alternative<std::int64_t>(value)) {
      value = number();
    } else if (std::holds_alternative<double>(value)) {
      value = one_in(2) ? std::bit_cast<double>(random_()) : static_cast<double>(number());
    } else if (one_in(3)) {
      value = std::string(below(3), 'x');
    }
  }

  void disturb(TensorType& type) {
    if (one_in(3)) type.dtype = static_cast<DType>(below(kDTypeCount));
    const auto rank = static_cast<std::size_t>(type.shape.rank());
    TensorType changed = type;
    if (rank > 0) changed.shape[static_cast<int>(below(rank))] = number();
    if (one_in(4)) changed = this->type();
    if (checked_num_elements(changed.shape)) type = changed;
  }

 private:
  std::mt19937_64 random_;
};

TEST(Fuzz, DisturbedOpsGiveAShapeOrASentence) {
  Fuzzer fuzz{1};
  int accepted = 0, rejected = 0;
  for (int round = 0; round < 200'000; ++round) {
    const Sample& sample = samples()[fuzz.below(samples().size())];
    auto attrs = attrs_of(sample.op);
    auto operands = sample.operands;
    for (auto changes = fuzz.below(4); changes > 0; --changes) {
      if (!attrs.empty() && fuzz.one_in(2))
        fuzz.disturb(attrs[fuzz.below(attrs.size())].value);
      else if (!operands.empty())
        fuzz.disturb(operands[fuzz.below(operands.size())]);
    }
    if (fuzz.one_in(50)) operands.push_back(fuzz.type());

    const auto op = make_op(kind_name(sample.op), attrs);
    if (!op.ok()) {
      EXPECT_EQ(op.status().code(), StatusCode::invalid_argument);
      continue;
    }
    const auto types = infer_types(*op, operands);
    if (types.ok()) {
      ++accepted;
      ASSERT_EQ(types->size(), static_cast<std::size_t>(result_count(*op)));
      for (const auto& type : *types)
        ASSERT_TRUE(checked_num_elements(type.shape)) << to_string(*op) << " gave " << to_string(type);
    } else {
      ++rejected;
      ASSERT_EQ(types.status().message().rfind(name(*op), 0), 0u) << types.status().message();
    }
  }
  EXPECT_GT(accepted, 10'000);
  EXPECT_GT(rejected, 10'000);
}

TEST(Fuzz, RandomProgramsBuildAndPrint) {
  Fuzzer fuzz{2};
  for (int round = 0; round < 200; ++round) {
    ProgramBuilder builder;
    for (int i = 0; i < 4; ++i) builder.add_input(fuzz.type());
    for (int step = 0; step < 200; ++step) {
      const Sample& sample = samples()[fuzz.below(samples().size())];
      std::vector<Ref> operands;
      for (std::size_t i = 0; i < sample.operands.size(); ++i) {
        const auto any =
            static_cast<std::int32_t>(fuzz.below(builder.program().values.size() + 6)) - 5;  // and one of nothing
        operands.push_back(Ref::from_code(any));
      }
      if (const auto ref = builder.add(sample.op, operands); ref.ok()) {
        for (int k = 0; k < result_count(sample.op); ++k)
          ASSERT_TRUE(checked_num_elements(builder.type_of(ref->result(k)).shape));
      }
    }
    const auto program = builder.finish({});
    EXPECT_FALSE(to_string(program).empty());
  }
}

}  // namespace
}  // namespace burn::ir

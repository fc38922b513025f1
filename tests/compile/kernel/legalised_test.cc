// Kernels for devices without whole numbers of 64, or of 8 and 16 bits, compute what they were written as.
#include <array>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compile/codegen/dialects/spirv.h"
#include "compile/codegen/kernel/check.h"
#include "compile/codegen/kernel/legalise.h"
#include "compile/codegen/kernel/writer.h"
#include "tests/compile/kernel/interpreter.h"
#include "tests/compile/kernel/spirv_validator.h"

namespace burn::testing {
namespace {

using namespace compile::kernel;
using ir::DType;

constexpr std::array kWhole{DType::i8,  DType::u8,  DType::i16, DType::u16,
                            DType::i32, DType::u32, DType::i64, DType::u64};

std::array<compile::DeviceFacts, 3> devices() {
  compile::DeviceFacts without_int64{.has_f64 = false, .has_int64 = false};
  compile::DeviceFacts without_narrow{.has_f64 = false, .has_narrow = false};
  compile::DeviceFacts poor{.has_f64 = false, .has_int64 = false, .has_narrow = false};
  return {without_int64, without_narrow, poor};
}

// Numbers at which carries, signs and roundings go wrong, cut to the type.
std::vector<std::uint64_t> numbers(DType type) {
  std::vector<std::uint64_t> all;
  for (const std::uint64_t n : {0x0ULL,
                                0x1ULL,
                                0x2ULL,
                                0x7ULL,
                                0x7fULL,
                                0x80ULL,
                                0xffULL,
                                0x7fffULL,
                                0x8000ULL,
                                0xffffULL,
                                0x7fffffffULL,
                                0x80000000ULL,
                                0x80000001ULL,
                                0xffffff80ULL,
                                0xffffffffULL,
                                0x100000000ULL,
                                0x100000001ULL,
                                0x180000000ULL,
                                0x123456789abcdef0ULL,
                                0x7fffff4000000000ULL,
                                0x7fffff4000000001ULL,
                                0x7fffffffffffffffULL,
                                0x8000000000000000ULL,
                                0x8000000000000001ULL,
                                0xfedcba9876543210ULL,
                                0xffffffff00000000ULL,
                                0xfffffffffffffff9ULL,
                                0xffffffffffffffffULL})
    all.push_back(compile::kernel::bits_of(type) == 64 ? n : n & ((1ULL << compile::kernel::bits_of(type)) - 1));
  return all;
}

using Bytes = std::vector<std::uint64_t>;  // aligned to 8

struct Arrays {
  std::vector<Bytes> all;
  std::vector<std::size_t> shifts;  // in bytes: where an array begins

  std::uint64_t at(std::size_t k) const { return reinterpret_cast<std::uint64_t>(all[k].data()) + shifts[k]; }
};

void run(const Kernel& kernel, const Arrays& arrays, const std::vector<std::uint64_t>& numbers, std::int64_t blocks) {
  ASSERT_TRUE(check(kernel).ok()) << check(kernel).message() << "\n" << text(kernel);
  KernelMemory memory;
  KernelLaunch launch{.blocks = blocks};
  for (std::size_t k = 0; k < arrays.all.size(); ++k) {
    memory.add(arrays.all[k].data(), arrays.all[k].size() * 8);
    launch.arguments.push_back(arrays.at(k));
  }
  launch.arguments.insert(launch.arguments.end(), numbers.begin(), numbers.end());
  ASSERT_NO_THROW(interpret(kernel, launch, &memory)) << text(kernel);
}

// Runs the kernel and its legal forms on equal arrays: all bytes must be equal afterwards, and the SPIR-V valid.
void expect_same(const Kernel& kernel, const Arrays& before, const std::vector<std::uint64_t>& numbers = {},
                 std::int64_t blocks = 1) {
  auto expected = before;
  run(kernel, expected, numbers, blocks);
  for (const auto& facts : devices()) {
    SCOPED_TRACE(std::string(facts.has_int64 ? "" : "no int64 ") + (facts.has_narrow ? "" : "no int8, int16"));
    const auto legal = legalised(kernel, facts);
    ASSERT_TRUE(legal.ok()) << legal.status().to_string();
    auto found = before;
    run(*legal, found, numbers, blocks);
    EXPECT_EQ(found.all, expected.all) << text(*legal);
    EXPECT_EQ(validate(compile::print_spirv(*legal, facts)), "") << text(*legal);
  }
}

void put(Bytes& bytes, std::size_t at, DType type, std::uint64_t bits) {
  std::memcpy(reinterpret_cast<char*>(bytes.data()) + at, &bits, ir::size_of(type));
}

// All pairs of numbers of the type, and room for a result of `result` for each.
Arrays pairs_of(DType type, DType result) {
  const auto all = numbers(type);
  const auto count = all.size() * all.size(), size = ir::size_of(type);
  Arrays arrays{{Bytes(count), Bytes(count), Bytes(count + 1, 0xa5a5a5a5a5a5a5a5)}, {0, 0, ir::size_of(result)}};
  for (std::size_t k = 0; k < count; ++k) {
    put(arrays.all[0], k * size, type, all[k / all.size()]);
    put(arrays.all[1], k * size, type, all[k % all.size()]);
  }
  return arrays;
}

// result = body(a, b) for all pairs of numbers of the type.
void check_pairs(DType type, DType result, const std::function<Value(Value, Value)>& body) {
  constexpr int kThreads = 64;
  SCOPED_TRACE(std::string(ir::name(type)) + " to " + std::string(ir::name(result)));
  Writer w(kThreads);
  const auto a = w.address(type), b = w.address(type), c = w.address(result);
  const Value count = w.number(DType::i64), i = w.position();
  w.when(i < count, [&] { w.store(c, i, body(w.load(a, i), w.load(b, i))); });
  const auto total = numbers(type).size() * numbers(type).size();
  expect_same(w.take(), pairs_of(type, result), {total}, static_cast<std::int64_t>(total / kThreads + 1));
}

TEST(LegalKernels, ComputeWithWholeNumbersOfEveryType) {
  for (const auto type : kWhole) {
    check_pairs(type, type, [](Value a, Value b) { return a + b; });
    check_pairs(type, type, [](Value a, Value b) { return a - b; });
    check_pairs(type, type, [](Value a, Value b) { return ((a * b) ^ (~a & -b)) | (a & b); });
    const auto divisor = [](Value b) { return select(b == 0 || b == -1, b.number(3), b); };
    check_pairs(type, type, [&](Value a, Value b) { return a / divisor(b); });
    check_pairs(type, type, [&](Value a, Value b) { return a % divisor(b); });
    const int width = compile::kernel::bits_of(type);
    check_pairs(type, type, [&](Value a, Value b) { return a << (b & (width - 1)); });
    check_pairs(type, type, [&](Value a, Value b) { return a >> (b & (width - 1)); });
    check_pairs(type, DType::bool_, [](Value a, Value b) { return (a < b) || !(a != b); });
    check_pairs(type, DType::bool_, [](Value a, Value b) { return a <= b; });
  }
}

TEST(LegalKernels, ConvertBetweenAllTypes) {
  for (const auto type : kWhole) {
    for (const auto other : kWhole) {
      if (type != other) check_pairs(type, other, [&](Value a, Value) { return to(other, a); });
    }
    check_pairs(type, DType::f32, [](Value a, Value) { return to(DType::f32, a); });
    // Back, where the number fits: half of it, and with a fraction.
    check_pairs(type, type, [&](Value a, Value) { return to(type, to(DType::f32, a) * 0.25F); });
    check_pairs(type, DType::f16, [](Value a, Value b) { return to(DType::f32, a) / to(DType::f32, b); });
  }
}

// Each thread stores one element beside those of others, from a first element at any place in a word.
TEST(LegalKernels, StoreSmallElementsBesideEachOther) {
  constexpr int kThreads = 8;
  for (const auto type : {DType::u8, DType::i8, DType::bool_, DType::i16, DType::u16, DType::f16, DType::bf16}) {
    for (std::size_t shift = 0; shift < 4; shift += ir::size_of(type)) {
      Writer w(kThreads);
      const auto from = w.address(type), to = w.address(type);
      const Value count = w.number(DType::i32), at = w.block() * kThreads + w.thread();
      const Value i = bits_as(DType::i32, at);
      // Forward from one, backward from the end of the other.
      w.when(i < count, [&] { w.store(to, count - 1 - i, w.load(from, i)); });
      const Arrays arrays{{Bytes(8, 0x0123456701000100), Bytes(8, 0xa5a5a5a5a5a5a5a5)}, {shift, 3 * shift % 4}};
      expect_same(w.take(), arrays, {13}, 2);
    }
  }
}

TEST(LegalKernels, AccessSeveralElementsAtOnce) {
  for (const auto type : {DType::u8, DType::f16, DType::i16, DType::i32, DType::f32, DType::i64, DType::u64}) {
    for (const int bytes : {2, 4, 8, 16}) {
      const int count = bytes / static_cast<int>(ir::size_of(type));
      if (count < 2) continue;
      Writer w(4);
      const auto from = w.address(type), to = w.address(type);
      const Value i = w.position() * count;
      auto values = w.load(from, i, count);
      std::swap(values.front(), values.back());
      w.store(to, i, values);
      SCOPED_TRACE(std::to_string(count) + " of " + std::string(ir::name(type)));
      expect_same(w.take(), {{Bytes{1, 0x3c00400044004800, ~3ULL, 4, 5, 6, 7, 1ULL << 63}, Bytes(8)}, {0, 0}});
    }
  }
}

TEST(LegalKernels, KeepVariablesLoopsAndSharedArraysOfPairs) {
  constexpr int kThreads = 8;
  for (const auto type : kWhole) {
    Writer w(kThreads);
    const auto x = w.address(type), y = w.address(type);
    const Value scale = w.number(type);
    const auto lines = w.shared(type, kThreads);
    const auto sum = w.variable(w.load(x, w.thread()) * scale);
    const Value first = w.constant(type, std::int64_t{ir::is_integer(type) && is_signed(type) ? -5 : 3});
    w.loop(first, w.constant(type, std::int64_t{90}), w.constant(type, std::int64_t{7}), [&](Value k) {
      w.when((k & 1) == 0, [&] { sum.set(sum.get() * 3 + k); }, [&] { sum.set(sum.get() - k); });
      w.break_when(k > 60);
    });
    w.store(lines, w.thread(), sum.get());
    w.barrier();
    const Value other = w.load(lines, w.thread() ^ 3);
    w.store(y, w.thread(), other + w.broadcast(sum.get(), 2));
    SCOPED_TRACE(ir::name(type));
    expect_same(w.take(), {{Bytes{1, 0x3c00400044004800, ~3ULL, 4, 5, 6, 7, 1ULL << 63}, Bytes(8)}, {0, 0}},
                {0xfedcba9876543211});
  }
}

TEST(LegalKernels, RefuseWhatNeedsWhatTheDeviceLacks) {
  Writer w(1);
  const auto x = w.address(DType::f64);
  w.store(x, w.index(0), w.load(x, w.index(1)));
  const auto legal = legalised(w.take(), devices()[2]);
  EXPECT_EQ(legal.status().code(), StatusCode::unimplemented);
  EXPECT_NE(legal.status().message().find("f64"), std::string::npos) << legal.status().message();
}

}  // namespace
}  // namespace burn::testing

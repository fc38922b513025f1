// A kernel that has every instruction of the kernel language, of several types.
#pragma once

#include "compile/codegen/kernel/functions.h"
#include "compile/codegen/kernel/writer.h"

namespace burn::testing {

inline compile::kernel::Kernel every_instruction() {
  using namespace compile::kernel;
  using ir::DType;
  Writer w(256);
  const auto x = w.address(DType::f32), y = w.address(DType::f32), counts = w.address(DType::i32);
  const auto halves = w.address(DType::f16), doubles = w.address(DType::f64);
  const Value count = w.number(DType::i64), scale = w.number(DType::f32);
  const auto sums = w.shared(DType::f32, 256), words = w.shared(DType::u32, 128);
  const Value i = w.position(), block = w.block(1), blocks = w.blocks(0) + w.blocks(1);
  const Value none = w.index(0), step = w.index(16);

  const auto total = w.variable(w.load(x, i) * scale + w.constant(DType::f32, -0.5));
  const auto real = [&](Value v) {
    const Value rounded = unary(Code::floor, v) + unary(Code::ceil, v) - unary(Code::round_even, v);
    return fused_multiply_add(rounded, unary(Code::trunc, v) / unary(Code::sqrt, v), -unary(Code::abs, v));
  };
  w.store(doubles, i, real(to(DType::f64, total.get())) + w.constant(DType::f64, 0x1p-1074));
  for (const auto type :
       {DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::u32, DType::i64, DType::u64}) {
    const Value a = to(type, i), b = w.constant(type, std::int64_t{-7});
    const Value whole = (a + b) * (a - b) / b % b;
    const Value bits =
        ((-whole & a) | (~whole ^ b)) << w.constant(type, std::int64_t{3}) >> w.constant(type, std::int64_t{1});
    const Value is_less = (a < b) || (a <= whole && !(a == bits)) || (a != b) != (b == whole);
    total.set(select(is_less, to(DType::f32, bits), total.get()));
  }
  total.set(unary(Code::exp2, bits_as(DType::f32, bits_as(DType::u32, real(total.get())))));
  total.set(to(DType::f32, bits_as(DType::f64, bits_as(DType::i64, to(DType::f64, total.get())))));
  total.set(w.shuffle_xor(w.broadcast(total.get(), 3), 16) + infinity(total.get()));
  for (int f = 0; f < kFunctionCount; ++f) {
    const auto function = static_cast<Function>(f);
    const bool is_of_one = operand_count(function) == 1;
    const Value a = operand_type(function, DType::f32) == DType::f32 ? total.get() : to(DType::u16, i);
    const Value result = call(function, a, is_of_one ? Value{} : a);
    total.set(total.get() + to(DType::f32, result));
    if (function < Function::from_f16)
      w.store(doubles, i, call(function, to(DType::f64, a), is_of_one ? Value{} : to(DType::f64, a)));
  }
  w.when(
      w.broadcast(i < count, 0), [&] { w.atomic_add(counts, none, to(DType::i32, block)); },
      [&] { w.atomic_add(counts, none, to(DType::i32, blocks)); });
  w.loop(none, step, w.index(2), [&](Value k) {
    w.break_when(k == 8);
    w.store(sums, k, total.get());
  });
  w.barrier();
  const auto pack = w.load_pack(sums, none);
  total.set(w.load(sums, w.thread()) + pack[3]);
  w.store_pack(words, none, w.load_words(halves, none));
  w.memory_barrier();
  w.store(halves, none, w.load(halves, none, 4));
  w.store(halves, none, w.load(halves, none, 8));
  for (const auto type : {DType::f16, DType::bf16}) {
    for (const bool has_columns_apart : {false, true}) {
      const Value tile = w.tile_sums();
      const Value first = w.tile_load(type, {false, has_columns_apart, words.array}, none, w.index(8));
      for (const bool second_has : {false, true})
        w.tile_multiply(tile, first, w.tile_load(type, {true, second_has, words.array}, none, w.index(8)));
      w.tile_store(sums, none, step, tile);
    }
  }
  w.store(y, i, total.get());
  return w.take();
}

}  // namespace burn::testing

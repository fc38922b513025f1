// Any program of the kernel language: it is one by check(), gives the same in every order of its threads and with loops
// that take several rounds at once, and its SPIR-V is valid for every device. And what is left of it after a change is
// refused by check(), or has valid SPIR-V, too.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "compile/codegen/dialects/cuda_kernel.h"
#include "compile/codegen/dialects/spirv.h"
#include "compile/codegen/kernel/check.h"
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernel/functions.h"
#include "compile/codegen/kernel/legalise.h"
#include "compile/codegen/kernel/unroll.h"
#include "compile/codegen/kernel/writer.h"
#include "tests/compile/kernel/interpreter.h"
#include "tests/compile/kernel/spirv_validator.h"
#include "tests/fuzz/input.h"

namespace burn::fuzz {
namespace {

using compile::kernel::Kernel;
using compile::kernel::Memory;
using compile::kernel::Value;
using compile::kernel::Variable;
using compile::kernel::Writer;
using ir::DType;

constexpr int kThreads = 8, kBlocks = 2, kElements = kThreads * kBlocks;
constexpr std::array kTypes{DType::i32, DType::u32,   DType::f32, DType::i64,
                            DType::u8,  DType::bool_, DType::f64, DType::i16};
constexpr std::array kStored{DType::i32, DType::f32, DType::f16, DType::i64, DType::u8, DType::bool_, DType::bf16};

// Generates a kernel. Operands are chosen from the values that are in scope at that point.
class Program {
 public:
  explicit Program(Input in) : in_(in), writer_(kThreads) {
    for (const auto dtype : kStored) inputs_.push_back(writer_.address(dtype));
    for (const auto dtype : kStored) outputs_.push_back(writer_.address(dtype));
    add(writer_.number(DType::i32));
    add(writer_.number(DType::f32));
    position_ = to(DType::i32, writer_.position());
    add(position_);
    shared_ = writer_.shared(DType::i32, kThreads);
  }

  Kernel make() {
    writer_.when(position_ < kElements, [&] {
      scope([&] {
        for (const auto input : inputs_) add(writer_.load(input, position_));
        statements(0);
        for (const auto output : outputs_) writer_.store(output, position_, any(ir::compute_dtype(output.dtype)));
      });
    });
    return writer_.take();
  }

 private:
  void add(Value value) { values_.push_back(value); }

  template <typename Body>
  void scope(Body&& body) {
    const auto values = values_.size(), variables = variables_.size();
    body();
    values_.resize(values);
    variables_.resize(variables);
  }

  // A value of that type in scope, or a new constant if there is none.
  Value any(DType type) {
    const auto start = in_.byte();
    for (std::size_t k = 0; k < values_.size(); ++k) {
      const auto value = values_[(start + k) % values_.size()];
      if (value.type == type) return value;
    }
    if (type == DType::bool_) return writer_.constant(type, std::int64_t{in_.byte() & 1});
    return ir::is_floating(type) ? writer_.constant(type, in_.byte() / 8.0 - 8)
                                 : writer_.constant(type, std::int64_t{in_.byte()});
  }
  DType type() { return kTypes[in_.byte() % kTypes.size()]; }
  DType number_type() {
    const auto some = type();
    return ir::is_bool(some) ? DType::f32 : some;
  }
  DType whole_type() {
    const auto some = type();
    return ir::is_integer(some) ? some : DType::u32;
  }

  void statements(int depth) {
    for (int n = in_.byte() % 12; n > 0 && !in_.empty() && ++count_ < 300; --n) statement(depth);
  }

  void statement(int depth) {
    if (depth == 0 && in_.byte() % 8 == 0) return add(neighbour());
    switch (in_.byte() % (depth < 3 ? 12 : 8)) {
      case 0:
        return add(arithmetic());
      case 1:
        return add(bits());
      case 2:
        return add(comparison());
      case 3: {
        const auto of = type();
        return add(select(any(DType::bool_), any(of), any(of)));
      }
      case 4: {
        const auto to_type = number_type();
        return add(to(to_type, any(number_type())));
      }
      case 5:
        return add(writer_.load(inputs_[in_.byte() % inputs_.size()], any(DType::i32) & (kElements - 1)));
      case 6:
        if (variables_.empty()) return variables_.push_back(writer_.variable(any(type())));
        return add(variables_[in_.byte() % variables_.size()].get());
      case 7: {
        if (variables_.empty()) return variables_.push_back(writer_.variable(any(type())));
        const auto& variable = variables_[in_.byte() % variables_.size()];
        return variable.set(any(variable.type));
      }
      case 8:
        return add(function());
      case 9: {
        const auto counts = whole_type();
        const auto end = writer_.constant(counts, std::int64_t{in_.byte() % 20});
        return writer_.loop(end, [&](Value i) {
          scope([&] {
            add(i);
            statements(depth + 1);
            if (in_.byte() % 4 == 0) writer_.break_when(any(DType::bool_));
            statements(depth + 1);
          });
        });
      }
      case 10:
        return writer_.when(any(DType::bool_), [&] { scope([&] { statements(depth + 1); }); });
      default:
        return writer_.when(
            any(DType::bool_), [&] { scope([&] { statements(depth + 1); }); },
            [&] { scope([&] { statements(depth + 1); }); });
    }
  }

  // A value of another thread of the block. Contains barriers, so all threads of the block must execute it.
  Value neighbour() {
    const auto mine = any(DType::i32);
    if (in_.byte() % 2 == 0) return writer_.broadcast(mine, in_.byte() % 4);
    const auto distance = writer_.index(in_.byte() % kThreads);
    writer_.store(shared_, writer_.thread(), mine);
    writer_.barrier();
    const auto theirs = writer_.load(shared_, (writer_.thread() + distance) & (kThreads - 1));
    writer_.barrier();
    return theirs;
  }

  Value arithmetic() {
    const auto of = number_type();
    const auto a = any(of), b = any(of);
    switch (in_.byte() % 6) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return a * b;
      case 3:
        return ir::is_floating(of) ? a / b : a / (b | 1);
      case 4:
        return ir::is_floating(of) ? fused_multiply_add(a, b, any(of)) : a % (b | 1);
      default:
        return -a;
    }
  }

  Value bits() {
    const auto of = whole_type();
    const auto a = any(of), b = any(of);
    switch (in_.byte() % 7) {
      case 0:
        return a & b;
      case 1:
        return a | b;
      case 2:
        return a ^ b;
      case 3:
        return ~a;
      case 4:
        return a << (b & (compile::kernel::bits_of(of) - 1));
      case 5:
        return a >> (b & (compile::kernel::bits_of(of) - 1));
      default:
        return bits_as(DType::f32, any(DType::u32));
    }
  }

  Value comparison() {
    const auto of = type();
    const auto a = any(of), b = any(of);
    switch (in_.byte() % 4) {
      case 0:
        return a < b;
      case 1:
        return a <= b;
      case 2:
        return a == b;
      default:
        return a != b;
    }
  }

  Value function() {
    using namespace compile::kernel;
    const auto x = any(in_.byte() % 4 == 0 ? DType::f64 : DType::f32);
    switch (in_.byte() % 10) {
      case 0:
        return exp(x);
      case 1:
        return log(x);
      case 2:
        return sin(x);
      case 3:
        return power(x, any(x.type));
      case 4:
        return erf(x);
      case 5:
        return floor(x);
      case 6:
        return compile::kernel::sqrt(x);
      case 7:
        return cast(DType::u8, x);
      case 8:
        return cast(DType::i64, x);
      default:
        return rint(x);
    }
  }

  Input in_;
  Writer writer_;
  std::vector<Memory> inputs_, outputs_;
  std::vector<Value> values_;
  std::vector<Variable> variables_;
  Value position_;
  compile::kernel::Shared shared_;
  int count_ = 0;
};

using Memories = std::vector<std::array<std::uint64_t, kElements>>;  // elements have at most 64 bits

Memories run(const Kernel& kernel, testing::ThreadOrder order) {
  Memories inputs(kStored.size()), outputs(kStored.size());
  std::uint64_t number = 0x3f8000003e99999a;
  for (auto& input : inputs) {
    for (auto& word : input) word = number = number * 6364136223846793005 + 1442695040888963407;
  }
  for (auto& byte : inputs[5]) byte &= 0x0101010101010101;  // bool
  testing::KernelLaunch launch{.blocks = kBlocks, .blocks_y = 1, .arguments = {}, .order = order, .subgroup_size = 4};
  for (const auto* all : {&inputs, &outputs}) {
    for (const auto& memory : *all) launch.arguments.push_back(reinterpret_cast<std::uint64_t>(memory.data()));
  }
  launch.arguments.push_back(7);
  launch.arguments.push_back(0x3fc00000);  // 1.5
  testing::interpret(kernel, launch, nullptr);
  return outputs;
}

// If `holds` is false, prints the kernel and `wrong`, and ends the process.
void require(bool holds, const Kernel& kernel, const std::string& wrong) {
  if (holds) return;
  std::fprintf(stderr, "%s\n%s\n", text(kernel).c_str(), wrong.c_str());
  __builtin_trap();
}

// Whether the kernel converts floats to integers: the result for a float out of range depends on the device.
bool makes_whole_numbers_of_floats(const Kernel& kernel) {
  return std::ranges::any_of(kernel.body, [&](const auto& one) {
    return one.code == compile::kernel::Code::convert && !ir::is_floating(one.type) &&
           ir::is_floating(kernel.body[static_cast<std::size_t>(one.operands[0])].type);
  });
}

// Checks the legal form for a device without 8 and 16 bit integers, and, if not `has_int64`, without 64 bit integers,
// which f64 needs. `expected`: the kernel's results; null: not run.
void require_legal(const Kernel& kernel, bool has_int64, const Memories* expected) {
  const compile::DeviceFacts facts{
      .multiprocessors = 4, .has_f64 = has_int64, .has_int64 = has_int64, .has_narrow = false};
  const auto legal = legalised(kernel, facts);
  if (!legal.ok()) {
    require(!has_int64 && legal.status().code() == StatusCode::unimplemented, kernel, legal.status().to_string());
    return;
  }
  const auto checked = check(*legal);
  require(checked.ok(), kernel, "legal form: " + checked.to_string());
  if (!expected) return;
  if (testing::has_spirv_val()) {
    const auto said = testing::validate(compile::print_spirv(*legal, facts));
    require(said.empty(), *legal, said);
  }
  if (!makes_whole_numbers_of_floats(kernel))
    require(run(*legal, testing::ThreadOrder::shuffled) == *expected, kernel, "another result in its legal form");
}

void require_valid(const Kernel& kernel, int device) {
  if (!testing::has_spirv_val()) return;
  compile::DeviceFacts facts{.multiprocessors = 4, .shared_bytes = 32768};
  facts.keeps_nan_f32 = facts.keeps_nan_f64 = device != 0;
  const auto words = compile::print_spirv(device == 1 ? unrolled(kernel) : kernel, facts);
  const auto said = testing::validate(words);
  require(said.empty(), kernel, said);
}

}  // namespace
}  // namespace burn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace burn::fuzz;
  Input in(data, size, 16);
  const auto change = in.byte(), device = in.byte();
  auto kernel = Program(in).make();
  require(check(kernel).ok(), kernel, check(kernel).message());
  try {
    const auto expected = run(kernel, burn::testing::ThreadOrder::forward);
    require(expected == run(kernel, burn::testing::ThreadOrder::shuffled), kernel, "another order of threads");
    require(expected == run(unrolled(kernel), burn::testing::ThreadOrder::backward), kernel, "unrolled");
    require_legal(kernel, device / 4 % 2 == 0, &expected);
  } catch (const std::runtime_error& undefined) {
    require(false, kernel, undefined.what());
  }
  require_valid(kernel, device % 3);
  // Changes one field of an instruction.
  auto& changed = kernel.body[std::size_t{change} * 256 % kernel.body.size()];
  switch (device % 4) {
    case 0:
      changed.operands[change % 3] = device;
      break;
    case 1:
      changed.type = static_cast<burn::ir::DType>(change % 12);
      break;
    case 2:
      changed.number = device / 8;
      break;
    default:
      changed.code =
          static_cast<burn::compile::kernel::Code>(change % (static_cast<int>(burn::compile::kernel::Code::abs) + 1));
      break;
  }
  if (!check(kernel).ok()) return 0;
  if (burn::compile::print_cuda(kernel).text.empty()) std::abort();
  // SPIR-V has no functions of devices.
  const bool calls =
      std::ranges::any_of(kernel.body, [](const auto& one) { return one.code == burn::compile::kernel::Code::call; });
  if (!calls) require_valid(kernel, 2);
  if (!calls) require_legal(kernel, false, nullptr);
  return 0;
}

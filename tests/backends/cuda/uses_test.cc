// What commands say of the memory that they use: nothing is read that no command before it has written, results come
// out written, and what is given is never written but where an output takes its place.
#include <set>

#include <gtest/gtest.h>

#include "backends/cuda/runtime/bound_run.h"
#include "backends/cuda/lower/target.h"
#include "compile/rewrite/simplify.h"
#include "ir/catalogue.h"
#include "tests/backends/random_program.h"
#include "tests/ops/samples.h"

namespace burn::testing {
namespace {

namespace cuda = backends::cuda;
using Base = cuda::Address::Base;

// Nothing where the program wants a library, which is not there.
std::optional<cuda::Lowered> lower(cuda::Device& device, const ir::Program& program, bool fusion) {
  const auto simple = compile::simplify(program, true);
  compile::PlanOptions options;
  options.fusion = fusion;
  auto lowered = cuda::lower_program(device, simple, compile::make_plan(simple, options));
  if (!lowered.ok()) return std::nullopt;
  return *std::move(lowered);
}

// Addresses that a launch is given, as the kernel gets them.
std::vector<cuda::Address> arguments_of(const cuda::Command& command) {
  std::vector<cuda::Address> all;
  if (const auto* launch = std::get_if<cuda::Launch>(&command.what)) {
    for (const auto& [offset, address] : launch->addresses) all.push_back(address);
  } else if (const auto* fill = std::get_if<cuda::Fill>(&command.what)) {
    all.push_back(fill->where);
  }
  std::erase_if(all, [](const cuda::Address& address) { return address.base == Base::bindings; });
  return all;
}

void check(const cuda::Lowered& lowered, const ir::Program& program) {
  std::set<std::pair<Base, std::int32_t>> written;
  ASSERT_EQ(lowered.block_bytes.size(), lowered.arena.offsets.size());
  for (const auto& command : lowered.commands) {
    std::set<std::pair<Base, std::int32_t>> used;
    for (const auto& use : command.uses) {
      const auto place = std::pair(use.where.base, use.where.index);
      used.insert(place);
      if (use.is_written) {
        ASSERT_NE(use.where.base, Base::input);
        written.insert(place);
      }
    }
    for (const auto& use : command.uses) {
      const auto index = static_cast<std::size_t>(use.where.index);
      const auto bytes = use.where.base == Base::block    ? lowered.block_bytes[index]
                         : use.where.base == Base::output ? program.type_of(program.outputs[index]).num_bytes()
                                                          : 0;
      if (bytes == 0) continue;  // nothing of it is written either
      ASSERT_TRUE(written.contains({use.where.base, use.where.index})) << "read before it is written";
    }
    for (const auto& address : arguments_of(command)) ASSERT_TRUE(used.contains({address.base, address.index}));
  }
}

TEST(CommandUses, OfEveryOpAreWrittenBeforeTheyAreRead) {
  const auto device = cuda::Device::for_compiling("sm_90");
  std::size_t checked = 0;
  for (const auto& entry : ir::catalogue()) {
    for (const auto& sample : samples(entry.name)) {
      for (const bool fusion : {true, false}) {
        SCOPED_TRACE(std::string(entry.name) + " " + sample.name);
        const auto lowered = lower(*device, sample.program, fusion);
        if (!lowered) continue;
        ++checked;
        check(*lowered, sample.program);
        std::set<std::int32_t> outputs;
        for (const auto& command : lowered->commands) {
          for (const auto& use : command.uses) {
            if (use.is_written && use.where.base == Base::output) outputs.insert(use.where.index);
          }
        }
        for (std::size_t k = 0; k < lowered->outputs.size(); ++k) {
          const auto bytes = sample.program.type_of(sample.program.outputs[k]).num_bytes();
          if (lowered->outputs[k].shares_input >= 0 || bytes == 0) continue;
          EXPECT_TRUE(outputs.contains(static_cast<std::int32_t>(k))) << "output " << k << " is not written";
        }
      }
    }
  }
  EXPECT_GT(checked, 1000u);
}

// An update of a parameter and its moment by one kernel, which could write either over the other.
TEST(OutputPlaces, OfGuardedValuesAreThoseOfWhatTheyReplace) {
  ir::ProgramBuilder builder;
  const ir::TensorType type{ir::DType::f32, {64, 64}};
  const auto add = [&](const ir::Op& op, std::vector<ir::Ref> operands) { return *builder.add(op, operands); };
  const auto call = [&](ir::PointwiseFn fn, std::vector<ir::Ref> operands) {
    return add(ir::Pointwise{fn}, std::move(operands));
  };
  const auto param = builder.add_input(type), moment = builder.add_input(type), gradient = builder.add_input(type);
  builder.donate(0);
  builder.donate(1);
  const auto ok = add(ir::Expand{{64, 64}}, {add(ir::Commit{}, {})});
  const auto next_moment = call(ir::PointwiseFn::add, {moment, gradient});
  const auto next_param = call(ir::PointwiseFn::sub, {param, next_moment});
  const auto program = builder.finish({call(ir::PointwiseFn::select, {ok, next_param, param}),
                                       call(ir::PointwiseFn::select, {ok, next_moment, moment})});
  const auto device = cuda::Device::for_compiling("sm_90");
  const auto lowered = lower(*device, program, true);
  ASSERT_TRUE(lowered.has_value());
  EXPECT_EQ(lowered->commands.size(), 1u) << "without a check the Commit is a word that the host sets";
  EXPECT_EQ(lowered->outputs[0].reuses_input, 0);
  EXPECT_EQ(lowered->outputs[1].reuses_input, 1);
}

// Programs with their memory: inputs, outputs (some of them in an input's place) and the arena apart from each other.
cuda::RunMemory memory_for(const cuda::Lowered& lowered, const ir::Program& program) {
  cuda::RunMemory memory;
  CUdeviceptr next = 1 << 20;
  const auto take = [&](std::uint64_t bytes) {
    const auto at = next;
    next += (bytes + 511) / 512 * 512;
    return at;
  };
  memory.arena = take(lowered.arena.bytes);
  memory.failures = take(16 * lowered.checks.size());
  memory.bindings = take(4096);
  for (const auto& input : program.inputs)
    memory.inputs.push_back({take(input.type.num_bytes()), input.type.num_bytes()});
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    const auto& source = lowered.outputs[k];
    const auto bytes = program.type_of(program.outputs[k]).num_bytes();
    if (source.shares_input >= 0)
      memory.outputs.emplace_back();
    else if (source.reuses_input >= 0)
      memory.outputs.push_back({memory.inputs[static_cast<std::size_t>(source.reuses_input)].address, bytes});
    else
      memory.outputs.push_back({take(bytes), bytes});
  }
  return memory;
}

// Whether each two commands that meet in memory, one of them writing, come one after the other.
void check_order(const cuda::Lowered& lowered, const cuda::RunMemory& memory, std::size_t& longest) {
  const cuda::BoundRun run(lowered, memory);
  const auto uses = run.uses();
  const auto predecessors = compile::order_commands(uses);
  const auto n = uses.size();
  std::vector<std::vector<bool>> after(n, std::vector<bool>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (const auto other : predecessors[i]) {
      const auto j = static_cast<std::size_t>(other);
      after[i][j] = true;
      for (std::size_t k = 0; k < j; ++k) after[i][k] = after[i][k] || after[j][k];
    }
  }
  const auto meet = [&](const cuda::Use& a, const cuda::Use& b) {
    const auto begin = [&](const cuda::Use& use) {
      auto address = use.where;
      if (address.base != Base::failures) address.offset = 0;
      return run.bindings().at(address);
    };
    const auto end = [&](const cuda::Use& use) {
      const auto index = static_cast<std::size_t>(use.where.index);
      const auto bytes = use.where.base == Base::block    ? lowered.block_bytes[index]
                         : use.where.base == Base::input  ? memory.inputs[index].bytes
                         : use.where.base == Base::output ? memory.outputs[index].bytes
                                                          : 16;
      return begin(use) + bytes;
    };
    return (a.is_written || b.is_written) && std::max(begin(a), begin(b)) < std::min(end(a), end(b));
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      for (const auto& a : lowered.commands[i].uses) {
        for (const auto& b : lowered.commands[j].uses) {
          if (!meet(a, b)) continue;
          ASSERT_TRUE(after[i][j]) << i << " does not wait for " << j;
        }
      }
    }
  }
  longest += static_cast<std::size_t>(compile::critical_path(predecessors, std::vector<double>(n, 1)));
}

TEST(CommandUses, OfRandomProgramsOrderThem) {
  const auto device = cuda::Device::for_compiling("sm_90");
  std::size_t commands = 0, longest = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    auto program = random_program(seed).program;
    for (auto& input : program.inputs) input.donated = seed % 2 == 0;
    const auto simple = compile::simplify(program, true);
    compile::PlanOptions options;
    options.fusion = seed % 3 != 0;
    const auto lowered = cuda::lower_program(*device, simple, compile::make_plan(simple, options));
    if (!lowered.ok()) continue;  // a product, which a library is asked for
    check(*lowered, simple);
    check_order(*lowered, memory_for(*lowered, simple), longest);
    commands += lowered->commands.size();
  }
  EXPECT_GT(commands, 500u);
  EXPECT_LT(longest, commands);  // some need not wait
}

}  // namespace
}  // namespace burn::testing

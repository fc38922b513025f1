#include "tests/compile/kernel/interpreted_device.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <stdexcept>

#include "compile/codegen/alternatives.h"
#include "compile/codegen/kernel/check.h"
#include "compile/codegen/kernel/legalise.h"
#include "compile/codegen/kernel/unroll.h"
#include "compile/codegen/kernels/kernel_target.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/lower/lower_program.h"
#include "compile/rewrite/decompose.h"
#include "compile/rewrite/simplify.h"

namespace burn::testing {
namespace {

using compile::Address;
using Bytes = std::vector<std::uint64_t>;  // aligned to 8

Bytes bytes_of(std::size_t count) { return Bytes((count + 7) / 8 + 1); }

std::uint64_t address_of(const Bytes& bytes) { return reinterpret_cast<std::uint64_t>(bytes.data()); }

class Run {
 public:
  Run(const compile::Lowered& lowered, const ir::Program& program, std::span<const reference::Tensor> inputs,
      const reference::Bindings& bindings, const compile::DeviceFacts& facts)
      : facts_(facts),
        lowered_(lowered),
        program_(program),
        arena_(bytes_of(lowered.arena.bytes)),
        failures_(lowered.checks.size() * 2 + 1) {
    for (const auto& input : inputs) {
      const auto content = reference::to_bytes(input);
      inputs_.push_back(bytes_of(content.size()));
      std::ranges::copy(std::as_bytes(std::span{content}), reinterpret_cast<std::byte*>(inputs_.back().data()));
      add(inputs_.back(), content.size());
    }
    for (std::size_t k = 0; k < program.outputs.size(); ++k) {
      const auto bytes = program.type_of(program.outputs[k]).num_bytes();
      outputs_.push_back(bytes_of(bytes));
      add(outputs_.back(), bytes);
    }
    std::memset(arena_.data(), 0xa5, arena_.size() * 8);
    add(arena_, lowered.arena.bytes);
    memory_.add(failures_.data(), failures_.size() * 8, true);
    bind(bindings);
  }

  std::uint64_t at(const Address& address) const {
    const auto offset = static_cast<std::uint64_t>(address.offset);
    const auto index = static_cast<std::size_t>(address.index);
    switch (address.base) {
      case Address::Base::input:
        return address_of(inputs_[index]) + offset;
      case Address::Base::output:
        return output(index) + offset;
      case Address::Base::block:
        return address_of(arena_) + static_cast<std::uint64_t>(lowered_.arena.offsets[index]) + offset;
      case Address::Base::bindings:
        return address_of(words_) + offset;
      case Address::Base::failures:
        return address_of(failures_) + offset;
      case Address::Base::none:
        break;
    }
    return 0;
  }

  void launch(const compile::Launch& launch, ThreadOrder order) {
    const auto& kernel = *lowered_.sources[launch.source].kernel;
    std::vector<std::byte> parameters = launch.parameters;
    for (const auto& [offset, address] : launch.addresses) {
      const auto value = at(address);
      std::memcpy(parameters.data() + offset, &value, sizeof value);
    }
    KernelLaunch now{.blocks = launch.grid.blocks,
                     .blocks_y = launch.grid.blocks_y,
                     .arguments = {},
                     .order = order,
                     .subgroup_size = facts_.subgroup_size};
    for (const auto offset : launch.offsets) {
      std::uint64_t word = 0;
      std::memcpy(&word, parameters.data() + offset, sizeof word);
      now.arguments.push_back(word);
    }
    const auto legal = compile::kernel::legalised(kernel, facts_);
    if (!legal.ok()) throw std::runtime_error(legal.status().to_string());
    if (const auto checked = compile::kernel::check(*legal); !checked.ok())
      throw std::runtime_error(checked.to_string() + "\n" + compile::kernel::text(*legal));
    interpret(facts_.has_limited_loops ? compile::kernel::unrolled(*legal) : *legal, now, &memory_);
  }

  void fill(const compile::Fill& fill) {
    std::memset(reinterpret_cast<void*>(at(fill.where)), 0, fill.bytes);  // NOLINT(performance-no-int-to-ptr)
  }

  std::vector<reference::Tensor> outputs() const {
    std::vector<reference::Tensor> all;
    for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
      const auto& type = program_.type_of(program_.outputs[k]);
      const auto* begin = reinterpret_cast<const std::byte*>(output(k));  // NOLINT(performance-no-int-to-ptr)
      all.push_back(reference::from_bytes(type, {begin, type.num_bytes()}));
    }
    return all;
  }

  bool found_wrong_index() const {
    for (std::size_t c = 0; c < lowered_.checks.size(); ++c) {
      if (failures_[2 * c + 1] != 0) return true;
    }
    return false;
  }

 private:
  void add(const Bytes& bytes, std::size_t count) { memory_.add(bytes.data(), std::max<std::size_t>(count, 1)); }

  std::uint64_t output(std::size_t k) const {
    const auto& source = lowered_.outputs[k];
    const auto input = source.shares_input >= 0 ? source.shares_input : source.reuses_input;
    return input >= 0 ? address_of(inputs_[static_cast<std::size_t>(input)]) : address_of(outputs_[k]);
  }

  // Seed, offset, the scalars as elements of their dtype, and a word for each Commit: all inputs are there.
  void bind(const reference::Bindings& bindings) {
    words_ = {bindings.seed, bindings.random_offset};
    words_.resize(2 + static_cast<std::size_t>(program_.scalar_count));
    for (const auto& node : program_.nodes) {
      const auto* scalar = std::get_if<ir::Scalar>(&node.op);
      if (!scalar) continue;
      reference::Tensor one(ir::TensorType{scalar->dtype, {}});
      one.set_bits(0, bindings.scalars[static_cast<std::size_t>(scalar->slot)]);
      const auto element = reference::to_bytes(one);
      std::memcpy(&words_[2 + static_cast<std::size_t>(scalar->slot)], element.data(), element.size());
    }
    words_.resize(words_.size() + lowered_.commits.size(), 1);
    memory_.add(words_.data(), words_.size() * 8);
  }

  const compile::DeviceFacts& facts_;
  const compile::Lowered& lowered_;
  const ir::Program& program_;
  std::vector<Bytes> inputs_, outputs_;
  Bytes arena_, failures_, words_;
  KernelMemory memory_;
};

}  // namespace

namespace {

struct LoweredProgram {
  ir::Program program;  // simplified
  compile::Lowered lowered;
  std::vector<std::string> alternatives;
};

// Takes the alternative that it is told to.
class ChoosingTarget final : public compile::kernels::KernelTarget {
 public:
  ChoosingTarget(const compile::DeviceFacts& facts, compile::GroupMemo& groups, std::size_t choice)
      : KernelTarget(facts, groups), choice_(choice) {}

  std::size_t fastest(const std::string&, std::span<const compile::View>, std::span<const compile::View>,
                      std::span<const compile::Alternative> alternatives) override {
    for (const auto& alternative : alternatives) names_.push_back(alternative.name);
    return choice_ < alternatives.size() ? choice_ : 0;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  const std::size_t choice_;
  std::vector<std::string> names_;
};

Result<LoweredProgram> lower(const ir::Program& program, const compile::DeviceFacts& facts, bool fusion,
                             std::size_t alternative = 0) {
  const compile::Supports supports = [&](const ir::Op& op, std::span<const ir::TensorType* const> operands) -> Status {
    return compile::kernels::has_kernels(op, operands, facts) ? ok_status() : unimplemented(std::string(ir::name(op)));
  };
  BURN_TRY(const auto whole, compile::decompose(std::make_shared<const ir::Program>(program), supports));
  auto simple = compile::simplify(*whole, true);
  const auto is_f64 = [](const auto& one) { return one.type.dtype == ir::DType::f64; };
  if (!facts.has_f64 && (std::ranges::any_of(simple.inputs, is_f64) || std::ranges::any_of(simple.values, is_f64)))
    return unimplemented("the device has no f64");
  compile::PlanOptions options;
  options.fusion = fusion;
  options.product_group_bytes = fusion ? std::uint64_t{1} << 30 : 0;
  const auto plan = compile::make_plan(simple, options);
  compile::GroupMemo memo;
  ChoosingTarget target(facts, memo, alternative);
  BURN_TRY(auto lowered, compile::lower_program(target, simple, plan));
  return LoweredProgram{std::move(simple), std::move(lowered), target.names()};
}

}  // namespace

Result<std::vector<KernelPtr>> kernels_of(const ir::Program& program, const compile::DeviceFacts& facts, bool fusion) {
  BURN_TRY(const auto made, lower(program, facts, fusion));
  std::vector<KernelPtr> kernels;
  kernels.reserve(made.lowered.sources.size());
  for (const auto& source : made.lowered.sources) kernels.push_back(source.kernel);
  return kernels;
}

Result<InterpretedRun> run_interpreted(const ir::Program& program, std::span<const reference::Tensor> inputs,
                                       const reference::Bindings& bindings, const compile::DeviceFacts& facts,
                                       bool fusion, ThreadOrder order, std::size_t alternative) {
  BURN_TRY(const auto made, lower(program, facts, fusion, alternative));
  const auto& [simple, lowered, alternatives] = made;
  InterpretedRun result;
  result.alternatives = alternatives;
  for (const auto& source : lowered.sources) result.kernels.push_back(source.kernel);
  Run run(lowered, simple, inputs, bindings, facts);
  for (const auto& command : lowered.commands) {
    if (const auto* launch = std::get_if<compile::Launch>(&command.what))
      run.launch(*launch, order);
    else if (const auto* fill = std::get_if<compile::Fill>(&command.what))
      run.fill(*fill);
    else
      return internal_error("a call of a library");
  }
  result.outputs = run.outputs();
  result.found_wrong_index = run.found_wrong_index();
  return result;
}

}  // namespace burn::testing

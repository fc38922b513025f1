#include "backends/vulkan/runtime/vulkan_executable.h"

#include <algorithm>

#include <fmt/format.h>

#include "backends/run_args.h"
#include "backends/vulkan/device/kernel_times.h"
#include "backends/vulkan/device/memory.h"
#include "backends/vulkan/device/pipelines.h"
#include "backends/vulkan/runtime/timed_target.h"
#include "base/settings.h"
#include "compile/lower/hazards.h"
#include "compile/lower/lower_program.h"
#include "ir/node_errors.h"

namespace burn::backends::vulkan {
namespace {

using compile::Address;
using compile::MemoryUse;

compile::PlanOptions plan_options() {
  auto options = compile::PlanOptions::from_environment();
  options.limits.max_row_size = 1 << 18;
  // A larger operand is read from memory at full speed by a kernel of its own; inside a product it keeps the matrix
  // units waiting.
  options.product_group_bytes = std::uint64_t{4} << 20;
  return options;
}

// The memory that commands use, as fictitious addresses that differ for different memory, so that levels are the same
// for every run. An input and an output that may be written over it have the same address.
class UsesOfProgram {
 public:
  explicit UsesOfProgram(const compile::Lowered& lowered, const ir::Program& program)
      : lowered_(lowered), program_(program) {}

  std::vector<MemoryUse> of(const compile::Command& command) const {
    std::vector<MemoryUse> uses;
    for (const auto& use : command.uses) {
      const auto where = memory_of(use.where);
      if (where.end > where.begin) uses.push_back({where.begin, where.end, use.is_written});
    }
    return uses;
  }

 private:
  static constexpr std::uint64_t kApart = std::uint64_t{1} << 44;  // bytes: more than any buffer has

  MemoryUse memory_of(const Address& address) const {
    const auto index = static_cast<std::uint64_t>(address.index);
    const auto inputs = static_cast<std::uint64_t>(program_.inputs.size());
    switch (address.base) {
      case Address::Base::input:
        return {(1 + index) * kApart, (1 + index) * kApart + 1};
      case Address::Base::output: {
        const auto reused = lowered_.outputs[static_cast<std::size_t>(index)].reuses_input;
        const auto place = reused >= 0 ? static_cast<std::uint64_t>(reused) : inputs + index;
        return {(1 + place) * kApart, (1 + place) * kApart + 1};
      }
      case Address::Base::block: {
        const auto begin = static_cast<std::uint64_t>(lowered_.arena.offsets[static_cast<std::size_t>(index)]);
        return {begin, begin + lowered_.block_bytes[static_cast<std::size_t>(index)]};
      }
      case Address::Base::failures: {
        const auto begin = (1 + inputs + program_.outputs.size()) * kApart + static_cast<std::uint64_t>(address.offset);
        return {begin, begin + kReportBytes};
      }
      case Address::Base::bindings:
      case Address::Base::none:
        break;
    }
    return {};
  }

  const compile::Lowered& lowered_;
  const ir::Program& program_;
};

// The level of each command: one more than the highest level of the commands that it waits for.
std::vector<std::size_t> levels_of(std::span<const compile::Command> commands, const UsesOfProgram& uses) {
  constexpr std::size_t kMax = 4096;  // commands: finding the order of more takes longer than running them one by one
  std::vector<std::size_t> levels(commands.size());
  if (levels.size() > kMax || is_off(Setting::graph_branches)) {
    for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = i;
    return levels;
  }
  std::vector<std::vector<MemoryUse>> all;
  all.reserve(commands.size());
  for (const auto& command : commands) all.push_back(uses.of(command));
  const auto order = compile::order_commands(all);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    for (const auto before : order[i]) levels[i] = std::max(levels[i], levels[static_cast<std::size_t>(before)] + 1);
  }
  return levels;
}

// "MatMul f32[4,8]"; for a group, its ops and the largest type.
std::vector<std::string> names_of_steps(const compile::Plan& plan, const ir::Program& program) {
  std::vector<std::string> names;
  for (const auto& step : plan.steps) {
    std::vector<std::int32_t> nodes{step.node};
    if (step.group != compile::PlanStep::kSingle) {
      nodes.clear();
      for (const auto& member : plan.groups[static_cast<std::size_t>(step.group)].members) nodes.push_back(member.node);
    } else if (step.product != compile::PlanStep::kNone) {
      const auto& product = plan.products[static_cast<std::size_t>(step.product)];
      nodes = {product.product};
      for (const auto& member : plan.groups[static_cast<std::size_t>(product.group)].members)
        nodes.push_back(member.node);
    }
    std::string name;
    ir::TensorType largest;
    for (const auto k : nodes) {
      const auto& node = program.nodes[static_cast<std::size_t>(k)];
      name += (name.empty() ? "" : " ") + ir::to_string(node.op);
      const auto& type = program.type_of(node);
      if (largest.shape.rank() == 0 || type.num_bytes() > largest.num_bytes()) largest = type;
    }
    constexpr std::size_t kMaxName = 160;
    if (name.size() > kMaxName) name.replace(kMaxName, name.npos, "...");
    names.push_back(name + " " + ir::to_string(largest));
  }
  return names;
}

}  // namespace

VulkanExecutable::VulkanExecutable(const ir::Program& program, std::shared_ptr<Device> device)
    : DeviceProgram(program, plan_options()), device_(std::move(device)), arguments_(*device_) {}

Result<std::unique_ptr<VulkanExecutable>> VulkanExecutable::make(const ir::Program& program,
                                                                 std::shared_ptr<Device> device) {
  std::unique_ptr<VulkanExecutable> made(new VulkanExecutable(program, std::move(device)));
  BURN_RETURN_IF_ERROR(made->check_types());
  const auto plan = compile::make_plan(made->program(), made->options());
  if (setting(Setting::trace).find("plan") != std::string::npos)
    fmt::print(stderr, "{}", to_string(plan, made->program()));
  if (KernelTimes::are_wanted()) made->names_ = names_of_steps(plan, made->program());
  TimedTarget target(made->device_);
  BURN_TRY(auto lowered, compile::lower_program(target, made->program(), plan));
  made->set_lowered(std::move(lowered));
  BURN_RETURN_IF_ERROR(made->lay_out());
  return made;
}

std::size_t VulkanExecutable::dispatches() const {
  std::size_t count = 0;
  for (const auto& part : parts_) {
    for (const auto& level : part.levels) count += level.size();
  }
  return count;
}

std::string VulkanExecutable::name_of_step(std::int32_t step) const {
  const auto k = static_cast<std::size_t>(step);
  return k < names_.size() ? names_[k] : std::string{};
}

Status VulkanExecutable::check_types() const {
  if (device_->facts().has_f64) return {};
  for (const auto& node : program().nodes) {
    const auto types = std::span(program().values).subspan(node.first_value, node.value_count);
    if (std::ranges::none_of(types, [](const ir::NodeResult& made) { return made.type.dtype == ir::DType::f64; }))
      continue;
    return ir::at_node(unimplemented(fmt::format("Vulkan: {} has no f64", device_->adapter().name)), node);
  }
  return {};
}

Status VulkanExecutable::lay_out() {
  BURN_RETURN_IF_ERROR(arguments_.open());
  BURN_TRY(const auto kernels, device_->pipelines().of(lowered().sources));
  const UsesOfProgram uses(lowered(), program());
  const std::span<const compile::Command> commands(lowered().commands);
  for (std::size_t begin = 0; begin <= commands.size();) {
    auto& part = parts_.emplace_back();
    auto end = begin;
    for (; end < commands.size() && !part.collective; ++end) {
      const auto* call = std::get_if<compile::LibraryCall>(&commands[end].what);
      const auto* collective = call ? host_collective(*call) : nullptr;
      if (collective) part.collective = *collective;
    }
    const auto here = commands.subspan(begin, end - begin - (part.collective ? 1 : 0));
    const auto levels = levels_of(here, uses);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      if (levels[i] >= part.levels.size()) part.levels.resize(levels[i] + 1);
      BURN_TRY(const auto dispatch, arguments_.add(here[i], kernels));
      part.levels[levels[i]].push_back(dispatch);
    }
    if (!part.collective) break;
    begin = end;
  }
  if (const auto checks = lowered().checks.size(); checks > 0 && !lowered().commits.empty()) {
    const std::uint64_t words = kReportBytes / 8 * checks;
    const std::uint64_t record[] = {0, 0, words};
    const std::pair<std::size_t, Address> from[] = {{0, {Address::Base::failures, 0, 0}}};
    report_copy_ = arguments_.add_system(SystemKernel::copy_words, words, record, from);
  }
  const auto words = static_cast<std::size_t>(program().scalar_count) + 2 + lowered().commits.size();
  table_.bindings = arguments_.bytes();
  table_.failures = table_.bindings + (8 * words + 15) / 16 * 16;
  table_.bytes = table_.failures + (report_copy_ ? kReportBytes * lowered().checks.size() : 0);
  return {};
}

// Checked per run and not when the program is compiled: a run that needs so many blocks needs more memory than there
// is, and should report that.
Status VulkanExecutable::check_grids(const std::vector<bool>& left_out) const {
  for (const auto& [step, why] : arguments_.too_large()) {
    const auto k = static_cast<std::size_t>(step);
    if (k >= left_out.size() || !left_out[k]) return why;
  }
  return {};
}

Status VulkanExecutable::check_args(const RunArgs& args) const {
  return backends::check_args(program(), args, "vulkan", [](const Buffer& buffer) {
    return dynamic_cast<const VulkanBuffer*>(&buffer) != nullptr;
  });
}

}  // namespace burn::backends::vulkan

#include "backends/cpu/executable.h"

#include <exception>
#include <new>

#include <fmt/format.h>

#include "backends/cpu/ops/copy.h"
#include "backends/cpu/parallel.h"

namespace burn::backends::cpu {
namespace {

// "gather: index 12 is outside 0..9 (at model.cc:41)"
Status at_node(const Status& status, const ir::Node& node) {
  const auto site = to_string(node.site);
  return {status.code(), fmt::format("{}: {}{}", ir::name(node.op), status.message(),
                                     site.empty() ? "" : fmt::format(" (at {})", site))};
}

// No exception crosses the backend: what the standard library throws for want of memory becomes a status here.
template <typename Body>
auto without_exceptions(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return resource_exhausted("out of memory");
  } catch (const std::exception& error) {
    return internal_error(error.what());
  }
}

Result<Kernel> prepare(const ir::Program& program, const ir::Node& node) {
  std::vector<const ir::TensorType*> operands;
  for (const auto ref : program.operands_of(node)) operands.push_back(&program.type_of(ref));
  const Signature signature{operands, node.type};
  auto kernel = std::visit([&](const auto& op) { return kernels::prepare(op, signature); }, node.op);
  if (!kernel.ok()) return at_node(kernel.status(), node);
  return kernel;
}

// What a program gives back: row-major from the start of a buffer, which is not much larger than it.
Result<BufferPtr> as_output(Run& run, const Array& x) {
  if (x.starts_its_buffer() && x.is_contiguous() && x.buffer()->size() / 2 <= x.num_bytes())
    return BufferPtr(x.buffer());
  BURN_TRY(auto y, run.allocate(x.type()));
  copy(x, y);
  return BufferPtr(y.buffer());
}

}  // namespace

Result<std::unique_ptr<CpuExecutable>> CpuExecutable::make(std::shared_ptr<const ir::Program> program,
                                                           std::shared_ptr<Pool> pool) {
  using Made = Result<std::unique_ptr<CpuExecutable>>;
  return without_exceptions([&]() -> Made {
    std::unique_ptr<CpuExecutable> made(new CpuExecutable(std::move(program), std::move(pool)));
    made->kernels_.reserve(made->plan_.order.size());
    for (const auto index : made->plan_.order) {
      BURN_TRY(auto kernel, prepare(*made->program_, made->program_->nodes[static_cast<std::size_t>(index)]));
      made->kernels_.push_back(std::move(kernel));
    }
    return made;
  });
}

Result<std::vector<BufferPtr>> CpuExecutable::run(RunArgs args) {
  return without_exceptions([&]() -> Result<std::vector<BufferPtr>> {
    BURN_RETURN_IF_ERROR(check(args));
    const LibraryThreads alone(1);
    return run_checked(args);
  });
}

Status CpuExecutable::check(const RunArgs& args) const {
  if (args.inputs.size() != program_->inputs.size()) {
    return invalid_argument(
        fmt::format("run: {} inputs for a program of {}", args.inputs.size(), program_->inputs.size()));
  }
  if (args.scalars.size() != static_cast<std::size_t>(program_->scalar_count)) {
    return invalid_argument(
        fmt::format("run: {} scalars for a program of {}", args.scalars.size(), program_->scalar_count));
  }
  for (std::size_t i = 0; i < args.inputs.size(); ++i) {
    const auto* buffer = dynamic_cast<const CpuBuffer*>(args.inputs[i].get());
    const auto& type = program_->inputs[i].type;
    if (!buffer) return invalid_argument(fmt::format("run: input {} is no buffer of the cpu backend", i));
    if (buffer->size() < type.num_bytes()) {
      return invalid_argument(
          fmt::format("run: input {} has {} bytes, {} wants {}", i, buffer->size(), to_string(type), type.num_bytes()));
    }
  }
  return {};
}

Result<std::vector<BufferPtr>> CpuExecutable::run_checked(RunArgs& args) const {
  Run run{*pool_, args.scalars, args.seed, args.random_offset};
  std::vector<Array> inputs(args.inputs.size()), nodes(program_->nodes.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto buffer = std::static_pointer_cast<CpuBuffer>(std::move(args.inputs[i]));
    if (plan_.input_last_use[i] != Plan::kUnused) inputs[i] = Array(program_->inputs[i].type, std::move(buffer));
  }
  const auto value = [&](ir::Ref ref) -> Array& {
    return ref.is_input() ? inputs[static_cast<std::size_t>(ref.index())]
                          : nodes[static_cast<std::size_t>(ref.index())];
  };

  std::vector<Array> operands;
  for (std::size_t position = 0; position < kernels_.size(); ++position) {
    const auto index = static_cast<std::size_t>(plan_.order[position]);
    const auto& node = program_->nodes[index];
    const auto refs = program_->operands_of(node);
    for (const auto ref : refs) operands.push_back(value(ref));
    for (const auto ref : refs) {  // from here on, a value at its last use is the kernel's alone
      if (plan_.last_use(ref) == static_cast<std::int32_t>(position)) value(ref) = Array();
    }
    auto result = kernels_[position](run, operands);
    operands.clear();
    if (!result.ok()) return at_node(result.status(), node);
    nodes[index] = *std::move(result);
  }

  std::vector<BufferPtr> outputs;
  outputs.reserve(program_->outputs.size());
  for (const auto ref : program_->outputs) {
    BURN_TRY(auto output, as_output(run, value(ref)));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace burn::backends::cpu

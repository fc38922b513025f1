#include "backends/cpu/executable.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include <fmt/format.h>

#include "backends/cpu/ops/copy.h"
#include "backends/cpu/parallel.h"
#include "backends/plan/simplify.h"

namespace burn::backends::cpu {
namespace {

// "gather: index 12 is outside 0..9 (at model.cc:41)"
Status at_node(const Status& status, const ir::Node& node) {
  const auto site = to_string(node.site);
  return {status.code(), fmt::format("{}: {}{}", ir::name(node.op), status.message(),
                                     site.empty() ? "" : fmt::format(" (at {})", site))};
}

bool traces_plans() {
  const char* wanted = std::getenv("BURN_TRACE");  // NOLINT(concurrency-mt-unsafe): nobody writes the environment
  return wanted && std::string_view(wanted).find("plan") != std::string_view::npos;
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

// What a program gives back: row-major from the start of a buffer, which is not much larger than it.
Result<BufferPtr> as_output(Run& run, const Array& x) {
  if (x.starts_its_buffer() && x.is_contiguous() && x.buffer()->size() / 2 <= x.num_bytes())
    return BufferPtr(x.buffer());
  BURN_TRY(auto y, run.allocate(x.type()));
  copy(x, y);
  return BufferPtr(y.buffer());
}

}  // namespace

CpuExecutable::CpuExecutable(const ir::Program& program, std::shared_ptr<Pool> pool)
    : program_(simplify(program, options_.merge_equal)), pool_(std::move(pool)), plan_(make_plan(program_, options_)) {}

Result<std::unique_ptr<CpuExecutable>> CpuExecutable::make(std::shared_ptr<const ir::Program> program,
                                                           std::shared_ptr<Pool> pool) {
  using Made = Result<std::unique_ptr<CpuExecutable>>;
  return without_exceptions([&]() -> Made {
    std::unique_ptr<CpuExecutable> made(new CpuExecutable(*program, std::move(pool)));
    made->stages_.reserve(made->plan_.steps.size());
    for (const auto& step : made->plan_.steps) {
      BURN_TRY(auto stage, made->prepare(step));
      made->stages_.push_back(std::move(stage));
    }
    made->find_neighbours();
    if (traces_plans()) fmt::print(stderr, "{}", to_string(made->plan_, made->program_));
    return made;
  });
}

// Fused steps that follow each other and read nothing of each other run in one pass.
void CpuExecutable::find_neighbours() {
  constexpr std::size_t kMost = 64;
  std::vector<std::size_t> step_of(program_.nodes.size());
  for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
    for (const auto n : plan_.steps[s].results) step_of[static_cast<std::size_t>(n)] = s;
  }
  for (std::size_t first = 0; first < stages_.size(); first += stages_[first].together) {
    if (!stages_[first].fused) continue;
    const auto is_free = [&](const Step& step) {
      return std::ranges::all_of(step.reads, [&](ir::Ref ref) {
        return ref.is_input() || step_of[static_cast<std::size_t>(ref.index())] < first;
      });
    };
    auto end = first + 1;
    while (end < stages_.size() && end - first < kMost && stages_[end].fused && is_free(plan_.steps[end])) ++end;
    stages_[first].together = end - first;
  }
}

Result<CpuExecutable::Stage> CpuExecutable::prepare(const Step& step) const {
  if (step.group != Step::kSingle) {
    const auto& group = plan_.groups[static_cast<std::size_t>(step.group)];
    auto code = compile_group(program_, group, step);
    if (!code.ok()) return at_node(code.status(), program_.nodes[static_cast<std::size_t>(group.members[0].node)]);
    std::vector<ir::TensorType> types;
    for (const auto n : step.results) types.push_back(program_.nodes[static_cast<std::size_t>(n)].type);
    return Stage{.fused = FusedKernel(*std::move(code), std::move(types))};
  }
  const auto& node = program_.nodes[static_cast<std::size_t>(step.results[0])];
  std::vector<const ir::TensorType*> operands;
  for (const auto ref : step.reads) operands.push_back(&program_.type_of(ref));
  const Signature signature{operands, node.type};
  auto kernel = std::visit([&](const auto& op) { return kernels::prepare(op, signature); }, node.op);
  if (!kernel.ok()) return at_node(kernel.status(), node);
  return Stage{.kernel = *std::move(kernel)};
}

Result<std::vector<BufferPtr>> CpuExecutable::run(RunArgs args) {
  return without_exceptions([&]() -> Result<std::vector<BufferPtr>> {
    BURN_RETURN_IF_ERROR(check(args));
    const LibraryThreads alone(1);
    return run_checked(args);
  });
}

Status CpuExecutable::check(const RunArgs& args) const {
  if (args.inputs.size() != program_.inputs.size()) {
    return invalid_argument(
        fmt::format("run: {} inputs for a program of {}", args.inputs.size(), program_.inputs.size()));
  }
  if (args.scalars.size() != static_cast<std::size_t>(program_.scalar_count)) {
    return invalid_argument(
        fmt::format("run: {} scalars for a program of {}", args.scalars.size(), program_.scalar_count));
  }
  for (std::size_t i = 0; i < args.inputs.size(); ++i) {
    const auto* buffer = dynamic_cast<const CpuBuffer*>(args.inputs[i].get());
    const auto& type = program_.inputs[i].type;
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
  std::vector<Array> inputs(args.inputs.size()), nodes(program_.nodes.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto buffer = std::static_pointer_cast<CpuBuffer>(std::move(args.inputs[i]));
    if (plan_.input_last_use[i] != Plan::kUnused) inputs[i] = Array(program_.inputs[i].type, std::move(buffer));
  }
  const auto value = [&](ir::Ref ref) -> Array& {
    return ref.is_input() ? inputs[static_cast<std::size_t>(ref.index())]
                          : nodes[static_cast<std::size_t>(ref.index())];
  };

  const auto node = [&](std::int32_t n) -> const ir::Node& { return program_.nodes[static_cast<std::size_t>(n)]; };
  // From here on, a value at its last use is the kernel's alone.
  const auto take_operands = [&](std::size_t position) {
    const auto& step = plan_.steps[position];
    std::vector<Array> operands;
    operands.reserve(step.reads.size());
    for (const auto ref : step.reads) operands.push_back(value(ref));
    for (const auto ref : step.reads) {
      if (plan_.last_use(ref) == static_cast<std::int32_t>(position)) value(ref) = Array();
    }
    return operands;
  };
  const auto keep = [&](std::int32_t n, Array result) { nodes[static_cast<std::size_t>(n)] = std::move(result); };

  for (std::size_t position = 0; position < stages_.size();) {
    const auto& stage = stages_[position];
    if (!stage.fused) {
      auto operands = take_operands(position);
      const auto n = plan_.steps[position].results[0];
      auto result = stage.kernel(run, operands);
      if (!result.ok()) return at_node(result.status(), node(n));
      keep(n, *std::move(result));
      ++position;
      continue;
    }
    std::vector<std::vector<Array>> operands;
    std::vector<BoundGroup> groups;
    groups.reserve(stage.together);
    for (auto p = position; p < position + stage.together; ++p) {
      operands.push_back(take_operands(p));
      auto failed = plan_.steps[p].results[0];
      auto bound = stages_[p].fused->bind(run, operands.back(), &failed);
      if (!bound.ok()) return at_node(bound.status(), node(failed));
      groups.push_back(*std::move(bound));
    }
    run_together(groups);
    for (auto& group : groups) {
      const auto& results = plan_.steps[position++].results;
      for (std::size_t i = 0; i < results.size(); ++i) keep(results[i], std::move(group.results[i]));
    }
  }

  std::vector<BufferPtr> outputs;
  outputs.reserve(program_.outputs.size());
  for (const auto ref : program_.outputs) {
    BURN_TRY(auto output, as_output(run, value(ref)));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace burn::backends::cpu

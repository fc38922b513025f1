// Finds the engine that computes a graph.
#include <algorithm>

#include <fmt/format.h>

#include "backends/cuda/libraries/cudnn_graph.h"
#include "backends/cuda/libraries/cudnn_numbers.h"

namespace burn::backends::cuda {
namespace {

// The engine configurations that the heuristics propose, the best first.
Result<std::vector<DnnDescriptor>> configurations(const DnnDescriptor& graph, const DnnTarget& target,
                                                  cudnnBackendHeurMode_t mode) {
  constexpr auto kWhat = "heuristics";
  BURN_TRY(auto heuristics, DnnDescriptor::make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, kWhat));
  BURN_RETURN_IF_ERROR(heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph, kWhat));
  BURN_RETURN_IF_ERROR(heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode, kWhat));
  if (!target.handle()) BURN_RETURN_IF_ERROR(heuristics.set(dnn::kHeuristicsDevice, target.properties(), kWhat));
  BURN_RETURN_IF_ERROR(heuristics.finalize(kWhat));
  std::int64_t count = 0;
  BURN_RETURN_IF_ERROR(
      check_cudnn(cudnn_api().cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
                  "heuristics: how many"));
  std::vector<DnnDescriptor> found;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < count; ++i) {
    BURN_TRY(auto configuration, DnnDescriptor::make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "engine configuration"));
    raw.push_back(configuration.get());
    found.push_back(std::move(configuration));
  }
  if (count == 0) return found;
  std::int64_t given = 0;
  BURN_RETURN_IF_ERROR(
      check_cudnn(cudnn_api().cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &given, raw.data()),
                  "heuristics: results"));
  found.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(given, 0, count)));
  return found;
}

// The engine's number, and whether it declares that its results differ from run to run.
std::string describe_engine(const DnnDescriptor& configuration) {
  auto engine = DnnDescriptor::make(CUDNN_BACKEND_ENGINE_DESCRIPTOR, "engine");
  if (!engine.ok()) return "engine ?";
  auto* raw = engine->get();
  std::int64_t count = 0, index = -1;
  const auto get = [](cudnnBackendDescriptor_t of, auto... what) {
    return cudnn_api().cudnnBackendGetAttribute(of, what...) == CUDNN_STATUS_SUCCESS;
  };
  if (!get(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, std::int64_t{1}, &count,
           static_cast<void*>(&raw)))
    return "engine ?";
  get(raw, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, std::int64_t{1}, &count, static_cast<void*>(&index));
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes{};
  std::int64_t note_count = 0;
  get(raw, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, static_cast<std::int64_t>(notes.size()),
      &note_count, static_cast<void*>(notes.data()));
  const auto end = notes.begin() + std::clamp<std::int64_t>(note_count, 0, static_cast<std::int64_t>(notes.size()));
  const bool differs = std::find(notes.begin(), end, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) != end;
  return fmt::format("engine {}{}", index, differs ? ", not deterministic by its notes" : "");
}

// A mode of the engine heuristics.
struct Mode {
  cudnnBackendHeurMode_t mode;
  const char* name;
};
constexpr Mode kModes[] = {{CUDNN_HEUR_MODE_A, "A"}, {CUDNN_HEUR_MODE_FALLBACK, "fallback"}};

class Refusals {
 public:
  void add(const char* mode, const std::string& why) {
    text_ += fmt::format("{}mode {}: {}", text_.empty() ? "" : "; ", mode, why);
  }
  Status status() const { return unimplemented(text_); }

 private:
  std::string text_;
};

// The headers recommend the description of a handle's device instead; all versions accept handles.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
constexpr auto kGraphHandle = CUDNN_ATTR_OPERATIONGRAPH_HANDLE;
constexpr auto kPlanHandle = CUDNN_ATTR_EXECUTION_PLAN_HANDLE;
#pragma GCC diagnostic pop

struct Finalized {
  DnnDescriptor plan;
  std::size_t workspace = 0;
};

Result<Finalized> finalize_plan(const DnnDescriptor& configuration, const DnnTarget& target) {
  constexpr auto kWhat = "execution plan";
  Finalized made;
  BURN_TRY(made.plan, DnnDescriptor::make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, kWhat));
  BURN_RETURN_IF_ERROR(made.plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration, kWhat));
  BURN_RETURN_IF_ERROR(target.handle() ? made.plan.set(kPlanHandle, CUDNN_TYPE_HANDLE, target.handle(), kWhat)
                                       : made.plan.set(dnn::kPlanDevice, target.properties(), kWhat));
  BURN_RETURN_IF_ERROR(made.plan.finalize(kWhat));
  std::int64_t bytes = 0, count = 0;
  BURN_RETURN_IF_ERROR(
      check_cudnn(cudnn_api().cudnnBackendGetAttribute(made.plan.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                                       CUDNN_TYPE_INT64, 1, &count, &bytes),
                  "execution plan: workspace"));
  made.workspace = static_cast<std::size_t>(bytes);
  return made;
}

}  // namespace

Result<DnnDescriptor> DnnGraph::finished(const DnnTarget& target) const {
  BURN_RETURN_IF_ERROR(status_);
  constexpr auto kWhat = "operation graph";
  std::vector<cudnnBackendDescriptor_t> operations;
  operations.reserve(operations_.size());
  for (const auto& operation : operations_) operations.push_back(operation.get());
  BURN_TRY(auto graph, DnnDescriptor::make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, kWhat));
  BURN_RETURN_IF_ERROR(graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                 std::span<const cudnnBackendDescriptor_t>(operations), kWhat));
  if (target.handle()) BURN_RETURN_IF_ERROR(graph.set(kGraphHandle, CUDNN_TYPE_HANDLE, target.handle(), kWhat));
  BURN_RETURN_IF_ERROR(graph.finalize(kWhat));
  return graph;
}

Status DnnGraph::find_engine(const DnnTarget& target) const {
  BURN_TRY(const auto graph, finished(target));
  Refusals refusals;
  for (const auto& [mode, name] : kModes) {
    const auto found = configurations(graph, target, mode);
    if (found.ok() && !found->empty()) return {};
    refusals.add(name, found.ok() ? "no engine" : found.status().message());
  }
  return refusals.status();
}

Result<std::unique_ptr<DnnPlan>> DnnGraph::plan(const DnnTarget& target) const {
  BURN_TRY(const auto graph, finished(target));
  Refusals refusals;
  for (const auto& [mode, name] : kModes) {
    const auto found = configurations(graph, target, mode);
    if (!found.ok() || found->empty()) {
      refusals.add(name, found.ok() ? "no engine" : found.status().message());
      continue;
    }
    for (const auto& configuration : *found) {
      auto finalized = finalize_plan(configuration, target);
      const auto engine = describe_engine(configuration);
      if (!finalized.ok()) {
        refusals.add(name, engine + ": " + finalized.status().message());
        continue;
      }
      auto made = std::make_unique<DnnPlan>();
      made->plan_ = std::move(finalized->plan);
      made->workspace_ = finalized->workspace;
      made->engine_ = fmt::format("{} (mode {})", engine, name);
      made->ids_ = memory_;
      made->ids_.insert(made->ids_.end(), numbers_.begin(), numbers_.end());
      made->values_ = values_;
      return made;
    }
  }
  return refusals.status();
}

Status DnnPlan::run(cudnnHandle_t handle, std::span<const CUdeviceptr> memory, CUdeviceptr workspace) const {
  constexpr auto kWhat = "variant pack";
  std::vector<const void*> addresses;
  addresses.reserve(ids_.size());
  const auto pointer = [](CUdeviceptr address) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's are numbers
    return reinterpret_cast<const void*>(address);
  };
  for (const auto address : memory) addresses.push_back(pointer(address));
  for (const auto& value : values_)
    addresses.push_back(std::visit([](const auto& number) -> const void* { return &number; }, value));
  BURN_TRY(auto bound, DnnDescriptor::make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, kWhat));
  BURN_RETURN_IF_ERROR(
      bound.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, std::span<const std::int64_t>(ids_), kWhat));
  BURN_RETURN_IF_ERROR(bound.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                                 std::span<const void* const>(addresses), kWhat));
  BURN_RETURN_IF_ERROR(bound.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, pointer(workspace), kWhat));
  BURN_RETURN_IF_ERROR(bound.finalize(kWhat));
  const auto status = cudnn_api().cudnnBackendExecute(handle, plan_.get(), bound.get());
  return status == CUDNN_STATUS_SUCCESS ? Status{} : check_cudnn(status, fmt::format("execute, {}", engine_));
}

}  // namespace burn::backends::cuda

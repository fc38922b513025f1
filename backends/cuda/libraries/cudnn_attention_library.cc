// Which attention problems are supported, and prepared ones.
#include <fmt/format.h>

#include "backends/cuda/libraries/cudnn_attention.h"
#include "base/settings.h"

namespace burn::backends::cuda {
namespace {

const Status& status_of(const Status& status) { return status; }
template <typename T>
Status status_of(const Result<T>& result) {
  return result.status();
}

struct NamedForm {
  AttentionForm form;
  const char* name;
};

// The forms, in the order in which they are tried.
std::vector<NamedForm> forms_for(const AttentionProblem& problem) {
  constexpr int kHasUnified = 91301;
  std::vector<NamedForm> forms{{AttentionForm::composite, "composite"}};
  if (!problem.is_grad && !problem.causal && cudnn_library().version() >= kHasUnified)
    forms.push_back({AttentionForm::unified, "unified"});
  return forms;
}

// The most bytes of scores that a gradient stores, the same as the workspace of convolutions: enough to keep a GPU
// busy.
constexpr std::size_t kMaxScores = std::size_t{256} << 20;

std::size_t rounded_up(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

// The bytes from one batch part to the next, and from one head part to the next, in the order of run().
std::vector<std::pair<std::int64_t, std::int64_t>> steps_between(const AttentionProblem& p,
                                                                 const AttentionProblem& part) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  const auto add = [&](const DnnDims& strides, std::size_t size) {
    const auto bytes = static_cast<std::int64_t>(size);
    steps.emplace_back(strides[0] * part.batch * bytes, strides[1] * part.heads * bytes);
  };
  const auto of_rows = [&](std::int64_t rows, std::int64_t columns) {
    return row_major({p.batch, p.heads, rows, columns});
  };
  const auto element = ir::size_of(p.dtype);
  for (const auto& strides : {p.q, p.k, p.v, p.y}) add(strides, element);
  add(of_rows(p.n, 1), sizeof(float));
  if (p.is_grad) {
    for (const auto& strides : {p.g, p.dq, p.dk, p.dv}) add(strides, element);
  }
  return steps;
}

// Bounds the cache for programs whose shapes never repeat; entries in use have other owners.
template <typename Known>
void make_room(Known& known) {
  constexpr std::size_t kMax = 1024;
  if (known.size() >= kMax) known.clear();
}

// Tries one form after the other; the failure has the messages of all.
template <typename Try>
auto first_form(const AttentionProblem& problem, Try attempt) -> decltype(attempt(NamedForm{})) {
  std::string refusals;
  for (const auto& form : forms_for(problem)) {
    auto made = attempt(form);
    if (made.ok()) return made;
    refusals += fmt::format("{}{}: {}", refusals.empty() ? "" : "; ", form.name, status_of(made).message());
  }
  return unimplemented(fmt::format("{}: {}", to_string(problem), refusals));
}

}  // namespace

Status AttentionLibrary::supports(const AttentionProblem& problem, const std::string& architecture) {
  BURN_RETURN_IF_ERROR(check_attention(problem, cudnn_library().version(), architecture));
  const auto key = to_string(problem);
  const std::lock_guard lock(mutex_);
  if (const auto known = supported_.find(key); known != supported_.end()) return known->second;
  auto status = first_form(problem, [&](const NamedForm& form) {
    const auto graph = attention_graph(problem, form.form).graph;
    const std::lock_guard turn(handle_->mutex);
    return graph.find_engine(DnnTarget(handle_->handle));
  });
  make_room(supported_);
  supported_.emplace(key, status);
  return status;
}

Result<std::shared_ptr<const PreparedAttention>> AttentionLibrary::prepare(const AttentionProblem& problem) {
  const auto key = to_string(problem);
  const std::lock_guard lock(mutex_);
  if (const auto known = prepared_.find(key); known != prepared_.end()) return known->second;
  std::shared_ptr<PreparedAttention> made(new PreparedAttention);
  std::string form_name;
  std::vector<std::size_t> inner_bytes;
  const auto part = bounded_part(problem, kMaxScores);
  BURN_TRY(made->plan_, first_form(part, [&](const NamedForm& form) {
             form_name = form.name;
             const auto [graph, inner] = attention_graph(part, form.form);
             inner_bytes = inner;
             const std::lock_guard turn(handle_->mutex);
             return graph.plan(DnnTarget(handle_->handle));
           }));
  made->handle_ = handle_;
  made->batch_parts_ = problem.batch / part.batch, made->head_parts_ = problem.heads / part.heads;
  made->steps_ = steps_between(problem, part);
  made->workspace_bytes_ = rounded_up(made->plan_->workspace_bytes());
  for (const auto bytes : inner_bytes) {
    made->inner_.push_back(made->workspace_bytes_);
    made->workspace_bytes_ += rounded_up(bytes);
  }
  if (setting(Setting::trace).find("plan") != std::string::npos)
    fmt::print(stderr, "cuDNN {}: {}: {}, {}, {} parts, {} bytes of workspace\n", cudnn_library().version_text(), key,
               form_name, made->plan_->engine(), made->batch_parts_ * made->head_parts_, made->workspace_bytes());
  make_room(prepared_);
  prepared_.emplace(key, made);
  return std::shared_ptr<const PreparedAttention>(std::move(made));
}

Status PreparedAttention::run(std::span<const CUdeviceptr> memory, CUdeviceptr workspace, CUstream stream) const {
  std::vector<CUdeviceptr> part(memory.size());
  for (const auto offset : inner_) part.push_back(workspace + offset);
  const std::lock_guard lock(handle_->mutex);
  BURN_RETURN_IF_ERROR(check_cudnn(cudnn_api().cudnnSetStream(handle_->handle, stream), "stream"));
  for (std::int64_t b = 0; b < batch_parts_; ++b) {
    for (std::int64_t h = 0; h < head_parts_; ++h) {
      for (std::size_t i = 0; i < memory.size(); ++i)
        part[i] = memory[i] + static_cast<CUdeviceptr>(b * steps_[i].first + h * steps_[i].second);
      BURN_RETURN_IF_ERROR(plan_->run(handle_->handle, part, workspace));
    }
  }
  return {};
}

}  // namespace burn::backends::cuda

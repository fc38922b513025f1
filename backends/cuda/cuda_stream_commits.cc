// What a run is given besides its buffers: numbers, and for each Commit whether the inputs that it covers are there.
// And what is left of a run that ends early.
#include <algorithm>
#include <cstring>
#include <set>

#include "backends/cuda/cuda_stream.h"
#include "backends/failures.h"
#include "backends/run_args.h"

namespace burn::backends::cuda {
namespace {

constexpr CUdeviceptr kReportBytes = 16;  // of what a check found: a number and a mark

}  // namespace

CudaStream::Bound CudaStream::bind(const CudaExecutable& executable, const RunArgs& args, CUdeviceptr bindings) {
  Bound bound;
  if (!executable.reads_bindings()) return bound;
  const auto& commits = executable.lowered().commits;
  const auto first_commit = 2 + args.scalars.size();
  bound.words.resize(first_commit + commits.size());
  bound.words[0] = args.seed;
  bound.words[1] = args.random_offset;
  for (const auto& [slot, dtype] : executable.scalars()) {
    const auto scalar = static_cast<std::size_t>(slot);
    bound.words[2 + scalar] = element_of_bits(dtype, args.scalars[scalar]);
  }
  for (std::size_t c = 0; c < commits.size(); ++c) bind_commit(bound, commits[c], args, first_commit + c, bindings);
  return bound;
}

// What is known by now is in the word; what the device has yet to find clears it there.
void CudaStream::bind_commit(Bound& bound, const LoweredCommit& commit, const RunArgs& args, std::size_t word,
                             CUdeviceptr bindings) {
  std::set<const Outcome*> seen;
  bool is_sound = true;
  for (std::size_t i = 0; i < commit.inputs.size() && is_sound; ++i) {
    if (!commit.inputs[i]) continue;
    is_sound = args.failures.empty() || !args.failures[i];
    const auto* const outcome = cuda(args.inputs[i]).outcome.get();
    if (!is_sound || !outcome || !seen.insert(outcome).second) continue;
    for (const auto& [report, check] : outcome->entries()) {
      auto found = report->found();
      if (!found) {
        is_sound = is_sound && !report->failure(check);
        continue;
      }
      const auto reports = reinterpret_cast<CUdeviceptr>(found->bytes().data());
      bound.clears.clear_if_marked(bindings + 8 * word, reports + kReportBytes * check);
      bound.reports.push_back(std::move(found));
    }
  }
  bound.words[word] = is_sound ? 1 : 0;
}

RunResult CudaStream::end_early(const CudaExecutable& executable, const RunArgs& args, const Status& why) {
  const auto& program = executable.program();
  RunResult result;
  result.stopped = why;
  result.outputs.resize(program.outputs.size());
  result.failures.assign(program.outputs.size(), std::make_shared<const Status>(why));
  for (const auto& [k, input, number] : executable.kept()) {
    Result<BufferPtr> buffer = BufferPtr{};
    if (input < 0)
      buffer = filled(program.type_of(program.outputs[k]), *number);
    else if (const auto i = static_cast<std::size_t>(input); !args.failures.empty() && args.failures[i])
      result.failures[k] = args.failures[i];
    else
      buffer = args.inputs[i];
    if (!buffer.ok() || !*buffer) continue;
    result.outputs[k] = *std::move(buffer);
    result.failures[k] = nullptr;
  }
  return result;
}

Result<BufferPtr> CudaStream::filled(const ir::TensorType& type, const ir::Constant& number) {
  const auto element = element_of_bits(number.dtype, static_cast<std::uint64_t>(number.bits()));
  const auto bytes = type.num_bytes();
  if (element != 0) {
    const auto size = ir::size_of(type.dtype);
    std::vector<std::byte> elements(bytes);
    for (std::size_t at = 0; at < bytes; at += size) std::memcpy(elements.data() + at, &element, size);
    return upload(SharedBytes::own(std::move(elements)));
  }
  BURN_TRY(auto buffer, memory_->allocate(bytes));
  if (bytes > 0)
    BURN_RETURN_IF_ERROR(check(driver().cuMemsetD8Async(buffer->address(), 0, bytes, stream_), "cuMemsetD8Async"));
  return BufferPtr(std::move(buffer));
}

}  // namespace burn::backends::cuda

// The bindings of a run: numbers, and for each Commit whether the inputs that it covers are valid.
#include <set>

#include "backends/cuda/runtime/cuda_stream.h"
#include "backends/run_args.h"

namespace burn::backends::cuda {
CudaStream::Bound CudaStream::bind(const CudaExecutable& executable, const RunArgs& args, CUdeviceptr bindings) {
  Bound bound;
  bound.words = executable.binding_words(args);
  if (bound.words.empty()) return bound;
  const auto& commits = executable.lowered().commits;
  const auto first_commit = executable.first_commit_word(args);
  for (std::size_t c = 0; c < commits.size(); ++c) bind_commit(bound, commits[c], args, first_commit + c, bindings);
  return bound;
}

// What is already known is in the word; checks that the device has not done yet clear the word there.
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

}  // namespace burn::backends::cuda

#include "client/record/outbox.h"

#include <utility>

#include "base/error.h"
#include "client/trace_scope.h"

namespace burn::client {
namespace {

// Dropped tensors are released with the next run, or at once if they have this many bytes or are this many.
constexpr std::uint64_t kReleaseAtBytes = std::uint64_t{16} << 20;
constexpr std::size_t kReleaseAtCount = 256;

// The same ops called from other lines are a different program, as errors name the lines.
ir::ProgramHash key_of(const ir::Program& program) { return {program.hash.low ^ program.site_key, program.hash.high}; }

}  // namespace

Status Outbox::define(ir::ProgramBuilder& sealed, proto::Run& run) {
  if (const auto known = programs_.find(key_of(sealed.program()))) {
    run.program = *known;
    sealed.clear();  // keeps its memory for the next program, which is most likely the same one
    return {};
  }
  return define(std::make_shared<const ir::Program>(sealed.take()), run);
}

Status Outbox::define(const std::shared_ptr<const ir::Program>& program, proto::Run& run) {
  if (const auto known = programs_.find(key_of(*program))) {
    run.program = *known;
    return {};
  }
  if (!programs_.is_bounded()) bound_programs();
  auto added = programs_.add(key_of(*program), ir::num_entries(*program));
  run.program = added.id;
  programs_defined_ += 1;
  auto status = session_.define(added.id, program, added.forgotten);
  if (status.ok()) return {};
  programs_.take_back(key_of(*program), std::move(added.forgotten));
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {  // donated inputs, which no run will free now
    if (program->inputs[i].donated) releases_.push_back(run.inputs[i]);
  }
  return status;
}

// Waits for the session's limits only if the table is full.
void Outbox::bound_programs() {
  const auto* info = programs_.is_full() ? &session_.info() : session_.known_info();
  if (info != nullptr) programs_.bound(*info);
}

void Outbox::send(proto::Run run, Status defined, std::size_t outputs) {
  const auto first_output = run.first_output;
  auto status = std::move(defined);
  if (status.ok()) {
    run.release = std::exchange(releases_, {});
    run.trace = TraceScope::current();
    release_bytes_ = 0;
    runs_ += 1;
    status = session_.run(std::move(run));
  }
  if (status.ok()) return;
  // The error is thrown by reads of the results, not here, where an unrelated op may just have been recorded.
  for (std::size_t k = 0; k < outputs; ++k) refused_.emplace(first_output + k, status);
}

void Outbox::release(proto::TensorId id, std::uint64_t bytes) {
  releases_.push_back(id);
  release_bytes_ += bytes;
  if (release_bytes_ >= kReleaseAtBytes || releases_.size() >= kReleaseAtCount) send_releases();
}

void Outbox::send_releases() {
  if (releases_.empty()) return;
  release_bytes_ = 0;
  // Only a broken session refuses this, and it has nothing to release.
  (void)session_.release(std::exchange(releases_, {}));
}

void Outbox::throw_if_refused(proto::TensorId id) const {
  if (const auto found = refused_.find(id); found != refused_.end()) throw Error(found->second);
}

}  // namespace burn::client

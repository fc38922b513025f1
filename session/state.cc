#include "session/state.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "backends/run_args.h"
#include "proto/message.h"
#include "serving/guarded.h"
#include "session/accounts.h"
#include "session/state_errors.h"

namespace burn::session {
namespace {

// Memory of a tensor other than its data: its entry, the buffer object, and rounding up of block sizes.
constexpr std::uint64_t kEntryBytes = 384;
constexpr std::uint64_t kTableStep = 64 * kEntryBytes;

}  // namespace

SessionState::SessionState(std::shared_ptr<Worker> worker, const Quotas& quotas, std::shared_ptr<Budget> budget,
                           SessionStream& stream, SessionGroups& groups)
    : worker_(worker),
      quotas_(quotas),
      budget_(std::move(budget)),
      stream_(stream),
      groups_(groups),
      programs_(std::move(worker), quotas, *budget_) {}

void SessionState::end_groups(const SessionProgram* program, const Status& why) {
  if (!program || !program->ir) return groups_.any_run_failed(why);
  if (program->ir->effect_count == 0) return;
  for (const auto& node : program->ir->nodes) {
    std::visit(
        [&](const auto& op) {
          if constexpr (requires { op.group; }) groups_.run_failed(op.group, why);
        },
        node.op);
  }
}

// --- the table -------------------------------------------------------------------------------------------------------

Status SessionState::check_room(std::size_t more) {
  if (more > quotas_.tensors || tensors_.size() > quotas_.tensors - more)
    return resource_exhausted(fmt::format("a session may not hold more than {} tensors", quotas_.tensors));
  return grow_table(entries() + more);
}

Status SessionState::grow_table(std::size_t entries) {
  const auto wanted = entries * kEntryBytes;
  if (wanted <= table_.bytes()) return {};
  return table_.resize(*budget_, (wanted + kTableStep - 1) / kTableStep * kTableStep);
}

void SessionState::shrink_table() {
  const auto wanted = entries() * kEntryBytes;
  if (table_.bytes() < 4 * (wanted + kTableStep)) return;
  (void)table_.resize(*budget_, (2 * wanted + kTableStep - 1) / kTableStep * kTableStep);  // to shrink never fails
}

void SessionState::poison(proto::TensorId first, std::uint64_t count, const Failure& why) {
  if (count == 0) return;
  const bool may_overlap =
      count == 1 ? is_known(first) : tensors_.may_contain_from(first) || poisoned_.overlaps(first, count);
  if (!may_overlap) return poison_range(first, count, why);
  for (std::uint64_t begin = 0; begin < count;) {
    auto end = begin;
    while (end < count && !is_known(first + end)) ++end;
    poison_range(first + begin, end - begin, why);
    begin = end + 1;
  }
}

// Beyond the quota the ids stay unknown.
void SessionState::poison_range(proto::TensorId first, std::uint64_t count, const Failure& why) {
  if (count == 0 || poisoned_.ranges() >= quotas_.tensors || !grow_table(entries() + 1).ok()) return;
  poisoned_.add(first, count, why);
}

// --- programs --------------------------------------------------------------------------------------------------------

void SessionState::define(proto::DefineProgram& define, std::optional<PreparedProgram> ahead) {
  const auto start = std::chrono::steady_clock::now();
  stream_.note(serving::guarded([&] {
    const auto& [id, program, forget, invalid, output_count, encoded] = define;
    if (!invalid.ok()) return programs_.define_invalid(id, output_count, invalid, forget);
    if (!program) return programs_.define_encoded(id, encoded, forget, std::move(ahead));
    return programs_.define(id, program, forget, std::move(ahead));
  }));
  count_busy(std::chrono::steady_clock::now() - start);
}

void SessionState::count_busy(std::chrono::nanoseconds time) {
  busy_.fetch_add(time.count(), std::memory_order_relaxed);
  worker_->count_busy(time);
}

// --- tensors ---------------------------------------------------------------------------------------------------------

void SessionState::write(proto::TensorId id, const proto::HostTensor& tensor) {
  if (is_known(id)) {
    stream_.note(in_use(id));
    return;
  }
  auto made = serving::guarded([&] { return make(id, tensor); });
  if (made.ok()) {
    tensors_.add(id, *std::move(made));
  } else {
    poison(id, 1, stream_.note(made.status()));
  }
}

Result<SessionState::Tensor> SessionState::make(proto::TensorId id, const proto::HostTensor& tensor) {
  BURN_RETURN_IF_ERROR(check_room(1));
  if (tensor.bytes.size() != tensor.type.num_bytes()) {
    return invalid_argument(fmt::format("{} bytes for tensor {}: {}, which has {}", tensor.bytes.size(), id,
                                        ir::to_string(tensor.type), tensor.type.num_bytes()));
  }
  BURN_TRY(auto share, budget_->take(tensor.type.num_bytes()));
  BURN_TRY(auto buffer, stream_.upload(tensor.bytes));
  return Tensor{tensor.type, std::move(share), std::move(buffer)};
}

void SessionState::begin_upload(proto::TensorId id, const ir::TensorType& type, WriteCall::Parts parts) {
  auto& [upload, share, failed] = parts;
  const bool is_new = !is_known(id);
  if (failed.ok()) failed = is_new ? check_room(1) : in_use(id);
  if (failed.ok()) {
    tensors_.add(id, Tensor{type, std::move(share), std::move(upload)});
    return;
  }
  if (upload) upload->drop();
  const auto why = stream_.note(std::move(failed));
  if (is_new) poison(id, 1, why);
}

void SessionState::release(std::span<const proto::TensorId> ids) {
  Status first;
  for (const auto id : ids) {
    if (!drop(id) && first.ok()) first = unknown_tensor(id);
  }
  stream_.note(std::move(first));
}

void SessionState::read(proto::TensorId id, proto::Session::ReadCallback done) {
  const auto found = tensors_.find(id);
  if (!tensors_.is_found(found)) {
    const auto* poisoned = poisoned_.find(id);
    return stream_.refuse(poisoned ? *poisoned : std::make_shared<const Status>(unknown_tensor(id)), std::move(done));
  }
  auto& tensor = found->second;
  if (auto status = serving::guarded([&] { return fill(tensor); }); !status.ok())
    return stream_.refuse(std::make_shared<const Status>(std::move(status)), std::move(done));
  if (auto buffer = buffer_of(tensor)) return stream_.read(std::move(buffer), tensor.type, std::move(done));
  stream_.refuse(std::get<Failure>(tensor.content), std::move(done));
}

bool SessionState::drop(proto::TensorId id) {
  const auto found = tensors_.find(id);
  if (!tensors_.is_found(found)) {
    if (!grow_table(entries() + 1).ok()) return false;  // the range may be split in two
    return poisoned_.remove(id);
  }
  auto& [type, share, content, used_by, donated_to] = found->second;
  if (const auto* upload = std::get_if<std::shared_ptr<StagedUpload>>(&content)) (*upload)->drop();
  if (const auto* buffer = std::get_if<backends::BufferPtr>(&content)) charge_buffer(*buffer, 1, std::move(share));
  tensors_.erase(found);
  shrink_table();
  return true;
}

// For a released tensor whose buffer has other owners, such as a pending read or a run that the device has not done:
// attaches its share of the budget to the buffer. `ours`: the number of owners that belong to the caller.
void SessionState::charge_buffer(const backends::BufferPtr& buffer, long ours, Budget::Share share) const {
  if (buffer.use_count() > ours && share.bytes() > 0)
    buffer->keep(std::make_unique<BufferCharge>(budget_, std::move(share)));
}

// Errors: RESOURCE_EXHAUSTED; the tensor is then unchanged.
Status SessionState::fill(Tensor& tensor) {
  const auto* number = std::get_if<ir::Constant>(&tensor.content);
  if (!number) return {};
  BURN_TRY(auto share, budget_->take(tensor.type.num_bytes()));
  BURN_TRY(auto buffer, stream_.upload(backends::filled(tensor.type, *number)));
  tensors_.set_content(tensor, std::move(buffer));
  tensor.share = std::move(share);
  return {};
}

// Waits for the tensor's upload if it is not complete. Null: the tensor's content is a Failure.
backends::BufferPtr SessionState::buffer_of(Tensor& tensor) {
  if (const auto* pending = std::get_if<std::shared_ptr<StagedUpload>>(&tensor.content)) {
    const auto start = std::chrono::steady_clock::now();
    auto buffer = serving::guarded([&]() -> Result<backends::BufferPtr> {
      auto block = (*pending)->wait();
      waited_ += std::chrono::steady_clock::now() - start;
      if (!block.ok()) return block.status();
      return stream_.upload(*std::move(block));
    });
    if (buffer.ok()) {
      tensors_.set_content(tensor, *std::move(buffer));
    } else {
      tensors_.set_content(tensor, stream_.note(buffer.status()));
      tensor.share = {};
    }
  }
  const auto* buffer = std::get_if<backends::BufferPtr>(&tensor.content);
  return buffer ? *buffer : nullptr;
}

void SessionState::clear() {
  for (auto& [id, tensor] : tensors_) {
    if (const auto* upload = std::get_if<std::shared_ptr<StagedUpload>>(&tensor.content)) (*upload)->drop();
  }
  tensors_.clear();
  poisoned_.clear();
  kept_ = {};
  programs_.clear();
  (void)table_.resize(*budget_, 0);  // to shrink never fails
}

}  // namespace burn::session

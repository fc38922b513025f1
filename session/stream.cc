#include "session/stream.h"

#include <algorithm>
#include <vector>

#include "serving/callback_scope.h"

namespace burn::session {
namespace {

// How much may pass without a callback that says how far the device is.
constexpr std::uint64_t kUncoveredCalls = SessionStream::kMaxCalls / 4;
constexpr std::uint64_t kUncoveredBytes = SessionStream::kMaxBytes / 8;

}  // namespace

SessionStream::SessionStream(backends::Backend& backend, std::shared_ptr<serving::SessionSignal> signal,
                             const void* session)
    : signal_(std::move(signal)), session_(session) {
  auto stream =
      backend.open_stream([this](std::uint64_t serial, const Failure& why) { record(serial, why, serial % 2 == 1); });
  if (stream.ok()) {
    stream_ = *std::move(stream);
  } else {
    status_ = stream.status();
  }
}

// --- calls -----------------------------------------------------------------------------------------------------------

Result<backends::BufferPtr> SessionStream::upload(SharedBytes bytes) {
  const auto size = bytes.size();
  auto buffer = stream_->upload(std::move(bytes));
  count(size);
  return buffer;
}

Result<backends::BufferPtr> SessionStream::upload(backends::HostBlockPtr block) {
  const auto size = block->bytes().size();
  auto buffer = stream_->upload(std::move(block));
  count(size);
  return buffer;
}

Result<backends::BufferPtr> SessionStream::clone(const backends::BufferPtr& buffer) {
  auto copy = stream_->clone(buffer);
  count();
  return copy;
}

void SessionStream::wait_at(serving::FairGate& gate, std::shared_ptr<serving::TenantAccount> tenant) {
  gate_ = &gate;
  place_.emplace(gate, std::move(tenant));
}

serving::FairGate::Turn SessionStream::take_turn() {
  if (!place_) return {};
  if (!gate_->is_shared()) return gate_->enter(*place_, *signal_, waits_for_turn_);
  const auto start = std::chrono::steady_clock::now();
  auto turn = gate_->enter(*place_, *signal_, waits_for_turn_);
  waited_for_turns_ += std::chrono::steady_clock::now() - start;
  return turn;
}

Result<backends::RunResult> SessionStream::run(const std::shared_ptr<backends::Executable>& executable,
                                               backends::RunArgs args, bool keeps) {
  args.serial = next_serial(keeps);
  auto seen = args.failures;  // of inputs: they have been noted
  auto result = [&] {
    const auto turn = take_turn();
    return stream_->run(executable, std::move(args));
  }();
  count();
  if (!result.ok() || !result->stopped.ok()) return result;
  const auto note_new = [&](const Failure& failure) {
    if (!failure || std::ranges::find(seen, failure) != seen.end()) return;
    record(serial_, failure, keeps);
    seen.push_back(failure);
  };
  std::ranges::for_each(result->failures, note_new);
  note_new(result->refused);
  return result;
}

// --- answers ---------------------------------------------------------------------------------------------------------

void SessionStream::read(backends::BufferPtr buffer, const ir::TensorType& type, proto::Session::ReadCallback done) {
  stream_->download(
      std::move(buffer), type.num_bytes(),
      [this, type, last = serial_, position = cover(), done = std::move(done)](SharedBytes bytes, const Failure& why) {
        reach(position);
        if (why) log_.forget(why);
        const auto hidden = why ? nullptr : log_.take_hidden(last);
        const serving::CallbackScope scope{session_};
        if (why) return done(*why);
        if (hidden) return done(*hidden);
        done(proto::HostTensor{type, std::move(bytes)});
      });
}

void SessionStream::refuse(Failure why, proto::Session::ReadCallback done) {
  stream_->synchronize(
      [this, why = std::move(why), position = cover(), done = std::move(done)](const Status& /*reached*/) {
        reach(position);
        log_.forget(why);
        const serving::CallbackScope scope{session_};
        done(*why);
      });
}

void SessionStream::sync(proto::Session::SyncCallback done) {
  stream_->synchronize([this, last = serial_, position = cover(), done = std::move(done)](Status reached) {
    reach(position);
    const serving::CallbackScope scope{session_};
    if (!reached.ok()) return done(std::move(reached));
    const auto first = log_.take(last);
    done(first ? *first : Status{});
  });
}

Failure SessionStream::note(Status status, bool hidden) {
  if (status.ok()) return nullptr;
  auto failure = std::make_shared<const Status>(std::move(status));
  record(next_serial(hidden), failure, hidden);
  return failure;
}

void SessionStream::record(std::uint64_t serial, const Failure& why, bool hidden) {
  if (on_exhausted_ && why->code() == StatusCode::resource_exhausted) on_exhausted_();
  log_.add(serial, why, hidden);
}

// --- how far the device is -------------------------------------------------------------------------------------------

void SessionStream::count(std::uint64_t bytes) {
  given_.calls += 1;
  given_.bytes += bytes;
  if (given_.calls - covered_.calls < kUncoveredCalls && given_.bytes - covered_.bytes < kUncoveredBytes) return;
  stream_->observe([this, position = cover()](const Status& /*reached*/) { reach(position); });
}

SessionStream::Position SessionStream::cover() {
  given_.calls += 1;
  return covered_ = given_;
}

void SessionStream::reach(const Position& position) {
  done_calls_ = position.calls;
  done_bytes_ = position.bytes;
  if (waiting_) signal_->notify();
}

bool SessionStream::is_behind() const {
  return given_.calls - done_calls_ >= kMaxCalls || given_.bytes - done_bytes_ >= kMaxBytes;
}

void SessionStream::wait_for_device() {
  if (!is_behind()) return;
  waiting_ = true;
  (void)signal_->wait([&] { return !is_behind(); });  // closed: seen before the next call
  waiting_ = false;
}

void SessionStream::close() {
  std::unique_ptr<backends::Stream> ended;  // its end takes time, and calls back
  const std::lock_guard lock{ending_};
  ended = std::move(stream_);
}

void SessionStream::interrupt() {
  const std::lock_guard lock{ending_};
  if (stream_) stream_->interrupt();
}

}  // namespace burn::session

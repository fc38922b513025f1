#include "backends/cuda/libraries/nccl_group.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "backends/interrupt.h"
#include "base/thread.h"

namespace burn::backends::cuda {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kMemberCheckInterval{100};  // between two checks that all members are alive
constexpr milliseconds kPoll{2};                   // poll interval while a communicator is created
constexpr milliseconds kGrace{500};                // for runs in progress when a member leaves
constexpr milliseconds kEnd{3000};                 // how long a destructor waits for the end of the communicator

// Returns the minimum of the members' numbers to each of them. `failed`: why this member has none; then all fail with
// it.
Result<std::uint8_t> minimum_over_members(Collective& links, std::uint8_t own, const Status& failed = {}) {
  const ir::Op op = ir::AllReduce{ir::ReduceFn::min};
  const ir::TensorType type{ir::DType::u8, {1}};
  std::array<std::byte, 1> number{static_cast<std::byte>(own)};
  if (!failed.ok()) return links.perform({op, type, {}, {}, std::make_shared<const Status>(failed)});
  BURN_RETURN_IF_ERROR(links.perform({op, type, number, number}));
  return static_cast<std::uint8_t>(number[0]);
}

// Rank 0 creates the id, and sends it to all. `failed`: why this member cannot take part.
Result<NcclId> share_id(Collective& links, const Nccl* library, Status failed) {
  NcclId id{};
  const bool is_first = links.rank() == 0;
  if (is_first && failed.ok()) failed = check(*library, library->get_unique_id(&id), "ncclGetUniqueId");
  auto sizes = ir::Dims::filled(links.size(), 0);
  sizes[0] = sizeof id;
  const ir::Op op = ir::AllGather{0, sizes, links.rank()};
  const ir::TensorType type{ir::DType::u8, {sizes[links.rank()]}};
  NcclId shared{};
  const auto own = std::as_bytes(std::span(&id, is_first ? 1 : 0));
  const auto all = std::as_writable_bytes(std::span(&shared, 1));
  // Every member reports its failure, also if it has nothing to send.
  BURN_RETURN_IF_ERROR(minimum_over_members(links, 1, failed).status());
  BURN_RETURN_IF_ERROR(links.perform({op, type, own, all}));
  return shared;
}

}  // namespace

// The state that the group and its thread share. Only the thread aborts the communicator, and it is the last to use it.
class NcclGroup::State {
 public:
  State(const Nccl* library, std::shared_ptr<Collective> links, std::function<void()> make_current)
      : library_(library), links_(std::move(links)), make_current_(std::move(make_current)) {}

  Collective& links() { return *links_; }

  // Creates the communicator, within the time of the thread's Interrupt.
  Status connect(const NcclId& id) {
    NcclConfig config;
    make_current_();
    auto status = check(*library_, library_->init_rank(&comm_, links_->size(), id, links_->rank(), &config),
                        "ncclCommInitRankConfig");
    while (true) {  // in step with the other members
      auto state = NcclResult::success;
      if (status.ok() && comm_) {
        const auto now = state_of_comm();
        state = now.ok() ? *now : NcclResult::success;
        status = now.ok() ? check(*library_, state, "connecting the members' GPUs") : now.status();
      }
      const auto is_done = static_cast<std::uint8_t>(state == NcclResult::in_progress ? 0 : 1);
      BURN_TRY(const auto all, minimum_over_members(*links_, is_done, status));
      if (all == 1) return {};
      std::this_thread::sleep_for(kPoll);
    }
  }

  // Starts a thread that checks the other members until the group ends, and then aborts the communicator.
  static Status start(const std::shared_ptr<State>& state) {
    try {
      start_thread("burn-nccl", [state] {
        state->watch();
      }).detach();  // it may wait for graphs, which are destroyed later
      return {};
    } catch (const std::system_error& failure) {
      return resource_exhausted(fmt::format("no thread to be had for a group: {}", failure.what()));
    }
  }

  void end(const Status& why) {
    const std::lock_guard lock(mutex_);
    if (refused_.ok()) refused_ = why;
    if (broken_.ok()) broken_ = refused_;
    changed_.notify_all();
  }
  void leave(const Status& why) {
    const std::lock_guard lock(mutex_);
    if (refused_.ok()) refused_ = why;
    changed_.notify_all();
  }
  Status health() const {
    const std::lock_guard lock(mutex_);
    return refused_;
  }

  Status begin_run(milliseconds limit) {
    const std::lock_guard lock(mutex_);
    BURN_RETURN_IF_ERROR(refused_);
    limit_ = limit;
    if (runs_++ == 0) progress_ = Clock::now();
    return {};
  }
  Status end_run() {
    const std::lock_guard lock(mutex_);
    --runs_;
    progress_ = Clock::now();
    changed_.notify_all();
    return broken_;
  }

  // Waits until the communicator is aborted, but at most kEnd.
  void wait_for_end() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kEnd, [&] { return is_over_; });
  }

  Status enqueue(const char* what, const Call& call) {
    {
      const std::lock_guard lock(mutex_);
      BURN_RETURN_IF_ERROR(broken_);
      is_enqueueing_ = true;
    }
    auto status = wait_for(what, [&] {
      const std::lock_guard lock(library_mutex_);
      return call(*library_, comm_);
    }());
    const std::lock_guard lock(mutex_);
    is_enqueueing_ = false;
    changed_.notify_all();
    return broken_.ok() ? status : broken_;
  }

 private:
  Status wait_for(const char* what, NcclResult result) {
    const auto start = Clock::now();
    while (result == NcclResult::in_progress) {
      BURN_TRY(result, state_of_comm());
      if (result != NcclResult::in_progress) break;
      {
        const std::lock_guard lock(mutex_);
        BURN_RETURN_IF_ERROR(broken_);
      }
      if (Clock::now() - start < milliseconds{1})
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds{100});
    }
    return check(*library_, result, what);
  }

  // The query also finishes the library's background work, which one thread at a time may do.
  Result<NcclResult> state_of_comm() {
    const std::lock_guard lock(library_mutex_);
    auto state = NcclResult::success;
    BURN_RETURN_IF_ERROR(check(*library_, library_->get_async_error(comm_, &state), "ncclCommGetAsyncError"));
    return state;
  }

  // Finds a failure of the library, or a run that exceeds its limit.
  Status find_failure() {
    BURN_TRY(const auto state, state_of_comm());
    BURN_RETURN_IF_ERROR(check(*library_, state, "in the background"));
    const std::lock_guard lock(mutex_);
    if (runs_ == 0 || limit_.count() == 0 || Clock::now() - progress_ <= limit_) return {};
    return {StatusCode::deadline_exceeded,
            fmt::format("the device has finished no run with collectives for {} ms", limit_.count())};
  }

  void watch() {
    make_current_();
    std::unique_lock lock(mutex_);
    while (refused_.ok()) {
      lock.unlock();
      if (const auto met = minimum_over_members(*links_, 1).status(); !met.ok()) {
        met.code() == StatusCode::unavailable ? leave(met) : end(met);
      } else if (const auto found = find_failure(); !found.ok()) {
        links_->abort(found);
        end(found);
      }
      lock.lock();
      changed_.wait_for(lock, kMemberCheckInterval, [&] { return !refused_.ok(); });
    }
    changed_.wait_for(lock, kGrace, [&] { return !broken_.ok() || runs_ == 0; });
    if (broken_.ok()) broken_ = refused_;
    changed_.wait(lock, [&] { return !is_enqueueing_; });
    auto* const comm = std::exchange(comm_, nullptr);
    lock.unlock();
    links_->leave(refused_);
    if (comm) library_->abort(comm);  // waits until no graph contains its calls any more
    lock.lock();
    is_over_ = true;
    changed_.notify_all();
  }

  const Nccl* const library_;
  const std::shared_ptr<Collective> links_;
  const std::function<void()> make_current_;
  NcclComm comm_ = nullptr;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Status refused_, broken_;  // why no run may begin; why the results of begun runs are invalid
  milliseconds limit_{0};
  Clock::time_point progress_;  // when the first of the runs began, or the last run ended
  std::size_t runs_ = 0;        // runs that have begun and not ended
  bool is_enqueueing_ = false, is_over_ = false;
  std::mutex library_mutex_;  // guards calls with the communicator
};

Result<std::shared_ptr<NcclGroup>> NcclGroup::join(const Result<const Nccl*>& library,
                                                   std::shared_ptr<Collective> links,
                                                   const std::function<void()>& make_current, milliseconds deadline) {
  Interrupt interrupt;
  interrupt.begin_run(std::max(deadline, milliseconds{1}));
  const InterruptScope scope(&interrupt);
  const auto state = std::make_shared<State>(library.ok() ? *library : nullptr, std::move(links), make_current);
  const auto joined = [&]() -> Status {
    BURN_TRY(const auto id, share_id(state->links(), library.ok() ? *library : nullptr, library.status()));
    return state->connect(id);
  }();
  auto status = joined;
  if (status.code() == StatusCode::deadline_exceeded) {
    status = Status(StatusCode::deadline_exceeded,
                    fmt::format("the members' GPUs are not connected after {} ms", deadline.count()));
  }
  if (!status.ok()) {
    state->links().abort(status);
    state->end(status);
  }
  BURN_RETURN_IF_ERROR(State::start(state));  // also after a failure, to abort the communicator
  BURN_RETURN_IF_ERROR(status);
  return std::shared_ptr<NcclGroup>(new NcclGroup(state));
}

NcclGroup::~NcclGroup() {
  leave(cancelled("the group is not used any more"));
  state_->wait_for_end();
}

int NcclGroup::rank() const { return state_->links().rank(); }
int NcclGroup::size() const { return state_->links().size(); }
Status NcclGroup::health() const { return state_->health(); }
Status NcclGroup::begin_run(milliseconds limit) { return state_->begin_run(limit); }
Status NcclGroup::end_run() { return state_->end_run(); }
Status NcclGroup::enqueue(const char* what, const Call& call) { return state_->enqueue(what, call); }

Status NcclGroup::perform(const CollectiveCall& /*call*/) {
  return unimplemented("this group combines what is in the memory of GPUs");
}

void NcclGroup::abort(const Status& why) {
  state_->links().abort(why);
  state_->end(why);
}

void NcclGroup::leave(const Status& why) {
  state_->leave(why);
  state_->links().leave(why);
}

}  // namespace burn::backends::cuda

#include "tests/support/delayed_backend.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <random>
#include <thread>

#include "backends/cpu/cpu_backend.h"
#include "backends/failures.h"
#include "backends/registry/registry.h"
#include "base/error.h"
#include "base/plain_host_block.h"
#include "compile/plan/guards.h"

namespace burn::test {
namespace {

using backends::BufferPtr;
using backends::Failure;

// Where a value will be. Of the device's thread, once it has been handed to it.
struct Slot {
  BufferPtr inner;
  Failure failure;
};
using SlotPtr = std::shared_ptr<Slot>;

// All that the host has of a value.
class DelayedBuffer final : public backends::Buffer {
 public:
  DelayedBuffer(SlotPtr slot, std::size_t size) : slot_(std::move(slot)), size_(size) {}
  std::size_t size() const override { return size_; }
  const SlotPtr& slot() const { return slot_; }

 private:
  const SlotPtr slot_;
  const std::size_t size_;
};

const SlotPtr& slot_of(const BufferPtr& buffer) { return static_cast<DelayedBuffer&>(*buffer).slot(); }

class DelayedExecutable final : public backends::Executable {
 public:
  DelayedExecutable(std::unique_ptr<backends::Executable> inner, std::shared_ptr<const ir::Program> program)
      : inner_(std::move(inner)), program_(std::move(program)) {}
  std::size_t memory_bytes() const override { return inner_->memory_bytes(); }
  backends::RunBytes run_bytes() const override { return inner_->run_bytes(); }
  const std::shared_ptr<backends::Executable>& inner() const { return inner_; }
  const ir::Program& program() const { return *program_; }

 private:
  const std::shared_ptr<backends::Executable> inner_;
  const std::shared_ptr<const ir::Program> program_;
};

// The thread that is the device, for one stream.
class Device {
 public:
  Device(std::uint64_t seed, std::chrono::microseconds longest, std::shared_ptr<DelayedControl> control)
      : random_(seed), longest_(longest), control_(std::move(control)), thread_([this] { work(); }) {}
  // Finishes the current command and cancels the others.
  ~Device() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    control_->release();
    thread_.join();
    for (const auto& command : commands_) {
      if (command.cancel) command.cancel();
    }
  }

  struct Command {
    std::function<void()> work;
    std::function<void()> cancel = {};
  };
  void enqueue(Command command) {
    {
      const std::lock_guard lock(mutex_);
      commands_.push_back(std::move(command));
    }
    changed_.notify_all();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || !commands_.empty(); });
      if (stopping_) return;
      lock.unlock();
      wait_randomly();
      lock.lock();
      if (stopping_) return;
      auto command = std::move(commands_.front());
      commands_.pop_front();
      lock.unlock();
      command.work();
      ++control_->done;
      command = {};  // frees outside the lock
      lock.lock();
    }
  }
  // Half of the delays are zero, so that sometimes the host is slower than the device.
  void wait_randomly() {
    control_->pass();
    const auto delay = std::uniform_int_distribution<std::int64_t>(-longest_.count(), longest_.count())(random_);
    if (delay > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay));
  }

  std::mt19937_64 random_;
  const std::chrono::microseconds longest_;
  const std::shared_ptr<DelayedControl> control_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Command> commands_;
  bool stopping_ = false;
  std::thread thread_;
};

class DelayedStream final : public backends::Stream {
 public:
  DelayedStream(backends::Backend& inner, backends::FailureSink sink, const DelayedOptions& options,
                std::uint64_t number, std::shared_ptr<DelayedControl> control)
      : backend_(inner),
        inner_(value_or_throw(inner.open_stream(nullptr))),
        sink_(std::move(sink)),
        control_(control),
        device_(options.seed + number, options.longest_delay, std::move(control)) {}

  Result<BufferPtr> upload(SharedBytes bytes) override {
    BURN_TRY(auto memory, allocate(bytes.size()));
    const auto slot = std::make_shared<Slot>();
    const auto size = bytes.size();
    device_.enqueue({[this, slot, memory, bytes = std::move(bytes)]() mutable {
      std::ranges::copy(bytes.span(), memory->bytes().begin());
      place(*slot, std::move(memory));
    }});
    return BufferPtr(std::make_shared<DelayedBuffer>(slot, size));
  }
  Result<BufferPtr> upload(backends::HostBlockPtr block) override { return upload(content(std::move(block))); }

  void download(BufferPtr buffer, std::size_t size, Downloaded done) override {
    const auto answer = [this, slot = slot_of(buffer), most = buffer->size(), size, done] {
      if (slot->failure) return done({}, slot->failure);
      if (size > most) return done({}, std::make_shared<const Status>(invalid_argument("download: too many bytes")));
      inner_->download(slot->inner, size, [&](const SharedBytes& bytes, const Failure& why) {
        const auto span = bytes.span();
        done(SharedBytes::own(std::vector<std::byte>(span.begin(), span.end())), why);
      });
    };
    device_.enqueue({answer, [done] { done({}, std::make_shared<const Status>(closed())); }});
  }

  Result<BufferPtr> clone(const BufferPtr& buffer) override {
    BURN_TRY(auto memory, allocate(buffer->size()));
    const auto slot = std::make_shared<Slot>();
    device_.enqueue({[this, slot, memory, source = slot_of(buffer)]() mutable {
      slot->failure = source->failure;
      if (slot->failure) return;
      inner_->download(source->inner, memory->bytes().size(), [&](const SharedBytes& bytes, const Failure&) {
        std::ranges::copy(bytes.span(), memory->bytes().begin());
      });
      place(*slot, std::move(memory));
    }});
    return BufferPtr(std::make_shared<DelayedBuffer>(slot, buffer->size()));
  }

  Result<backends::RunResult> run(const std::shared_ptr<backends::Executable>& executable,
                                  backends::RunArgs args) override;

  void synchronize(Done done) override {
    device_.enqueue({[done] { done({}); }, [done] { done(closed()); }});
  }

 private:
  // A run that is queued for the device.
  struct Order {
    std::shared_ptr<const DelayedExecutable> executable;
    std::vector<SlotPtr> inputs, outputs;
    std::vector<Failure> failures;
    std::vector<std::uint64_t> scalars;
    std::uint64_t seed = 0, random_offset = 0, serial = 0;
    std::optional<std::uint64_t> program;
    const backends::Groups* groups = nullptr;
  };

  static Status closed() { return cancelled("the stream is closed"); }
  bool is_refused() { return control_->refused_calls > 0 && control_->refused_calls-- > 0; }
  Result<backends::HostBlockPtr> allocate(std::size_t bytes) {
    if (is_refused()) return resource_exhausted("out of memory: refused");
    return backend_.host_block(bytes);
  }
  void place(Slot& slot, backends::HostBlockPtr memory) {
    slot.inner = value_or_throw(inner_->upload(std::move(memory)));
  }
  void execute(Order& order);

  backends::Backend& backend_;
  const std::unique_ptr<backends::Stream> inner_;  // used by the device's thread
  const backends::FailureSink sink_;
  const std::shared_ptr<DelayedControl> control_;
  Device device_;
};

Result<backends::RunResult> DelayedStream::run(const std::shared_ptr<backends::Executable>& executable,
                                               backends::RunArgs args) {
  const auto delayed = std::static_pointer_cast<DelayedExecutable>(executable);
  const auto& program = delayed->program();
  if (args.inputs.size() != program.inputs.size()) return invalid_argument("run: wrong number of inputs");
  if (args.scalars.size() != static_cast<std::size_t>(program.scalar_count)) {
    return invalid_argument("run: wrong number of scalars");
  }
  if (is_refused()) {
    auto result = backends::ended_early(program, args, resource_exhausted("out of memory: refused"),
                                        [this](SharedBytes bytes) { return upload(std::move(bytes)); });
    if (!compile::kept_outputs(program).empty()) return result;
    result.stopped = {};  // every output fails, as if a step lacked memory
    backends::name_program(result.failures, {}, args.program);
    return result;
  }
  Order order{.executable = delayed,
              .failures = std::move(args.failures),
              .scalars = {args.scalars.begin(), args.scalars.end()},
              .seed = args.seed,
              .random_offset = args.random_offset,
              .serial = args.serial,
              .program = args.program,
              .groups = args.groups};
  for (std::size_t i = 0; i < args.inputs.size(); ++i) {
    const auto& buffer = args.inputs[i];
    const bool is_missing = !buffer && (order.failures.empty() || !order.failures[i]);
    if (is_missing || (buffer && buffer->size() < program.inputs[i].type.num_bytes())) {
      return invalid_argument("run: an input does not fit");
    }
    order.inputs.push_back(buffer ? slot_of(buffer) : std::make_shared<Slot>());
    if (!buffer) order.inputs.back()->failure = order.failures[i];
  }
  args.inputs.clear();  // a slot that only the order owns may be emptied
  backends::RunResult result;
  for (const auto ref : program.outputs) {
    order.outputs.push_back(std::make_shared<Slot>());
    result.outputs.push_back(std::make_shared<DelayedBuffer>(order.outputs.back(), program.type_of(ref).num_bytes()));
  }
  device_.enqueue({[this, order = std::make_shared<Order>(std::move(order))] { execute(*order); }});
  return result;
}

void DelayedStream::execute(Order& order) {
  backends::RunArgs args{.scalars = order.scalars,
                         .seed = order.seed,
                         .random_offset = order.random_offset,
                         .program = order.program,
                         .groups = order.groups};
  for (auto& slot : order.inputs) {
    args.failures.push_back(slot->failure);
    const bool is_last = slot.use_count() == 1;
    args.inputs.push_back(is_last ? std::move(slot->inner) : slot->inner);
  }
  const auto known = args.failures;
  if (std::ranges::all_of(known, [](const Failure& failure) { return failure == nullptr; })) args.failures.clear();
  const auto count = order.outputs.size();
  backends::RunResult result{std::vector<BufferPtr>(count), {}};
  if (control_->failing_runs > 0 && control_->failing_runs-- > 0) {
    result = backends::ended_early(order.executable->program(), args, resource_exhausted("out of memory on the device"),
                                   [this](SharedBytes bytes) { return inner_->upload(std::move(bytes)); });
    backends::name_program(result.failures, {}, order.program);
  } else if (auto made = inner_->run(order.executable->inner(), std::move(args)); made.ok()) {
    result = *std::move(made);
  } else {
    result.failures.assign(count, std::make_shared<const Status>(made.status()));
    backends::name_program(result.failures, {}, order.program);
  }
  auto told = known;
  const auto tell = [&](const Failure& failure) {
    if (!failure || std::ranges::find(told, failure) != told.end()) return;
    sink_(order.serial, failure);
    told.push_back(failure);
  };
  std::ranges::for_each(result.failures, tell);
  tell(result.refused);
  for (std::size_t k = 0; k < count; ++k) {
    order.outputs[k]->inner = std::move(result.outputs[k]);
    if (!result.failures.empty()) order.outputs[k]->failure = std::move(result.failures[k]);
  }
}

class DelayedBackend final : public backends::Backend {
 public:
  DelayedBackend(const DelayedOptions& options, std::shared_ptr<DelayedControl> control)
      : options_(options),
        control_(std::move(control)),
        inner_(value_or_throw(backends::open_cpu_backend(options.memory))) {}

  std::string_view name() const override { return "delayed"; }
  backends::Limits limits() const override { return inner_->limits(); }
  backends::MemoryStats memory() const override { return inner_->memory(); }
  Status supports(const ir::Op& op, std::span<const ir::TensorType* const> operands) const override {
    return inner_->supports(op, operands);
  }
  Result<backends::HostBlockPtr> host_block(std::size_t bytes) override { return plain_host_block(bytes); }
  Result<std::unique_ptr<backends::Executable>> compile(std::shared_ptr<const ir::Program> program) override {
    BURN_TRY(auto inner, inner_->compile(program));
    return std::unique_ptr<backends::Executable>(
        std::make_unique<DelayedExecutable>(std::move(inner), std::move(program)));
  }
  Result<std::unique_ptr<backends::Stream>> open_stream(backends::FailureSink sink) override {
    return std::unique_ptr<backends::Stream>(
        std::make_unique<DelayedStream>(*inner_, std::move(sink), options_, streams_++, control_));
  }
  Status health() const override { return inner_->health(); }
  std::uint64_t trim(std::uint64_t keep, std::chrono::milliseconds unused_for) override {
    return inner_->trim(keep, unused_for);
  }

 private:
  const DelayedOptions options_;
  const std::shared_ptr<DelayedControl> control_;
  const std::unique_ptr<backends::Backend> inner_;
  std::atomic<std::uint64_t> streams_ = 0;
};

[[maybe_unused]] const bool registered = [] {
  backends::register_backend(
      {.name = "delayed", .open = [](int) -> Result<std::unique_ptr<backends::Backend>> {
         const char* longest = std::getenv("BURN_TEST_DELAY_US");  // NOLINT: before there are threads
         return make_delayed_backend({.longest_delay = std::chrono::microseconds(longest ? std::atoi(longest) : 100)});
       }});
  return true;
}();

}  // namespace

void DelayedControl::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}

void DelayedControl::release() {
  {
    const std::lock_guard lock(mutex_);
    held_ = false;
  }
  changed_.notify_all();
}

void DelayedControl::pass() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !held_; });
}

std::unique_ptr<backends::Backend> make_delayed_backend(const DelayedOptions& options,
                                                        std::shared_ptr<DelayedControl> control) {
  return std::make_unique<DelayedBackend>(options, std::move(control));
}

}  // namespace burn::test

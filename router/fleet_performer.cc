#include "router/fleet_performer.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/overloaded.h"
#include "base/parse_number.h"
#include "base/plain_host_block.h"
#include "base/settings.h"
#include "proto/codec.h"
#include "serving/callback_scope.h"

namespace burn::router {
namespace {

using serving::Budget;
using serving::WriteCall;

// The limits for a client are those that every member allows.
proto::SessionInfo describe(Members& members, const serving::Quotas& quotas) {
  static std::atomic<std::uint64_t> counter = 0;
  proto::SessionInfo info;
  info.server = fmt::format("burn-router {}", BURN_VERSION);
  info.session = fmt::format("f-{}", ++counter);
  info.devices = {"fleet"};
  info.max_tensor_bytes = quotas.tensor_bytes;
  for (int member = 0; member < members.count(); ++member) {
    info.max_tensor_bytes = std::min(info.max_tensor_bytes, members.session(member).info().max_tensor_bytes);
  }
  info.max_in_flight = quotas.in_flight;
  info.bulk_credit = proto::kInitialCredit;
  info.max_programs = quotas.programs;
  info.max_program_entries = quotas.program_entries;
  return info;
}

bool traces_sharding() { return setting(Setting::trace).find("sharding") != std::string::npos; }
void print(const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }

std::uint64_t runs_between_checks() {
  return parse_number<std::uint64_t>(setting(Setting::check_replicas)).value_or(0);
}

CoreOptions core_options(const FleetOptions& options, ChargePrograms charge) {
  return {.mesh = options.mesh,
          .home = static_cast<int>(options.home),
          .weights = options.weights,
          .max_tensors = options.quotas.tensors,
          .max_programs = options.quotas.programs,
          .max_entries = options.quotas.program_entries,
          .charge = std::move(charge),
          .trace = traces_sharding() ? print : std::function<void(const std::string&)>{}};
}

}  // namespace

FleetPerformer::FleetPerformer(FleetOptions options)
    : quotas_(options.quotas),
      group_timeout_(options.group_timeout),
      times_(options.times),
      spans_(options.spans),
      home_(static_cast<int>(options.home)),
      members_(std::move(options.members), std::move(options.names), options.mesh),
      account_(options.account),
      budget_(std::make_shared<Budget>(options.quotas.tensor_bytes, account_.get())),
      core_(core_options(options, [this](std::uint64_t bytes) { return programs_share_.resize(*budget_, bytes); })),
      checks_every_(runs_between_checks()) {
  info_ = describe(members_, quotas_);
}

FleetPerformer::~FleetPerformer() { FleetPerformer::clear(); }

WriteCall::Parts FleetPerformer::receive(proto::TensorId id, const ir::TensorType& type) {
  WriteCall::Parts parts;
  const auto bytes = type.num_bytes();
  const auto make_room = [&]() -> Status {
    if (bytes > info_.max_tensor_bytes) {
      return resource_exhausted(fmt::format("tensor {}: {} has {} bytes, at most {} may be", id, ir::to_string(type),
                                            bytes, info_.max_tensor_bytes));
    }
    BURN_TRY(parts.share, budget_->take(bytes));
    BURN_TRY(auto block, plain_host_block(bytes));
    parts.upload = std::make_shared<serving::StagedUpload>(signal_, std::move(block));
    return {};
  };
  parts.failed = make_room();
  return parts;
}

proto::SessionStats FleetPerformer::stats() const {
  return {.session = {.memory_in_use = budget_->in_use(),
                      .memory_peak = budget_->peak(),
                      .memory_reserved = budget_->in_use() + budget_->host(),
                      .memory_limit = budget_->limit(),
                      .host_bytes = budget_->host(),
                      .runs = runs_},
          .programs = programs_};
}

// --- calls -----------------------------------------------------------------------------------------------------------

void FleetPerformer::finish_call(Failure refused) {
  if (auto status = members_.send(outbox_.take()); !status.ok()) unreported_.push_back(std::move(status));
  if (refused) refused_.add(calls_, std::move(refused));
}

void FleetPerformer::perform(serving::Call& call) {
  ++calls_;
  const auto queued = std::exchange(queued_, {});
  if (auto lost = members_.lost(); !lost.ok()) return refuse(call, lost);
  std::visit(Overloaded{
                 [&](serving::DefineCall& call) { define(call); },
                 [&](proto::RunProgram& call) {
                   ++runs_;
                   run(call.run, queued);
                 },
                 [&](WriteCall& call) { write(call); },
                 [&](proto::Release& call) { finish_call(core_.release(call.ids, outbox_)); },
                 [&](serving::ReadCall& call) { read(call); },
                 [&](serving::SyncCall& call) { sync(call); },
             },
             call);
}

// Fails a call because the session has lost a worker.
void FleetPerformer::refuse(serving::Call& call, const Status& why) {
  std::visit(
      [&](auto& kind) {
        if constexpr (requires { kind.done; }) {
          const auto done = std::move(kind.done);
          answers_.deliver(answers_.add_question(), [this, done, why] {
            const serving::CallbackScope scope{static_cast<const CallPerformer*>(this)};
            done(why);
          });
        }
      },
      call);
}

void FleetPerformer::define(serving::DefineCall& call) {
  auto& define = call.define;
  auto read = define.program || !define.invalid.ok()
                  ? proto::ReadProgram{define.program, define.invalid, define.output_count}
                  : proto::read_program(define.encoded, [&](const proto::ProgramSize& size) -> Status {
                      return budget_->take_host_share(size.bytes).status();
                    });
  if (!read.program) {
    core_.define_refused(define.id, read.output_count, read.invalid, define.forget, outbox_);
    return finish_call(std::make_shared<const Status>(read.invalid));
  }
  ++programs_;
  finish_call(core_.define(define.id, std::move(read.program), define.forget, outbox_));
}

void FleetPerformer::run(proto::Run& run, std::chrono::nanoseconds queued) {
  RunSpans spans{spans_.get(), run, queued};
  if (!core_.is_wide() && core_.is_marked(run)) {
    spans.begin("group");
    if (const auto status = widen(); !status.ok()) refused_.add(calls_, std::make_shared<const Status>(status));
  }
  if (core_.is_wide() && has_failed_.exchange(false)) {
    spans.begin("group");
    restore_group();
  }
  spans.begin("split");
  const auto rewritten = core_.variants_made();
  const auto start = std::chrono::steady_clock::now();
  auto refused = core_.run(run, outbox_);
  const auto made = core_.variants_made() - rewritten;
  if (made > 0) times_->rewrite.add(std::chrono::steady_clock::now() - start);
  spans.say({"burn.rewritten", made});
  const auto result = refused ? refused->code() : StatusCode::ok;
  spans.begin("send");
  finish_call(std::move(refused));
  spans.finish(result);
  if (checks_every_ > 0 && runs_ % checks_every_ == 0) check_replicas(run);
}

// A run that failed completely on one member has ended the groups, so that the other members do not wait for it. Waits
// for the calls sent before, which fail with it, and forms new groups.
void FleetPerformer::restore_group() {
  if (members_.groups_are_intact(group_timeout_)) return;
  std::ranges::move(members_.sync_all(), std::back_inserter(unreported_));
  if (auto status = form_groups(times_->new_group); !status.ok()) {
    has_failed_ = true;
    unreported_.push_back(std::move(status));
  }
}

Status FleetPerformer::form_groups(serving::DurationHistogram& times) {
  const auto start = std::chrono::steady_clock::now();
  auto formed = members_.form_groups(group_timeout_);
  if (!formed.ok()) return formed.with_context("the workers do not connect to each other");
  times.add(std::chrono::steady_clock::now() - start);
  return {};
}

void FleetPerformer::write(WriteCall& call) {
  auto tensor = std::move(call.tensor);
  Status status;
  if (call.parts) {
    status = call.parts->failed;
    if (status.ok()) {
      auto block = call.parts->upload->wait();
      status = block.status();
      if (status.ok()) tensor.bytes = content(*std::move(block));
    }
  }
  const auto axis = call.options.batch_axis;
  if (status.ok() && axis) status = widen();
  finish_call(status.ok() ? core_.write(call.id, std::move(tensor), axis, outbox_)
                          : core_.write_failed(call.id, status));
}

// Called for the first batch; does nothing in a fleet of one member.
Status FleetPerformer::widen() {
  if (core_.is_wide() || members_.count() == 1) return {};
  BURN_RETURN_IF_ERROR(form_groups(times_->first_group));
  return core_.widen(outbox_);
}

// --- the end ---------------------------------------------------------------------------------------------------------

// Closes the sessions on a separate thread, because closing waits for the members' answers.
void FleetPerformer::interrupt() {
  signal_->close();
  std::call_once(interrupted_, [this] { closer_ = std::thread([this] { members_.abandon(); }); });
}

void FleetPerformer::finish() {
  interrupt();
  answers_.wait();
}

void FleetPerformer::clear() {
  if (closer_.joinable()) closer_.join();
  budget_->leave_account();
}

}  // namespace burn::router

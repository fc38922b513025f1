#include "session/perform_call.h"

#include <utility>

#include "base/overloaded.h"

namespace burn::session {

void perform_call(serving::Call& call, SessionState& state, SessionStream& stream, std::chrono::nanoseconds queued) {
  std::visit(Overloaded{
                 [&](serving::DefineCall& call) { state.define(call.define, call.ahead.take()); },
                 [&](proto::RunProgram& call) { state.run(call.run, queued); },
                 [&](serving::WriteCall& call) {
                   call.parts ? state.begin_upload(call.id, call.tensor.type, *std::move(call.parts))
                              : state.write(call.id, call.tensor);
                 },
                 [&](proto::Release& call) { state.release(call.ids); },
                 [&](serving::ReadCall& call) { state.read(call.id, std::move(call.done)); },
                 [&](serving::SyncCall& call) { stream.sync(std::move(call.done)); },
             },
             call);
}

void prepare_ahead(serving::Call& call, const SessionState& state) {
  auto& preparers = serving::PreparationThreads::instance();
  auto* waiting = std::get_if<serving::DefineCall>(&call);
  if (!preparers.has_threads() || !waiting || !waiting->define.invalid.ok()) return;
  const auto& define = waiting->define;
  waiting->ahead = preparers.prepare([&state, program = define.program, encoded = define.encoded] {
    return program ? state.prepare(program) : state.prepare(encoded);
  });
}

bool is_quick(const serving::Call& call, const SessionState& state) {
  return std::visit(
      Overloaded{
          [](const serving::DefineCall& call) { return !call.define.invalid.ok(); },  // valid ones are compiled
          [&](const proto::RunProgram& call) { return state.is_quick(call.run); },
          [](const serving::WriteCall& call) { return call.tensor.bytes.size() <= proto::kInlineBytes; },
          [&](const serving::ReadCall& call) { return state.is_quick_read(call.id); },
          [](const auto& other) {
            if constexpr (requires { other.ids; }) return other.ids.size() <= SessionState::kMaxQuickReleases;
            return true;
          },
      },
      call);
}

}  // namespace burn::session

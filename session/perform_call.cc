#include "session/perform_call.h"

#include <utility>

#include "base/overloaded.h"

namespace burn::session {

void perform_call(Call& call, SessionState& state, SessionStream& stream) {
  std::visit(Overloaded{
                 [&](DefineCall& define) {
                   state.define(define.id, std::move(define.program), define.forget, define.ahead.take());
                 },
                 [&](EncodedCall& define) {
                   state.define_encoded(define.id, define.program, define.forget, define.ahead.take());
                 },
                 [&](InvalidCall& invalid) {
                   state.define_invalid(invalid.id, invalid.output_count, invalid.why, invalid.forget);
                 },
                 [&](proto::Run& run) { state.run(run); },
                 [&](WriteCall& write) { state.write(write.id, write.tensor); },
                 [&](UploadCall& upload) {
                   state.begin_upload(upload.id, upload.type, std::move(upload.upload), std::move(upload.share),
                                      std::move(upload.failed));
                 },
                 [&](ReleaseCall& release) { state.release(release.ids); },
                 [&](ReadCall& read) { state.read(read.id, std::move(read.done)); },
                 [&](SyncCall& sync) { stream.sync(std::move(sync.done)); },
             },
             call);
}

void prepare_ahead(Call& call, const SessionState& state) {
  auto& preparers = Preparers::instance();
  if (!preparers.are_there()) return;
  if (auto* define = std::get_if<DefineCall>(&call); define && define->program)
    define->ahead = preparers.prepare([&state, program = define->program] { return state.prepare(program); });
  if (auto* define = std::get_if<EncodedCall>(&call))
    define->ahead = preparers.prepare([&state, encoded = define->program] { return state.prepare(encoded); });
}

bool is_quick(const Call& call, const SessionState& state) {
  return std::visit(
      Overloaded{
          [](const DefineCall&) { return false; },  // compiles
          [](const EncodedCall&) { return false; },
          [&](const proto::Run& run) { return state.is_quick(run); },
          [](const WriteCall& write) { return write.tensor.bytes.size() <= proto::kInlineBytes; },
          [](const ReleaseCall& release) { return release.ids.size() <= SessionState::kMaxQuickReleases; },
          [&](const ReadCall& read) { return state.is_quick_read(read.id); },
          [](const auto&) { return true; },
      },
      call);
}

}  // namespace burn::session

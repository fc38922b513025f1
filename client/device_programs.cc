// How a recording becomes a run: its program is closed, told to the session if that does not know it, and run.
#include <utility>

#include "client/capture_log.h"
#include "client/device_state.h"

namespace burn::client {

void DeviceState::close_program(Recorder& recorder, CapturedRun* captured) {
  if (recorder.builder.empty() && recorder.inputs.empty()) return;
  if (recorder.capture != nullptr) return;
  std::vector<ir::Ref> outputs;
  for (std::size_t i = 0; i < recorder.nodes.size(); ++i) {
    if (recorder.nodes[i] != nullptr) outputs.push_back(ir::Ref::node(static_cast<std::int32_t>(i)));
  }
  proto::Run run;
  run.inputs.reserve(recorder.inputs.size());
  for (std::size_t i = 0; i < recorder.inputs.size(); ++i) {
    Storage& input = *recorder.inputs[i];
    run.inputs.push_back(input.id);
    input.readers -= 1;
    input.input_of = nullptr;
    if (input.owners.load() == 0 && input.readers == 0) {
      recorder.builder.donate(static_cast<std::int32_t>(i));
      if (outputs.empty()) releases_.push_back(input.id);
      forget(input);
    }
  }
  run.first_output = next_id_;
  for (const auto ref : outputs) {
    Storage& output = *recorder.nodes[static_cast<std::size_t>(ref.index())];
    output.id = next_id_++;
    output.recorder = nullptr;
    output.node = -1;
  }
  const bool is_needed = !outputs.empty();
  recorder.builder.seal(std::move(outputs));
  run.scalars = std::move(recorder.scalars);
  recorder.nodes.clear();
  recorder.inputs.clear();
  recorder.scalars.clear();
  begin_recording(recorder);
  run.seed = seed_;
  run.random_offset = random_offset_;
  random_offset_ += static_cast<std::uint64_t>(recorder.builder.program().random_blocks);
  if (captured != nullptr) *captured = {std::make_shared<const ir::Program>(recorder.builder.program()), run};
  if (!is_needed) {  // nobody holds a result
    recorder.builder.clear();
    return;
  }
  run.program = define(recorder.builder);
  send_run(std::move(run));
}

void DeviceState::send_run(proto::Run run) {
  run.release = std::exchange(releases_, {});
  release_bytes_ = 0;
  stats_.runs += 1;
  // A broken session is not reported here, in the middle of whatever recorded last: every read and sync says so.
  (void)session_->run(std::move(run));
}

proto::ProgramId DeviceState::define(ir::ProgramBuilder& sealed) {
  if (const auto known = known_program(sealed.program().hash)) {
    sealed.clear();  // keeps its memory for the next program, which is most likely the same again
    return *known;
  }
  return define(std::make_shared<const ir::Program>(sealed.take()));
}

std::optional<proto::ProgramId> DeviceState::known_program(const ir::ProgramHash& hash) {
  const auto known = program_index_.find(hash);
  if (known == program_index_.end()) return std::nullopt;
  programs_.splice(programs_.begin(), programs_, known->second);
  return known->second->id;
}

proto::ProgramId DeviceState::define(const std::shared_ptr<const ir::Program>& program) {
  if (const auto known = known_program(program->hash)) return *known;
  proto::ProgramId id = programs_.size() + 1;
  if (programs_.size() >= kMaxPrograms) {  // defining an id again replaces what it stood for
    id = programs_.back().id;
    program_index_.erase(programs_.back().hash);
    programs_.pop_back();
  }
  programs_.push_front({program->hash, id});
  program_index_[program->hash] = programs_.begin();
  stats_.programs_defined += 1;
  (void)session_->define(id, program);
  return id;
}

}  // namespace burn::client

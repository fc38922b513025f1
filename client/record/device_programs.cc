// How a recording becomes a run: its program is closed, told to the session if that does not know it, and run.
#include <utility>

#include "base/error.h"
#include "client/record/capture_log.h"
#include "client/record/device_state.h"

namespace burn::client {

void DeviceState::close_program(Recorder& recorder, CapturedRun* captured) {
  if (recorder.builder.empty() && recorder.inputs.empty()) return;
  if (recorder.capture != nullptr) return;
  std::vector<ir::Ref> outputs;
  for (std::size_t i = 0; i < recorder.values.size(); ++i) {
    if (recorder.values[i] != nullptr) outputs.push_back(ir::Ref::value(static_cast<std::int32_t>(i)));
  }
  const bool is_run = !outputs.empty() || recorder.builder.program().effect_count > 0;
  proto::Run run;
  run.inputs.reserve(recorder.inputs.size());
  for (std::size_t i = 0; i < recorder.inputs.size(); ++i) {
    Storage& input = *recorder.inputs[i];
    run.inputs.push_back(input.id);
    input.readers -= 1;
    input.input_of = nullptr;
    if (input.owners.load() == 0 && input.readers == 0) {
      recorder.builder.donate(static_cast<std::int32_t>(i));
      if (!is_run) releases_.push_back(input.id);
      forget(input);
    }
  }
  run.first_output = next_id_;
  for (const auto ref : outputs) {
    Storage& output = *recorder.values[static_cast<std::size_t>(ref.index())];
    output.id = next_id_++;
    output.recorder = nullptr;
    output.value = -1;
  }
  const auto output_count = outputs.size();
  recorder.builder.seal(std::move(outputs));
  run.scalars = std::move(recorder.scalars);
  recorder.values.clear();
  recorder.inputs.clear();
  recorder.scalars.clear();
  begin_recording(recorder);
  run.seed = seed_;
  run.random_offset = random_offset_;
  random_offset_ += static_cast<std::uint64_t>(recorder.builder.program().random_blocks);
  if (captured != nullptr) *captured = {std::make_shared<const ir::Program>(recorder.builder.program()), run};
  if (!is_run) {  // nobody holds a result
    recorder.builder.clear();
    return;
  }
  const auto defined = define(recorder.builder, run);
  send_run(std::move(run), defined, output_count);
}

void DeviceState::send_run(proto::Run run, Status defined, std::size_t outputs) {
  const auto first_output = run.first_output;
  auto status = std::move(defined);
  if (status.ok()) {
    run.release = std::exchange(releases_, {});
    release_bytes_ = 0;
    stats_.runs += 1;
    status = session_->run(std::move(run));
  }
  if (status.ok()) return;
  // Not thrown here, in the middle of whatever recorded last: whoever needs one of the results is told.
  for (std::size_t k = 0; k < outputs; ++k) refused_.emplace(first_output + k, status);
}

void DeviceState::check_refused(const Storage& storage) const {
  if (refused_.empty()) return;
  if (const auto found = refused_.find(storage.id); found != refused_.end()) throw Error(found->second);
}

Status DeviceState::define(ir::ProgramBuilder& sealed, proto::Run& run) {
  if (const auto known = programs_.find(sealed.program().hash)) {
    run.program = *known;
    sealed.clear();  // keeps its memory for the next program, which is most likely the same again
    return {};
  }
  return define(std::make_shared<const ir::Program>(sealed.take()), run);
}

Status DeviceState::define(const std::shared_ptr<const ir::Program>& program, proto::Run& run) {
  if (const auto known = programs_.find(program->hash)) {
    run.program = *known;
    return {};
  }
  auto added = programs_.add(program->hash, ir::num_entries(*program));
  run.program = added.id;
  stats_.programs_defined += 1;
  auto status = session_->define(added.id, program, added.forgotten);
  if (status.ok()) return {};
  programs_.take_back(program->hash, std::move(added.forgotten));
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {  // nobody else will take what was given away
    if (program->inputs[i].donated) releases_.push_back(run.inputs[i]);
  }
  return status;
}

}  // namespace burn::client

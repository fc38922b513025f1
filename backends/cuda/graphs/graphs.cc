#include "backends/cuda/graphs/graphs.h"

#include <algorithm>

namespace burn::backends::cuda {
namespace {

using Operand = RunMemory::Operand;

std::size_t slot_bytes(const Operand& operand) { return (operand.bytes + 511) / 512 * 512; }

Operand& operand(RunMemory& run, std::size_t k) {
  return k < run.inputs.size() ? run.inputs[k] : run.outputs[k - run.inputs.size()];
}
const Operand& operand(const RunMemory& run, std::size_t k) {
  return k < run.inputs.size() ? run.inputs[k] : run.outputs[k - run.inputs.size()];
}
std::size_t operand_count(const RunMemory& run) { return run.inputs.size() + run.outputs.size(); }

// The input that an output shares memory with, or -1.
int alias_of(const RunMemory& run, const Operand& output) {
  if (output.address == 0) return -1;
  const auto found = std::ranges::find(run.inputs, output.address, &Operand::address);
  return found == run.inputs.end() ? -1 : static_cast<int>(found - run.inputs.begin());
}
std::vector<int> aliases_of(const RunMemory& run) {
  std::vector<int> aliases;
  aliases.reserve(run.outputs.size());
  for (const auto& output : run.outputs) aliases.push_back(alias_of(run, output));
  return aliases;
}

}  // namespace

// --- one graph -------------------------------------------------------------------------------------------------------

bool CapturedRun::fits(const RunMemory& run) const {
  if (run.arena != memory_.arena || run.bindings != memory_.bindings || run.failures != memory_.failures) return false;
  if (run.groups != memory_.groups) return false;
  for (std::size_t k = 0; k < has_slot_.size(); ++k) {
    if (!has_slot_[k] && operand(run, k) != operand(memory_, k)) return false;
  }
  for (std::size_t k = 0; k < aliases_.size(); ++k) {  // only outputs with slots can differ from the captured aliases
    if (has_slot_[run.inputs.size() + k] && alias_of(run, run.outputs[k]) >= 0) return false;
  }
  return true;
}

void CapturedRun::add_copies_in(const RunMemory& run, Transfers& before) const {
  for (std::size_t k = 0; k < run.inputs.size(); ++k) {
    if (has_slot_[k]) before.copy(memory_.inputs[k].address, run.inputs[k].address, run.inputs[k].bytes);
  }
}

void CapturedRun::add_copies_out(const RunMemory& run, Transfers& after) const {
  for (std::size_t k = 0; k < run.outputs.size(); ++k) {
    if (has_slot_[run.inputs.size() + k])
      after.copy(run.outputs[k].address, memory_.outputs[k].address, run.outputs[k].bytes);
  }
}

// --- all of them -----------------------------------------------------------------------------------------------------

CapturedRun* Graphs::find(std::uint64_t program, const RunMemory& run) {
  auto& of = this->of(program);
  note(of, run);
  const auto found = std::ranges::find_if(of.captured, [&](const auto& captured) { return captured->fits(run); });
  if (found == of.captured.end()) return nullptr;
  of.captured.splice(of.captured.begin(), of.captured, found);
  return of.captured.front().get();
}

std::unique_ptr<CapturedRun> Graphs::prepare(std::uint64_t program, const RunMemory& run) {
  auto& of = this->of(program);
  if (of.runs_since_capture < kRunsToSettle || of.rest_moved) return nullptr;
  auto captured = std::make_unique<CapturedRun>();
  captured->memory_ = run;
  captured->aliases_ = aliases_of(run);
  std::size_t bytes = 0;
  for (std::size_t k = 0; k < operand_count(run); ++k) {
    const bool moves = of.moved[k] != 0;
    captured->has_slot_.push_back(moves);
    if (moves) bytes += slot_bytes(operand(run, k));
  }
  if (bytes > kMaxSlotBytes) return nullptr;
  for (std::size_t k = 0; k < captured->aliases_.size(); ++k) {  // operands that are updated in place must not move
    if (captured->aliases_[k] >= 0 && captured->has_slot_[run.inputs.size() + k]) return nullptr;
  }
  auto slots = memory_.allocate(bytes);
  if (!slots.ok()) return nullptr;  // run without a graph
  captured->slots_ = *std::move(slots);
  auto next = captured->slots_->address();
  for (std::size_t k = 0; k < operand_count(run); ++k) {
    if (!captured->has_slot_[k]) continue;
    operand(captured->memory_, k).address = next;
    next += slot_bytes(operand(run, k));
  }
  return captured;
}

CapturedRun* Graphs::keep(std::uint64_t program, std::unique_ptr<CapturedRun> captured) {
  auto& of = this->of(program);
  of.runs_since_capture = 0;
  if (of.captured.size() == kMaxPerProgram) of.captured.pop_back();
  of.captured.push_front(std::move(captured));
  limit_slot_bytes(program);
  return of.captured.front().get();
}

void Graphs::forget_ended_groups() {
  const auto has_ended = [](const RunMemory& run) {
    return std::ranges::any_of(run.groups, [](const auto& group) { return !group.second->health().ok(); });
  };
  std::erase_if(programs_, [&](const auto& entry) {
    const auto& [program, of] = entry;
    return has_ended(of.last) ||
           std::ranges::any_of(of.captured, [&](const auto& captured) { return has_ended(captured->memory()); });
  });
}

// Removes the graphs of the programs that were not run for the longest time, except those of the newest, until slots
// fit kMaxSlotBytesOfAll.
void Graphs::limit_slot_bytes(std::uint64_t newest) {
  const auto bytes_of = [](const ProgramGraphs& of) {
    std::size_t bytes = 0;
    for (const auto& captured : of.captured) bytes += captured->slots_ ? captured->slots_->size() : 0;
    return bytes;
  };
  std::size_t bytes = 0;
  for (const auto& entry : programs_) bytes += bytes_of(entry.second);
  while (bytes > kMaxSlotBytesOfAll) {
    const auto age = [&](const auto& entry) {  // removing programs without slots would free nothing
      const bool may_go = entry.first != newest && bytes_of(entry.second) > 0;
      return may_go ? entry.second.last_use : ~std::uint64_t{0};
    };
    const auto oldest = std::ranges::min_element(programs_, {}, age);
    if (age(*oldest) == ~std::uint64_t{0}) return;
    bytes -= bytes_of(oldest->second);
    programs_.erase(oldest);
  }
}

// Makes room by removing the program that was not run for the longest time.
Graphs::ProgramGraphs& Graphs::of(std::uint64_t program) {
  if (!programs_.contains(program) && programs_.size() == kMaxPrograms)
    programs_.erase(std::ranges::min_element(programs_, {}, [](const auto& entry) { return entry.second.last_use; }));
  auto& of = programs_[program];
  of.last_use = ++uses_;
  return of;
}

void Graphs::note(ProgramGraphs& of, const RunMemory& run) {
  static_assert(kRunsToSettle == 8, "a bit of a byte for each");
  const auto count = operand_count(run);
  of.moved.resize(count);
  const bool is_first = operand_count(of.last) != count;
  for (std::size_t k = 0; k < count; ++k) {
    const bool moved = is_first || operand(run, k) != operand(of.last, k);
    of.moved[k] = static_cast<std::uint8_t>(of.moved[k] << 1 | (moved ? 1 : 0));
  }
  const bool rest_moved = is_first || run.arena != of.last.arena || run.bindings != of.last.bindings ||
                          run.failures != of.last.failures || run.groups != of.last.groups;
  of.rest_moved = static_cast<std::uint8_t>(of.rest_moved << 1 | (rest_moved ? 1 : 0));
  of.runs_since_capture = std::min(of.runs_since_capture + 1, kRunsToSettle);
  of.last = run;
}

}  // namespace burn::backends::cuda

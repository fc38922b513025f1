#include "compile/codegen/group_memo.h"

#include <algorithm>
#include <array>

#include "ir/attrs.h"

namespace burn::compile {
namespace {

const GroupOperand& operand(const GroupPlan& plan, std::int32_t k) {
  const auto reads = static_cast<std::int32_t>(plan.reads().size());
  return k < reads ? plan.reads()[static_cast<std::size_t>(k)] : plan.writes()[static_cast<std::size_t>(k - reads)];
}

std::int32_t operand_count(const GroupPlan& plan) {
  return static_cast<std::int32_t>(plan.reads().size() + plan.writes().size());
}

bool is_same(const Address& a, const Address& b) {
  return a.base == b.base && a.index == b.index && a.offset == b.offset;
}

class KeyWriter {
 public:
  template <typename T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(T value) {
    key_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(std::span<const std::int64_t> numbers) {
    put(numbers.size());
    for (const auto number : numbers) put(number);
  }
  void put(const ir::Op& op) {
    std::array<std::byte, ir::kMaxOpImage> image;
    const auto size = ir::write_image(op, image.data());
    put(size);
    key_.append(reinterpret_cast<const char*>(image.data()), size);
  }
  std::string take() { return std::move(key_); }

 private:
  std::string key_;
};

// The operand's memory: what a kernel's width depends on, and whose memory it shares.
void put_memory(KeyWriter& key, const GroupPlan& plan, std::int32_t k) {
  const auto& view = operand(plan, k).view;
  constexpr std::int64_t kWidest = 16;  // bytes of an access
  key.put(view.dtype);
  key.put(view.shape.span());
  key.put(view.strides.span());
  key.put(operand(plan, k).counts ? view.address.offset : view.address.offset % kWidest);
  std::int32_t same = 0, beside = 0;
  while (!is_same(operand(plan, same).view.address, view.address)) ++same;
  while (operand(plan, beside).view.address.base != view.address.base ||
         operand(plan, beside).view.address.index != view.address.index)
    ++beside;
  key.put(same);
  key.put(beside);
}

}  // namespace

std::optional<std::string> GroupMemo::key(const GroupPlan& plan) {
  const auto& group = plan.group();
  const auto& program = plan.program();
  KeyWriter key;
  key.put(group.domain.span());
  key.put(group.row_size);
  key.put(group.members.size());
  for (const auto& member : group.members) {
    const auto& node = plan.node(member);
    if (std::holds_alternative<ir::Gather>(node.op) || member.level == Level::column) return std::nullopt;
    key.put(node.op);
    key.put(member.level);
    key.put(program.type_of(node).dtype);
    const auto operands = program.operands_of(node);
    key.put(operands.size());
    for (const auto ref : operands) {
      const auto* made = plan.member(ref);
      key.put(made != nullptr);
      key.put(made ? made - group.members.data() : plan.read(ref) - plan.reads().data());
    }
  }
  key.put(plan.reads().size());
  key.put(plan.writes().size());
  for (std::int32_t k = 0; k < operand_count(plan); ++k) {
    const auto& of = operand(plan, k);
    key.put(of.kind);
    key.put(of.counts);
    if (of.kind == GroupOperand::Kind::constant) {
      key.put(ir::Op{of.constant});
      key.put(program.type_of(of.ref).dtype);
      continue;
    }
    put_memory(key, plan, k);
  }
  for (const auto& write : plan.writes()) key.put(plan.member(write.ref) - group.members.data());
  return key.take();
}

std::shared_ptr<const WrittenGroup> GroupMemo::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = written_.find(key);
  return found == written_.end() ? nullptr : found->second;
}

void GroupMemo::keep(const std::string& key, std::shared_ptr<const WrittenGroup> written) {
  const std::lock_guard lock(mutex_);
  if (written_.size() >= kMax) written_.clear();  // shapes that change leave more behind than they use again
  written_.emplace(key, std::move(written));
}

// --- recording -------------------------------------------------------------------------------------------------------

std::shared_ptr<const WrittenGroup> GroupRecorder::take() {
  return cannot_be_reused_ ? nullptr : std::make_shared<const WrittenGroup>(std::move(written_));
}

std::int32_t GroupRecorder::operand_at(const Address& address) {
  for (std::int32_t k = 0; k < operand_count(plan_); ++k) {
    const auto& of = operand(plan_, k);
    if (of.kind != GroupOperand::Kind::constant && is_same(of.view.address, address)) return k;
  }
  return -1;
}

std::vector<GroupLaunch::Slot> GroupRecorder::slots(const std::vector<Argument>& arguments) {
  std::vector<GroupLaunch::Slot> slots;
  slots.reserve(arguments.size());
  for (const auto& argument : arguments) {
    const auto k = argument.is_address() ? operand_at(argument.address()) : -1;
    if (argument.is_address() && k < 0 && argument.address().base != Address::Base::bindings) cannot_be_reused_ = true;
    slots.push_back({k, argument});
  }
  return slots;
}

void GroupRecorder::launch(const KernelSource& source, const Grid& grid, std::vector<Argument> arguments) {
  written_.launches.push_back({source, grid, slots(arguments), {}});
  emit_.launch(source, grid, std::move(arguments));
}

void GroupRecorder::launch(std::shared_ptr<const BlockKernel> kernel, std::int64_t blocks,
                           std::vector<Argument> arguments, std::vector<Address> written) {
  GroupLaunch launch{kernel, {.blocks = blocks}, slots(arguments), {}};
  for (const auto& address : written) {
    launch.written.push_back(operand_at(address));
    if (launch.written.back() < 0) cannot_be_reused_ = true;
  }
  written_.launches.push_back(std::move(launch));
  emit_.launch(std::move(kernel), blocks, std::move(arguments), std::move(written));
}

void GroupRecorder::allow_in_place(const View& from, ir::Ref result) {
  const auto read = operand_at(from.address);
  const auto write = std::ranges::find(plan_.writes(), result, &GroupOperand::ref);
  if (read < 0 || write == plan_.writes().end())
    cannot_be_reused_ = true;
  else
    written_.in_place.emplace_back(read, static_cast<std::int32_t>(plan_.reads().size()) +
                                             static_cast<std::int32_t>(write - plan_.writes().begin()));
  emit_.allow_in_place(from, result);
}

Address GroupRecorder::scratch(std::size_t bytes) {
  cannot_be_reused_ = true;
  return emit_.scratch(bytes);
}
void GroupRecorder::call(LibraryCall call) {
  cannot_be_reused_ = true;
  emit_.call(std::move(call));
}
void GroupRecorder::fill_zero(const Address& where, std::size_t bytes) {
  cannot_be_reused_ = true;
  emit_.fill_zero(where, bytes);
}
Address GroupRecorder::report_index(std::int64_t size, std::int32_t node) {
  cannot_be_reused_ = true;
  return emit_.report_index(size, node);
}
Address GroupRecorder::report(std::function<Status(std::int64_t)> explain) {
  cannot_be_reused_ = true;
  return emit_.report(std::move(explain));
}

void emit_again(Emitter& emit, const GroupPlan& plan, const WrittenGroup& written) {
  for (const auto& [read, write] : written.in_place)
    emit.allow_in_place(operand(plan, read).view, operand(plan, write).ref);
  for (const auto& launch : written.launches) {
    std::vector<Argument> arguments;
    arguments.reserve(launch.arguments.size());
    for (const auto& slot : launch.arguments)
      arguments.push_back(slot.operand < 0 ? slot.literal : Argument(operand(plan, slot.operand).view));
    if (const auto* source = std::get_if<KernelSource>(&launch.kernel)) {
      emit.launch(*source, launch.grid, std::move(arguments));
      continue;
    }
    std::vector<Address> into;
    into.reserve(launch.written.size());
    for (const auto k : launch.written) into.push_back(operand(plan, k).view.address);
    emit.launch(std::get<std::shared_ptr<const BlockKernel>>(launch.kernel), launch.grid.blocks, std::move(arguments),
                std::move(into));
  }
}

}  // namespace burn::compile

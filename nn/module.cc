#include "nn/module.h"

#include <atomic>
#include <ostream>
#include <set>

#include "base/error.h"
#include "client/tensor_value.h"

namespace burn {

ParamId new_param_id() {
  static std::atomic<ParamId> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

namespace nn::detail {
namespace {

// Keeps the dotted path of the field being visited.
class PathVisitor : public SlotVisitor {
 public:
  explicit PathVisitor(const std::function<void(const std::string&, Slot&)>& body) : body_(body) {}

  void enter(std::string_view name, std::string_view) override {
    lengths_.push_back(path_.size());
    append(name);
  }
  void leave() override {
    path_.resize(lengths_.back());
    lengths_.pop_back();
  }
  void slot(std::string_view name, Slot& slot) override {
    const auto length = path_.size();
    append(name);
    client::fail_if_empty(slot.value, path_.c_str(), {});
    body_(path_, slot);
    path_.resize(length);
  }

 private:
  void append(std::string_view name) {
    if (!path_.empty() && !name.empty()) path_ += '.';
    path_ += name;
  }

  const std::function<void(const std::string&, Slot&)>& body_;
  std::string path_;
  std::vector<std::size_t> lengths_;
};

// A slot's numbers replaced by `value`, tracked as the slot was.
void replace(Slot& slot, const client::Value& value) {
  if (slot.role == Slot::Role::state) {
    slot.value = value.inner();
  } else if (slot.value.is_tracked()) {
    slot.value = client::require_grad(value);
  } else {
    slot.value = slot.value.is_autodiff() ? value.from_inner() : value;
  }
}

}  // namespace

void for_each_slot(const Walk& walk, const std::function<void(const std::string&, Slot&)>& body) {
  PathVisitor visitor{body};
  walk(visitor);
}

Record record_of(const Walk& walk) {
  // All reads are under way before the first is waited for.
  std::vector<std::pair<std::string, std::future<TensorData>>> reads;
  for_each_slot(walk, [&](const std::string& path, Slot& slot) { reads.emplace_back(path, client::to_data_async(slot.value)); });
  Record record;
  for (auto& [path, data] : reads) record.insert(path, data.get());
  return record;
}

void load_record(const Walk& walk, const Record& record, const char* module_name) {
  std::set<std::string> used;
  for_each_slot(walk, [&](const std::string& path, Slot& slot) {
    if (!record.contains(path)) {
      throw Error(StatusCode::not_found, std::string{"load_record: the record has no tensor \""} + path + "\" for " + module_name +
                                             ", which needs " + ir::to_string(slot.value.type()));
    }
    const TensorData data = record.get(path);
    if (data.shape() != slot.value.shape()) {
      throw Error(StatusCode::invalid_argument, "load_record: tensor \"" + path + "\" is " + ir::to_string(slot.value.type()) + " in " +
                                                    module_name + " but " + ir::to_string(data.type()) + " in the record");
    }
    const Device device{slot.value.device(), slot.value.is_autodiff()};
    replace(slot, client::from_data(data, {device, slot.value.dtype()}, slot.value.dtype()));
    used.insert(path);
  });
  for (const auto& name : record.names()) {
    if (!used.contains(name)) {
      throw Error(StatusCode::invalid_argument, "load_record: the record's tensor \"" + name + "\" (" +
                                                    ir::to_string(record.get(name).type()) + ") has no place in " + module_name);
    }
  }
}

void move_to(const Walk& walk, const Device& device) {
  for_each_slot(walk, [&](const std::string&, Slot& slot) {
    auto value = slot.value.inner();
    if (value.device() != device.state()) {
      value = client::from_data(client::to_data(value), {device.inner(), value.dtype()}, value.dtype());
    }
    const bool is_parameter = slot.role == Slot::Role::parameter && ir::is_floating(value.dtype());
    if (device.is_autodiff() && is_parameter) slot.value = client::require_grad(value);
    else slot.value = device.is_autodiff() && slot.role == Slot::Role::parameter ? value.from_inner() : value;
  });
}

void set_tracking(const Walk& walk, bool autodiff, bool require_grad) {
  for_each_slot(walk, [&](const std::string&, Slot& slot) {
    if (slot.role == Slot::Role::state) return;
    if (!autodiff) slot.value = slot.value.inner();
    else if (require_grad) slot.value = client::require_grad(slot.value);
    else slot.value = slot.value.detach();
  });
}

std::int64_t num_params(const Walk& walk) {
  std::int64_t count = 0;
  for_each_slot(walk, [&](const std::string&, Slot& slot) {
    if (slot.role == Slot::Role::parameter) count += slot.value.type().num_elements();
  });
  return count;
}

namespace {

// A tree: each module with its parameter count, each tensor with its type.
class PrintVisitor : public SlotVisitor {
 public:
  struct Line {
    std::size_t depth;
    std::string text;
    std::int64_t params;  // -1: a tensor
  };

  void enter(std::string_view name, std::string_view type) override {
    lines_.push_back({open_.size(), name.empty() ? std::string{type} : std::string{name} + ": " + std::string{type}, 0});
    open_.push_back(lines_.size() - 1);
  }
  void leave() override { open_.pop_back(); }
  void slot(std::string_view name, Slot& slot) override {
    const bool is_empty = !slot.value.has_value();
    lines_.push_back({open_.size(), std::string{name} + ": " + (is_empty ? "empty" : ir::to_string(slot.value.type())), -1});
    if (is_empty) return;
    if (slot.role != Slot::Role::parameter) return;
    for (const auto i : open_) lines_[i].params += slot.value.type().num_elements();
  }

  void write(std::ostream& out) const {
    for (const auto& line : lines_) {
      out << std::string(2 * line.depth, ' ') << line.text;
      if (line.params >= 0) out << " (" << line.params << " parameters)";
      out << '\n';
    }
  }

 private:
  std::vector<Line> lines_;
  std::vector<std::size_t> open_;
};

}  // namespace

void capture_slots(client::CaptureState& state, const Walk& walk) {
  class Teller : public SlotVisitor {
   public:
    explicit Teller(client::CaptureState& state) : state_(state) {}
    void enter(std::string_view, std::string_view) override {}
    void leave() override {}
    void slot(std::string_view, Slot& slot) override {
      state_.word(slot.id);
      state_.value(slot.value);
    }

   private:
    client::CaptureState& state_;
  };
  Teller teller{state};
  walk(teller);
}

void print(std::ostream& out, const Walk& walk) {
  PrintVisitor visitor;
  walk(visitor);
  visitor.write(out);
}

}  // namespace nn::detail
}  // namespace burn

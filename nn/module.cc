#include "nn/module.h"

#include <atomic>
#include <ostream>
#include <set>

#include "base/error.h"
#include "client/tensor/untyped.h"

namespace burn {

ParamId new_param_id() {
  static std::atomic<ParamId> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

namespace nn::detail {
namespace {

// Keeps the dotted path of the field being visited; a parameter without a tensor is an error that says which.
class PathVisitor : public SlotVisitor {
 public:
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
    visit(path_, slot);
    path_.resize(length);
  }

 private:
  virtual void visit(const std::string& path, Slot& slot) = 0;
  void append(std::string_view name) {
    if (!path_.empty() && !name.empty()) path_ += '.';
    path_ += name;
  }

  std::string path_;
  std::vector<std::size_t> lengths_;
};

class CallingVisitor final : public PathVisitor {
 public:
  explicit CallingVisitor(const std::function<void(const std::string&, Slot&)>& body) : body_(body) {}

 private:
  void visit(const std::string& path, Slot& slot) override { body_(path, slot); }

  const std::function<void(const std::string&, Slot&)>& body_;
};

const char* kind_name(ir::DType dtype) {
  return ir::is_floating(dtype) ? Float::kName : ir::is_bool(dtype) ? Bool::kName : Int::kName;
}

// A record may have other digits than the module, but not numbers of another kind: what they were meant for is unknown.
void check_fits(const std::string& path, const Slot& slot, const TensorData& data, const char* module_name) {
  const auto complain = [&](const std::string& why) {
    throw Error(StatusCode::invalid_argument, "load_record: tensor \"" + path + "\" is " +
                                                  ir::to_string(slot.value.type()) + " in " + module_name + " but " +
                                                  ir::to_string(data.type()) + " in the record" + why);
  };
  if (data.shape() != slot.value.shape()) complain("");
  const std::string wanted = kind_name(slot.value.dtype()), given = kind_name(data.dtype());
  if (wanted != given) complain(": it takes " + wanted + " numbers of any precision, not " + given);
  const auto dtype = slot.value.dtype();
  if (given == Int::kName && dtype != data.dtype() &&
      data.convert_dtype(dtype).to_vec_as<std::int64_t>() != data.to_vec_as<std::int64_t>()) {
    complain(": not all of its numbers fit");
  }
}

// For walks that change a module. A plain tensor of a module may be empty: whoever made it knows when it is filled.
class ChangeVisitor : public PathVisitor {
 public:
  void tensor(client::Value& value) override {
    if (value.has_value()) change(value);
  }

 private:
  void visit(const std::string&, Slot& slot) override { change(slot); }
  virtual void change(Slot& slot) = 0;
  virtual void change(client::Value& tensor) = 0;
};

}  // namespace

void for_each_slot(const Walk& walk, const std::function<void(const std::string&, Slot&)>& body) {
  CallingVisitor visitor{body};
  walk(visitor);
}

Record record_of(const Walk& walk) {
  std::vector<Record::Read> reads;
  for_each_slot(
      walk, [&](const std::string& path, Slot& slot) { reads.emplace_back(path, client::to_data_async(slot.value)); });
  Record record;
  record.insert_reads(std::move(reads));
  return record;
}

Record read_record_of(const Walk& walk) {
  auto record = record_of(walk);
  record.wait();
  return record;
}

void load_record(const Walk& walk, const Record& record, const char* module_name) {
  std::set<std::string> used;
  for_each_slot(walk, [&](const std::string& path, Slot& slot) {
    if (!record.contains(path)) {
      throw Error(StatusCode::not_found, std::string{"load_record: the record has no tensor \""} + path + "\" for " +
                                             module_name + ", which needs " + ir::to_string(slot.value.type()));
    }
    const TensorData data = record.get(path);
    check_fits(path, slot, data, module_name);
    const auto dtype = slot.value.dtype();
    const Device device{slot.value.device()};
    slot.put(client::from_data(data, {device, dtype}, dtype), slot.value.is_autodiff());
    used.insert(path);
  });
  for (const auto& name : record.names()) {
    if (!used.contains(name)) {
      throw Error(StatusCode::invalid_argument, "load_record: the record's tensor \"" + name + "\" (" +
                                                    ir::to_string(record.get(name).type()) + ") has no place in " +
                                                    module_name);
    }
  }
}

client::Value on_device(const client::Value& value, const Device& device) {
  if (value.device() == device.state()) return value.inner();
  return client::from_data(client::to_data(value), {device.inner(), value.dtype()}, value.dtype());
}

void move_to(const Walk& walk, const Device& device) {
  class Mover : public ChangeVisitor {
   public:
    explicit Mover(const Device& device) : device_(device) {}

   private:
    void change(Slot& slot) override { slot.put(on_device(slot.value, device_), device_.is_autodiff()); }
    void change(client::Value& tensor) override {
      const auto moved = on_device(tensor, device_);
      tensor = device_.is_autodiff() ? moved.from_inner() : moved;
    }
    const Device device_;
  };
  Mover mover{device};
  walk(mover);
}

void cast_to(const Walk& walk, ir::DType dtype) {
  class Caster : public ChangeVisitor {
   public:
    explicit Caster(ir::DType dtype) : dtype_(dtype) {}

   private:
    bool fits(const client::Value& value) const { return value.dtype() == dtype_ || !ir::is_floating(value.dtype()); }
    void change(Slot& slot) override {
      if (!fits(slot.value)) slot.put(client::cast(slot.value.inner(), dtype_, {}), slot.value.is_autodiff());
    }
    void change(client::Value& tensor) override {
      if (!fits(tensor)) tensor = client::cast(tensor, dtype_, {});
    }
    const ir::DType dtype_;
  };
  if (!ir::is_floating(dtype)) {
    throw Error(StatusCode::invalid_argument,
                "to_dtype: a module's numbers are floats, not " + std::string{ir::name(dtype)});
  }
  Caster caster{dtype};
  walk(caster);
}

void set_training(const Walk& walk, bool is_training) {
  class Switch : public ChangeVisitor {
   public:
    explicit Switch(bool is_training) : is_training_(is_training) {}
    void training(Training& training) override {
      training.set(is_training_ ? Training::Mode::on : Training::Mode::off);
    }

   private:
    void change(Slot& slot) override {
      if (slot.role == Slot::Role::state || slot.value.is_autodiff() == is_training_) return;
      slot.put(slot.value.inner(), is_training_);
    }
    void change(client::Value& tensor) override {
      if (tensor.is_autodiff() != is_training_) tensor = is_training_ ? tensor.from_inner() : tensor.inner();
    }
    const bool is_training_;
  };
  Switch change{is_training};
  walk(change);
}

void set_require_grad(const Walk& walk, bool wanted) {
  for_each_slot(walk, [&](const std::string&, Slot& slot) { slot.set_require_grad(wanted); });
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
    lines_.push_back(
        {open_.size(), name.empty() ? std::string{type} : std::string{name} + ": " + std::string{type}, 0});
    open_.push_back(lines_.size() - 1);
  }
  void leave() override { open_.pop_back(); }
  void slot(std::string_view name, Slot& slot) override {
    const bool is_empty = !slot.value.has_value();
    lines_.push_back(
        {open_.size(), std::string{name} + ": " + (is_empty ? "empty" : ir::to_string(slot.value.type())), -1});
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
    void training(Training& training) override { state_.word(static_cast<std::uint64_t>(training.mode())); }
    void tensor(client::Value& value) override { state_.value(value); }

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

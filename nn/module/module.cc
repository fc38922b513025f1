#include "nn/module/module.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "base/error.h"
#include "client/ops/ops.h"
#include "client/tensor/untyped.h"
#include "nn/module/tied.h"
#include "store/pieces.h"

namespace burn {

ParamId new_param_id() {
  static std::atomic<ParamId> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

namespace nn {
namespace {

const char* kind_name(ir::DType dtype) {
  return ir::is_floating(dtype) ? Float::kName : ir::is_bool(dtype) ? Bool::kName : Int::kName;
}

// A record may have another precision than the module, but not numbers of another kind, whose meaning would be unknown.
void check_fits(const std::string& path, const ir::TensorType& type, const TensorData& data, const char* module_name) {
  const auto complain = [&](const std::string& why) {
    throw Error(StatusCode::invalid_argument, "load_record: tensor \"" + path + "\" is " + ir::to_string(type) +
                                                  " in " + module_name + " but " + ir::to_string(data.type()) +
                                                  " in the record" + why);
  };
  if (data.shape() != type.shape) complain("");
  const std::string wanted = kind_name(type.dtype), given = kind_name(data.dtype());
  if (wanted != given) complain(": it takes " + wanted + " numbers of any precision, not " + given);
  const auto dtype = type.dtype;
  if (given == Int::kName && dtype != data.dtype() &&
      data.convert_dtype(dtype).to_vec_as<std::int64_t>() != data.to_vec_as<std::int64_t>()) {
    complain(": not all of its numbers fit");
  }
}

// Visits the plain tensors of a module. Empty ones are skipped: they are filled later.
class TensorVisitor : public ModuleVisitor {
 public:
  explicit TensorVisitor(const std::function<void(client::Value&)>& body) : body_(body) {}
  void enter(std::string_view, std::string_view) override {}
  void leave() override {}
  void slot(std::string_view, Slot&) override {}
  void tensor(client::Value& value) override {
    if (value.has_value()) body_(value);
  }

 private:
  const std::function<void(client::Value&)>& body_;
};

void for_each_tensor(const ModuleWalk& walk, const std::function<void(client::Value&)>& body) {
  TensorVisitor visitor{body};
  walk(visitor);
}

std::string quoted(const std::vector<std::string>& paths) {
  std::string all;
  for (const auto& path : paths) all += (all.empty() ? "\"" : ", \"") + path + '"';
  return all;
}

// The record's tensor for a parameter, found by any of its paths. If the record has several (it is of a module in which
// the places were separate parameters), they must be equal.
TensorData find_in(const Record& record, const std::vector<std::string>& paths, const Slot& slot,
                   const char* module_name) {
  const TensorData* found = nullptr;
  std::string found_by;
  for (const auto& path : paths) {
    const auto* data = record.find(path);
    if (data == nullptr) continue;
    if (found != nullptr &&
        (found->type() != data->type() || !std::ranges::equal(found->as_bytes(), data->as_bytes()))) {
      std::string what = "load_record: \"";
      what.append(found_by).append("\" and \"").append(path).append("\" are one parameter of ").append(module_name);
      throw Error(StatusCode::invalid_argument, what.append(", but other numbers in the record"));
    }
    if (found != nullptr) continue;
    found = data;
    found_by = path;
  }
  if (found != nullptr) return *found;
  throw Error(StatusCode::not_found, std::string{"load_record: the record has no tensor "} + quoted(paths) + " for " +
                                         module_name + ", which needs " + ir::to_string(slot.value.type()));
}

}  // namespace

client::Value for_record(const Slot& slot) {
  return slot.mapping ? slot.mapping->save(slot.value.inner()) : slot.value;
}

Record record_of(const ModuleWalk& walk) {
  std::vector<Record::Read> reads;
  for_each_slot(walk, [&](const std::string& path, Slot& slot) {
    reads.emplace_back(path, client::to_data_async(for_record(slot)));
  });
  Record record;
  record.insert_reads(std::move(reads));
  return record;
}

Record::Source source_of(std::string name, const client::Value& value) {
  const auto held = value.inner();
  const auto read = [held] { return client::to_data_async(held); };
  const auto type = value.type();
  if (type.num_bytes() < 2 * store::ReadInPieces::kPieceBytes) return {std::move(name), type, read};
  const auto elements = type.num_elements();
  const auto each = static_cast<std::int64_t>(store::ReadInPieces::kPieceBytes / ir::size_of(type.dtype));
  const auto piece = [held, elements, each](std::size_t k) {
    const auto begin = static_cast<std::int64_t>(k) * each;
    const auto row = client::reshape(held, {elements}, {});
    return client::to_data_async(client::narrow(row, 0, begin, std::min(each, elements - begin), {}));
  };
  return {std::move(name), type,
          store::ReadInPieces{read, static_cast<std::size_t>((elements + each - 1) / each), piece}};
}

Record snapshot_of(const ModuleWalk& walk) {
  std::vector<Record::Source> sources;
  for_each_slot(walk,
                [&](const std::string& path, Slot& slot) { sources.push_back(source_of(path, for_record(slot))); });
  Record record;
  record.insert_sources(std::move(sources));
  return record;
}

void load_record(const ModuleWalk& walk, const Record& record, const char* module_name, const SlotFilter& only) {
  std::set<std::string> used;
  for_each_slot_with_paths(walk, [&](const std::vector<std::string>& paths, Slot& slot) {
    if (only && !only(slot, paths)) return;
    const TensorData data = find_in(record, paths, slot, module_name);
    // for_record(slot) has the shape and dtype that the record must have; it is not computed.
    check_fits(paths.front(), for_record(slot).type(), data, module_name);
    const auto dtype = slot.value.dtype();
    const Device device{slot.value.device()};
    const auto loaded = client::from_data(data, {device, dtype}, dtype);
    slot.put(slot.mapping ? slot.mapping->load(loaded) : loaded, slot.value.is_autodiff());
    used.insert(paths.begin(), paths.end());
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

namespace detail {

Record read_record_of(const ModuleWalk& walk) {
  auto record = record_of(walk);
  record.wait();
  return record;
}

void collect_devices(const ModuleWalk& walk, std::vector<Device>& devices) {
  for_each_slot(walk, [&](const std::string&, Slot& slot) {
    const Device device{slot.value.device(), slot.value.is_autodiff()};
    const auto known = std::ranges::find(devices, device.inner(), [](const Device& other) { return other.inner(); });
    if (known == devices.end())
      devices.push_back(device);
    else if (device.is_autodiff())
      *known = device;
  });
}

void move_to(const ModuleWalk& walk, const Device& device) {
  for_each_slot(walk,
                [&](const std::string&, Slot& slot) { slot.put(on_device(slot.value, device), device.is_autodiff()); });
  for_each_tensor(walk, [&](client::Value& tensor) {
    const auto moved = on_device(tensor, device);
    tensor = device.is_autodiff() ? moved.from_inner() : moved;
  });
}

void cast_to(const ModuleWalk& walk, ir::DType dtype) {
  if (!ir::is_floating(dtype)) {
    throw Error(StatusCode::invalid_argument,
                "to_dtype: a module's numbers are floats, not " + std::string{ir::name(dtype)});
  }
  const auto fits = [&](const client::Value& value) {
    return value.dtype() == dtype || !ir::is_floating(value.dtype());
  };
  for_each_slot(walk, [&](const std::string&, Slot& slot) {
    if (!fits(slot.value)) slot.put(client::cast(slot.value.inner(), dtype, {}), slot.value.is_autodiff());
  });
  for_each_tensor(walk, [&](client::Value& tensor) {
    if (!fits(tensor)) tensor = client::cast(tensor, dtype, {});
  });
}

void set_training(const ModuleWalk& walk, bool is_training) {
  class Switch : public ModuleVisitor {
   public:
    explicit Switch(bool is_training) : mode_(is_training ? Training::Mode::on : Training::Mode::off) {}
    void enter(std::string_view, std::string_view) override {}
    void leave() override {}
    void slot(std::string_view, Slot&) override {}
    void training(Training& training) override { training.set(mode_); }

   private:
    const Training::Mode mode_;
  };
  for_each_slot(walk, [&](const std::string&, Slot& slot) {
    if (slot.role == Slot::Role::state || slot.value.is_autodiff() == is_training) return;
    slot.put(slot.value.inner(), is_training);
  });
  for_each_tensor(walk, [&](client::Value& tensor) {
    if (tensor.is_autodiff() != is_training) tensor = is_training ? tensor.from_inner() : tensor.inner();
  });
  Switch change{is_training};
  walk(change);
}

void set_require_grad(const ModuleWalk& walk, bool wanted) {
  for_each_slot(walk, [&](const std::string&, Slot& slot) { slot.set_require_grad(wanted); });
}

std::int64_t num_params(const ModuleWalk& walk) {
  std::int64_t count = 0;
  for_each_slot(walk, [&](const std::string&, Slot& slot) {
    if (slot.role == Slot::Role::parameter) count += slot.value.type().num_elements();
  });
  return count;
}

void capture_slots(client::CaptureState& state, const ModuleWalk& walk) {
  class SlotRecorder : public ModuleVisitor {
   public:
    SlotRecorder(client::CaptureState& state, const ModuleWalk& walk) : state_(state), walk_(walk) {}
    void enter(std::string_view, std::string_view) override {}
    void leave() override {}
    void param(std::string_view name, ParamBase& param) override {
      if (param.is_adapted()) {
        state_.word(reinterpret_cast<std::uintptr_t>(param.adapter().how.get()));
        state_.keep(param.adapter().how);
      }
      ModuleVisitor::param(name, param);
    }
    void slot(std::string_view, Slot& slot) override {
      const auto* first = slot.value.has_value() ? firsts_.find_or_add(slot) : nullptr;
      if (first != nullptr) {
        if (!agree(*first->slot, slot)) for_each_slot(walk_, [](const std::string&, Slot&) {});  // throws, with paths
        if (slot.value.tape().get() != first->slot->value.tape().get()) slot = *first->slot;     // the same leaf
      }
      state_.word(slot.id);
      state_.value(slot.value);
    }
    void training(Training& training) override { state_.word(static_cast<std::uint64_t>(training.mode())); }
    void tensor(client::Value& value) override { state_.value(value); }

   private:
    client::CaptureState& state_;
    const ModuleWalk& walk_;
    FirstPlaces firsts_;
  };
  SlotRecorder recorder{state, walk};
  walk(recorder);
}

}  // namespace detail
}  // namespace nn
}  // namespace burn

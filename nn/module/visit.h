// Walks over the tensors of any module, without knowing its type: optimizers, records and the learner use them.
// `module.walk()` returns the walk of a module (nn/module/module.h).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/device.h"
#include "nn/module/param.h"
#include "nn/module/training.h"
#include "store/record.h"

namespace burn::nn {

// Visits the fields of a module in the order of its BURN_MODULE list. `enter` and `leave` bracket a field that contains
// fields: a module, a list, a map. `type`: the module's name, or "list", "tuple", "map", "variant".
class ModuleVisitor {
 public:
  virtual ~ModuleVisitor() = default;
  virtual void enter(std::string_view name, std::string_view type) = 0;
  virtual void leave() = 0;
  virtual void slot(std::string_view name, Slot& slot) = 0;  // a Param or RunningState
  // A Param. By default visits its slot, then those of its adapter between enter() and leave().
  virtual void param(std::string_view name, ParamBase& param);
  virtual void training(Training&) {}
  virtual void tensor(client::Value&) {}  // a plain Tensor: neither trained nor recorded, but moved with the module
};

// Calls a visitor for the fields of the module that the walk belongs to, which must outlive the walk.
using ModuleWalk = std::function<void(ModuleVisitor&)>;

// Calls body for every tensor once, with its first path. If body changes a parameter, the change is copied to all its
// places. Errors (thrown), before the first call, with the paths: a tensor that is empty; places of one parameter that
// differ in device, dtype, storage or in being frozen.
void for_each_slot(const ModuleWalk& walk, const std::function<void(const std::string& path, Slot&)>& body);
// The same with all paths of each tensor.
void for_each_slot_with_paths(const ModuleWalk& walk,
                              const std::function<void(const std::vector<std::string>& paths, Slot&)>& body);
// Calls body for every place of every tensor, without paths, so no strings are built. `is_first`: false for the second
// and further places of a parameter. body must not change the slot. Errors: as for_each_slot(), but thrown when the
// walk reaches the place.
void for_each_place(const ModuleWalk& walk, const std::function<void(Slot&, bool is_first)>& body);
// Copies the slot at the first place of each parameter to its other places.
void share_parameters(const ModuleWalk& walk);

// All tensors by path. Their reads are started here; the record waits for them when it is read.
Record record_of(const ModuleWalk& walk);
// The same, but tensors are read only when the record needs them (Record::insert_sources). Until then the record holds
// the present tensors on their device, even if the module's are replaced meanwhile. Send the recording on the device
// before the call.
Record snapshot_of(const ModuleWalk& walk);
// A tensor as an entry of such a record; large ones are read in pieces.
Record::Source source_of(std::string name, const client::Value& value);
// The value that a record stores for a tensor of a module (Param::with_record_mappers).
client::Value for_record(const Slot& slot);
// Loads the record's values into the module. Errors (thrown), with the path and `module_name`: a tensor that is
// missing, left over, or of another shape or kind. `only`: selects the tensors to load; null: all.
using SlotFilter = std::function<bool(const Slot& slot, const std::vector<std::string>& paths)>;
void load_record(const ModuleWalk& walk, const Record& record, const char* module_name, const SlotFilter& only = {});
// The value on another device, off the tape. Between devices it is copied through the host.
client::Value on_device(const client::Value& value, const Device& device);

}  // namespace burn::nn

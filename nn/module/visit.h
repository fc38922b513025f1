// Walks over the tensors of any module, without its type: what optimizers, records and the learner are made with.
// `module.walk()` gives the walk of a module (nn/module/module.h).
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

// Meets the fields of a module in the order of its BURN_MODULE list. `enter` and `leave` bracket a field that has
// fields: a module, a list, a map. `type`: the module's name, or "list", "tuple", "map", "variant".
class ModuleVisitor {
 public:
  virtual ~ModuleVisitor() = default;
  virtual void enter(std::string_view name, std::string_view type) = 0;
  virtual void leave() = 0;
  virtual void slot(std::string_view name, Slot& slot) = 0;  // a Param or RunningState
  // A Param: its slot, and those of its adapter between enter() and leave(), if nothing else is said.
  virtual void param(std::string_view name, ParamBase& param);
  virtual void training(Training&) {}
  virtual void tensor(client::Value&) {}  // a plain Tensor: neither trained nor recorded, but moved with the module
};

// Takes a visitor through the module it belongs to, which must outlive it.
using ModuleWalk = std::function<void(ModuleVisitor&)>;

// Calls body for every tensor once, by its first path. What it makes of a parameter is at all places of the parameter
// afterwards. Errors (thrown), before the first call: a tensor that is empty; places of one parameter that differ in
// device, dtype, numbers or in being frozen, by their paths.
void for_each_slot(const ModuleWalk& walk, const std::function<void(const std::string& path, Slot&)>& body);
// The same with all paths of each tensor.
void for_each_slot_with_paths(const ModuleWalk& walk,
                              const std::function<void(const std::vector<std::string>& paths, Slot&)>& body);
// Calls body for every place of every tensor, without paths, which cost strings. `is_first`: the slot is no further
// place of a parameter. The body changes nothing. Errors: as for_each_slot(), at the place where they are found.
void for_each_place(const ModuleWalk& walk, const std::function<void(Slot&, bool is_first)>& body);
// Puts what is at the first place of each parameter at its other places, too.
void share_parameters(const ModuleWalk& walk);

// All tensors by path; the record waits for their numbers when it is read.
Record record_of(const ModuleWalk& walk);
// The same, asked for when they are wanted (Record::insert_sources); until then the record holds the tensors as they
// are now on their device, whatever the module is given meanwhile. What is recorded so far should have been sent.
Record snapshot_of(const ModuleWalk& walk);
// A tensor as a part of such a record.
Record::Source source_of(std::string name, const client::Value& value);
// A tensor of a module as a record has it (Param::with_record_mappers).
client::Value for_record(const Slot& slot);
// Gives the module the record's numbers. Errors (thrown): a tensor missing, left over, of another shape or kind, by its
// path and `module_name`. `only`: which tensors are loaded, by their paths; null: all.
using TakesPart = std::function<bool(const Slot& slot, const std::vector<std::string>& paths)>;
void load_record(const ModuleWalk& walk, const Record& record, const char* module_name, const TakesPart& only = {});
// The value on another device, off the tape. Between devices its numbers go by way of the host.
client::Value on_device(const client::Value& value, const Device& device);

}  // namespace burn::nn

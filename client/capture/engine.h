// The recordings of one captured step, and the choice among them: the part of client/capture/capture.h that does not
// depend on the argument types.
#pragma once

#include <any>
#include <list>
#include <memory>
#include <vector>

#include "client/capture/recorded_form.h"
#include "client/capture/state.h"

namespace burn::client {

// One thread at a time.
class CaptureEngine {
 public:
  // The number of recordings kept, for arguments of different shapes; beyond it the least recently used one is dropped.
  static constexpr std::size_t kMaxRecordings = 32;

  explicit CaptureEngine(std::shared_ptr<DeviceState> device);

  // --- the steps of a call: first its arguments, ...
  void begin();
  CaptureState& persistent() { return persistent_; }  // arguments that outlive the call, and may be changed by it
  CaptureState& temporary() { return temporary_; }    // arguments that do not
  void number(Scalar value);                          // the step gets numbers() in place of them
  const std::vector<Scalar>& numbers() const { return numbers_; }
  // ... whether it can be replayed, ...
  bool finds_recording();
  // ... if so, the form of its result, and the replay, which fills `result`; ...
  const std::any& result_form() const { return recordings_.front().result_form; }
  void replay(const CaptureState& result);
  // ... if not, around the step itself:
  class CaptureScope {
   public:
    explicit CaptureScope(CaptureEngine& engine);
    ~CaptureScope();  // without finish(), as the step threw: the recorded ops become an ordinary recording
    // `persistent`: the persistent arguments, after the step. Errors (thrown): anything that would make a replay differ
    // from a call.
    void finish(const CaptureState& persistent, const CaptureState& result);

   private:
    CaptureEngine& engine_;
    const std::vector<CaptureHost*> hosts_;
    CaptureLog log_;
    bool is_open_ = true;
  };
  void set_result_form(std::any form) { recordings_.front().result_form = std::move(form); }

  std::size_t recorded() const { return recorded_; }
  std::size_t replayed() const { return replayed_; }

 private:
  struct Recorded {
    std::vector<std::uint64_t> words;  // the arguments' words, numbers, aliases and kinds: compute_signature()
    std::vector<ir::TensorType> types;
    std::vector<std::shared_ptr<const void>> kept;
    RecordedForm form;
    bool keeps_its_shape = false;       // a call does not change the arguments' words, or which of them are empty
    int times = 0;                      // how often it was recorded with the same outcome
    std::vector<std::int32_t> dropped;  // for each input, as in CapturedCall
    std::vector<std::pair<std::vector<bool>, std::shared_ptr<const ir::Program>>> by_donation;  // by donated inputs
    std::any result_form;
  };

  void compute_signature();
  bool has_types(const std::vector<ir::TensorType>& types) const;
  std::size_t first_alias(std::size_t argument) const { return static_cast<std::size_t>(aliases_[argument]); }
  const Value& changed(const Value* holder) const;  // what the replay under way will assign to *holder, or *holder
  void keep(RecordedForm form, bool keeps_its_shape);
  std::vector<std::uint64_t> scalars_of(const RecordedForm& form);

  const std::shared_ptr<DeviceState> device_;
  const bool always_records_;       // BURN_CAPTURE=check: every call is recorded and compared, none replayed
  std::list<Recorded> recordings_;  // most recently used first
  std::size_t recorded_ = 0, replayed_ = 0;

  // State of the call under way.
  CaptureState persistent_{device_}, temporary_{device_};
  std::vector<Scalar> numbers_;
  std::vector<Value*> arguments_;  // persistent, then temporary
  std::vector<std::uint64_t> aliases_;
  std::vector<proto::TensorId> ids_;
  std::vector<std::uint64_t> words_;               // of the signature
  std::vector<ir::TensorType> types_;              // of the signature; set only if the call is recorded
  std::vector<std::pair<Value*, Value>> changes_;  // what a replay assigns; empty between calls
};

}  // namespace burn::client

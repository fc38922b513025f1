// The recordings of one captured step, and the choice among them: client/capture/capture.h without its types.
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
  // Recordings kept, for arguments of different shapes; beyond it the one used least recently goes.
  static constexpr std::size_t kMaxRecordings = 32;

  explicit CaptureEngine(std::shared_ptr<DeviceState> device);

  // --- a call: what it is given, ...
  void begin();
  CaptureState& lasting() { return lasting_; }  // arguments that are still there afterwards, and may be changed
  CaptureState& passing() { return passing_; }  // those that are not
  void number(Scalar value);                    // the step gets numbers() in their places
  const std::vector<Scalar>& numbers() const { return numbers_; }
  // ... whether it can be replayed, ...
  bool finds_recording();
  // ... if so, the form of its result, and the run itself, into `result`; ...
  const std::any& result_form() const { return recordings_.front().result_form; }
  void replay(const CaptureState& result);
  // ... if not, around the step itself:
  class CaptureScope {
   public:
    explicit CaptureScope(CaptureEngine& engine);
    ~CaptureScope();  // without finish(): the step threw, and what it recorded is an ordinary recording
    // `lasting`: the lasting arguments again. Errors (thrown): whatever would make a replay differ from a call.
    void finish(const CaptureState& lasting, const CaptureState& result);

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
    std::vector<std::uint64_t> words;  // the arguments' own, what their tensors are besides types, which are the same
    std::vector<ir::TensorType> types;
    std::vector<std::shared_ptr<const void>> kept;
    RecordedForm form;
    bool keeps_its_shape = false;       // a call leaves the arguments in the shape that it found them in
    int times = 0;                      // it was recorded with the same outcome
    std::vector<std::int32_t> dropped;  // for each input, as in CapturedCall
    std::vector<std::pair<std::vector<bool>, std::shared_ptr<const ir::Program>>> giving;  // by what they give away
    std::any result_form;
  };

  void sign();
  bool has_types(const std::vector<ir::TensorType>& types) const;
  std::size_t first_alias(std::size_t argument) const { return static_cast<std::size_t>(aliases_[argument]); }
  const Value& changed(const Value* holder) const;  // what a replay has for a Value, so far
  void keep(RecordedForm form, bool keeps_its_shape);
  std::vector<std::uint64_t> scalars_of(const RecordedForm& form);

  const std::shared_ptr<DeviceState> device_;
  const bool always_records_;       // BURN_CAPTURE=check: every call is recorded and compared, none replayed
  std::list<Recorded> recordings_;  // the one used last first
  std::size_t recorded_ = 0, replayed_ = 0;

  // Of the call under way.
  CaptureState lasting_{device_}, passing_{device_};
  std::vector<Scalar> numbers_;
  std::vector<Value*> arguments_;  // lasting, then passing
  std::vector<std::uint64_t> aliases_;
  std::vector<proto::TensorId> ids_;
  std::vector<std::uint64_t> words_;               // the signature's
  std::vector<ir::TensorType> types_;              // likewise, where the call is recorded
  std::vector<std::pair<Value*, Value>> changes_;  // what a replay assigns; empty between calls
};

}  // namespace burn::client

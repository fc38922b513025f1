// The recordings of one captured step, and the choice among them: client/capture/capture.h without its types.
#pragma once

#include <any>
#include <list>
#include <memory>
#include <vector>

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
  // Where a tensor comes from after a call, and how the Value that holds it is made.
  struct Source {
    enum class From { nothing, argument, output } from = From::nothing;
    std::size_t index = 0;
    bool is_autodiff = false, is_leaf = false;
    std::int64_t same_leaf_as = -1;  // an earlier one of the lasting and the result's: a parameter at several places
    friend bool operator==(const Source&, const Source&) = default;
  };
  // What was recorded, free of the numbers and tensors of the call.
  struct Form {
    std::shared_ptr<const ir::Program> program;  // gives nothing away
    std::vector<std::size_t> inputs;             // arguments' tensors
    std::vector<Source> lasting, result;
    std::vector<CaptureLog::Given> given;
    std::vector<CaptureLog::Event> events;
    std::vector<std::int64_t> event_numbers;          // which of the call's numbers an event takes; -1: its own
    std::vector<std::uint64_t> scalars;               // those given with a call are 0
    std::string difference(const Form& later) const;  // empty: none
  };
  struct Recorded {
    std::vector<std::uint64_t> words;  // the arguments' own, what their tensors are besides types, which are the same
    std::vector<ir::TensorType> types;
    std::vector<std::shared_ptr<const void>> kept;
    Form form;
    bool keeps_its_shape = false;       // a call leaves the arguments in the shape that it found them in
    int times = 0;                      // it was recorded with the same outcome
    std::vector<std::int32_t> dropped;  // for each input, as in CapturedCall
    std::vector<std::pair<std::vector<bool>, std::shared_ptr<const ir::Program>>> giving;  // by what they give away
    std::any result_form;
  };

  void sign();
  bool has_types(const std::vector<ir::TensorType>& types) const;
  std::size_t first_alias(std::size_t argument) const { return static_cast<std::size_t>(aliases_[argument]); }
  Source source_of(const Value& value, const CapturedRun& captured) const;
  std::vector<Source> sources_of(const std::vector<Value*>& values, const CapturedRun& captured) const;
  const Value& changed(const Value* holder) const;  // what a replay has for a Value, so far
  Form form_of(const CaptureLog& log, const CapturedRun& captured, const CaptureState& lasting,
               const CaptureState& result) const;
  std::vector<std::int32_t> dropped_of(const Form& form) const;
  void keep(Form form, bool keeps_its_shape);
  std::vector<std::uint64_t> scalars_of(const Form& form);

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

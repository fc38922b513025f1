// A step that is recorded once and then run again without being recorded anew:
//
//   auto step = capture(device, [](Net& net, optim::Optimizer<Net>& optim, Scalar lr, const Tensor<2>& images,
//                                  const Tensor<1, Int>& targets) {
//     auto loss = nn::CrossEntropyLoss{}(net.forward(images), targets);
//     net = optim.step(lr, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
//     return loss;
//   });
//   for (const auto& batch : loader) loss = step(net, optim, schedule.step(), batch.images, batch.targets);
//
// A call returns the same bits as calling the function itself, provided that:
//
// * Everything that changes from call to call is an argument. State (a module, an optimizer, a running mean) is taken
//   by reference and holds the new tensors afterwards; an argument that is only read may be a temporary.
// * Numbers that change are passed as numbers and taken as burn::Scalar, which tensor functions and optim.step()
//   accept. A double does not compile: arithmetic on the host would lose its source. Every other number, flag and
//   branch is part of the recording. An optimizer counts its steps itself, replayed calls included.
// * Random numbers are drawn from the device's stream, as many with each call as were recorded.
// * The step reads, uploads and seeds nothing; flush() has no effect in it: the step is one program.
// * Results have no tape: call backward() within the step.
//
// A call whose arguments have new shapes, dtypes or modules gets a recording of its own. The first two calls with the
// same shapes, dtypes and modules are both recorded, and must agree. Violations that can be detected throw burn::Error:
// use of an outside tensor that is not an argument, a tensor of the step that is kept outside, a number that differs in
// the second recording, a read inside the step. A number or a branch outside the arguments that changes later cannot be
// detected; with BURN_CAPTURE=check in the environment every call is recorded and compared, to find those.
//
// A call first sends the ops that this thread has recorded before it, as a program of their own: it is cheaper to
// prepare a batch inside the step.
#pragma once

#include <concepts>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "client/capture/engine.h"
#include "client/device.h"

namespace burn {

namespace client {

template <typename T>
concept CapturedNumber = Arithmetic<std::remove_cvref_t<T>> || std::same_as<std::remove_cvref_t<T>, Scalar>;

// The type as which the step receives an argument of a call.
template <typename T>
using CapturedArgument = std::conditional_t<CapturedNumber<T>, Scalar, T&&>;

}  // namespace client

// Returned by capture(): called like the function, with numbers in place of Scalars. Movable, not copyable; one thread
// at a time.
template <typename Fn>
class Captured {
 public:
  Captured(const Device& device, Fn step)
      : engine_(std::make_unique<client::CaptureEngine>(device.state())), step_(std::move(step)) {}

  // Errors: those of the step, and of the rules above. The arguments are then as the step left them.
  template <typename... Args>
  auto operator()(Args&&... args) {
    static_assert(std::is_invocable_v<Fn&, client::CapturedArgument<Args>...>,
                  "the step does not take these arguments; numbers reach it as burn::Scalar, by value");
    using Result = std::invoke_result_t<Fn&, client::CapturedArgument<Args>...>;
    static_assert(!std::is_reference_v<Result>, "a captured step returns a value");
    engine_->begin();
    (collect_argument<Args>(args), ...);
    if constexpr (std::is_void_v<Result>) {
      client::CaptureState nothing;
      if (engine_->finds_recording()) {
        engine_->replay(nothing);
        return;
      }
      record(nothing, std::forward<Args>(args)...);
    } else {
      client::CaptureState in_result;
      if (engine_->finds_recording()) {
        Result result = std::any_cast<const Result&>(engine_->result_form());
        in_result.fields(result);
        engine_->replay(in_result);
        return result;
      }
      return record(in_result, std::forward<Args>(args)...);
    }
  }

  // How many calls ran the step, and how many replayed a recording.
  std::size_t recorded() const { return engine_->recorded(); }
  std::size_t replayed() const { return engine_->replayed(); }

 private:
  template <typename Arg>
  static constexpr bool kIsPersistent = std::is_lvalue_reference_v<Arg>;

  template <typename Arg, typename T>
  void collect_argument(T& arg) {
    if constexpr (client::CapturedNumber<T>) {
      engine_->number(arg);
    } else {
      (kIsPersistent<Arg> ? engine_->persistent() : engine_->temporary())
          .fields(const_cast<std::remove_const_t<T>&>(arg));
    }
  }
  template <typename Arg, typename T>
  static void collect_persistent(client::CaptureState& persistent, T& arg) {
    if constexpr (!client::CapturedNumber<T> && kIsPersistent<Arg>)
      persistent.fields(const_cast<std::remove_const_t<T>&>(arg));
  }
  template <typename Arg>
  client::CapturedArgument<Arg> passed(std::remove_reference_t<Arg>& arg) {
    if constexpr (client::CapturedNumber<Arg>) {
      return *next_number_++;
    } else {
      return std::forward<Arg>(arg);
    }
  }

  template <typename... Args>
  auto record(client::CaptureState& in_result, Args&&... args) {
    using Result = std::invoke_result_t<Fn&, client::CapturedArgument<Args>...>;
    client::CaptureEngine::CaptureScope recording{*engine_};
    client::CaptureState persistent;
    next_number_ = engine_->numbers().begin();
    // A braced list: its elements are evaluated from left to right.
    std::tuple<client::CapturedArgument<Args>...> arguments{passed<Args>(args)...};
    const auto call = [&](client::CapturedArgument<Args>... each) {
      return step_(std::forward<client::CapturedArgument<Args>>(each)...);
    };
    if constexpr (std::is_void_v<Result>) {
      std::apply(call, std::move(arguments));
      (collect_persistent<Args>(persistent, args), ...);
      recording.finish(persistent, in_result);
    } else {
      Result result = std::apply(call, std::move(arguments));
      (collect_persistent<Args>(persistent, args), ...);
      in_result.fields(result);
      recording.finish(persistent, in_result);
      Result form = result;
      client::CaptureState in_form;
      in_form.fields(form);
      for (client::Value* value : in_form.values()) *value = {};
      engine_->set_result_form(std::move(form));
      return result;
    }
  }

  std::unique_ptr<client::CaptureEngine> engine_;
  Fn step_;
  std::vector<Scalar>::const_iterator next_number_;
};

// A callable that records `step` on `device` and replays it. The rules for `step` are above.
template <typename Fn>
Captured<std::decay_t<Fn>> capture(const Device& device, Fn&& step) {
  return {device, std::forward<Fn>(step)};
}

}  // namespace burn

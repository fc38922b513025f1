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
// A call gives what calling the function itself would give, to the bit. The rule that makes it so:
//
// * What changes from call to call is an argument. State (a module, an optimizer, a running mean) is taken by reference
// and
//   holds the new tensors afterwards; what is only read may be a temporary.
// * Numbers that change are given as numbers and taken as burn::Scalar, which tensor functions and optim.step() accept.
// A
//   double would not compile: its value would be lost in arithmetic on the host. Every other number, flag and branch is
//   part of the recording. An optimizer's count of steps is kept by the optimizer and goes on with each call.
// * Random numbers are drawn from the device's stream, as many with each call as were recorded.
// * Inside, nothing is read, uploaded or seeded, and flush() does nothing: the step is one program.
// * Results come without a tape: backward() belongs into the step.
//
// A call whose arguments have other shapes, dtypes or modules than the ones before is recorded for itself, and so are
// the first two calls of each kind: they must agree. What can be noticed throws burn::Error: a tensor from outside that
// is no argument, or one that is kept outside; a number that was another one in the second recording; a read inside.
// What cannot be noticed is a number or a branch outside the arguments that changes later; BURN_CAPTURE=check in the
// environment records and compares every call, for finding those.
//
// A call sends first what this thread has recorded before it: what prepares a batch is cheaper inside the step.
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

// How the step sees an argument of a call.
template <typename T>
using CapturedArgument = std::conditional_t<CapturedNumber<T>, Scalar, T&&>;

}  // namespace client

// What capture() gives: called like the function, with numbers in the place of Scalars. Moved, not copied; one thread
// at a time.
template <typename Fn>
class Captured {
 public:
  Captured(const Device& device, Fn step)
      : engine_(std::make_unique<client::CaptureEngine>(device.state())), step_(std::move(step)) {}

  // Errors: those of the step, and of the rule above. The arguments are then as the step left them.
  template <typename... Args>
  auto operator()(Args&&... args) {
    static_assert(std::is_invocable_v<Fn&, client::CapturedArgument<Args>...>,
                  "the step does not take these arguments; numbers reach it as burn::Scalar, by value");
    using Result = std::invoke_result_t<Fn&, client::CapturedArgument<Args>...>;
    static_assert(!std::is_reference_v<Result>, "a captured step returns a value");
    engine_->begin();
    (arrange<Args>(args), ...);
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

  // How many calls ran the step, and how many did without.
  std::size_t recorded() const { return engine_->recorded(); }
  std::size_t replayed() const { return engine_->replayed(); }

 private:
  template <typename Arg>
  static constexpr bool kLasts = std::is_lvalue_reference_v<Arg>;

  template <typename Arg, typename T>
  void arrange(T& arg) {
    if constexpr (client::CapturedNumber<T>) {
      engine_->number(arg);
    } else {
      (kLasts<Arg> ? engine_->lasting() : engine_->passing()).fields(const_cast<std::remove_const_t<T>&>(arg));
    }
  }
  template <typename Arg, typename T>
  static void arrange_after(client::CaptureState& lasting, T& arg) {
    if constexpr (!client::CapturedNumber<T> && kLasts<Arg>) lasting.fields(const_cast<std::remove_const_t<T>&>(arg));
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
    client::CaptureState lasting;
    next_number_ = engine_->numbers().begin();
    // A braced list: arguments are made from left to right.
    std::tuple<client::CapturedArgument<Args>...> arguments{passed<Args>(args)...};
    const auto call = [&](client::CapturedArgument<Args>... each) {
      return step_(std::forward<client::CapturedArgument<Args>>(each)...);
    };
    if constexpr (std::is_void_v<Result>) {
      std::apply(call, std::move(arguments));
      (arrange_after<Args>(lasting, args), ...);
      recording.finish(lasting, in_result);
    } else {
      Result result = std::apply(call, std::move(arguments));
      (arrange_after<Args>(lasting, args), ...);
      in_result.fields(result);
      recording.finish(lasting, in_result);
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

// `step` as something to call again and again on `device`. See above for what it may do.
template <typename Fn>
Captured<std::decay_t<Fn>> capture(const Device& device, Fn&& step) {
  return {device, std::forward<Fn>(step)};
}

}  // namespace burn

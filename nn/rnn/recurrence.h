// What recurrent layers have in common: their gates side by side, so that a step is one product, the products of all
// inputs in one before the first step, and the walk over time. Private to nn/rnn/.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>

#include "client/ops/ops.h"
#include "nn/rnn/gate_controller.h"

namespace burn::nn::detail {

// The weights of several gates as one layer. A gate without a bias beside one that has it counts as one of zeros.
// Products of a step are read by columns and their sums taken gate by gate, so that all of a step that follows its
// product is one kernel over [batch, d_hidden].
struct Gates {
  client::Value input_weight, hidden_weight;  // [d_input, n d_hidden], [d_hidden, n d_hidden]
  std::optional<client::Value> bias{};        // [n d_hidden]: the sum of both products' biases
  std::optional<client::Value> last_bias{};   // [d_hidden]: of the last gate's hidden product, where it is kept apart

  // `keeps_last`: the hidden product of the last gate has its bias before it is added to that of the input.
  Gates(const char* layer, std::initializer_list<const GateController*> gates, const client::Site& site,
        bool keeps_last = false);
  std::int64_t width() const { return hidden_weight.dim(0); }                       // d_hidden
  client::Value of_inputs(const client::Value& x, const client::Site& site) const;  // x W + bias
  client::Value of_hidden(const client::Value& h, const client::Site& site) const;  // h U
  // The columns of gate `i` of such a product of a step, [batch, d_hidden].
  client::Value gate(const client::Value& product, std::int64_t i, const client::Site& site) const {
    return client::narrow(product, 1, i * width(), width(), site);
  }
};

// In which order, and from which layout, a layer walks.
struct ScanOrder {
  bool batch_first = true;  // [batch, time, ...] instead of [time, batch, ...]
  bool reverse = false;     // from the last step to the first; the result of a step stays at its place
};

void check_clip(const char* config, const std::optional<double>& clip);  // throws for one that is not positive
// Throws for an input that is not [.., .., d_input].
void check_input(const char* layer, const client::Value& x, const Gates& gates, const client::Site& site);
// Throws for a state that is neither none nor of `count` tensors.
void check_state(const char* layer, const std::vector<client::Value>& state, std::size_t count,
                 const client::Site& site);
// The state given, or zeros [batch, d_hidden]. Throws for one of another shape.
client::Value state_or_zeros(const char* what, const client::Value* state, const client::Value& x, const Gates& gates,
                             const ScanOrder& order, const client::Site& site);

// Calls step(products of one time step [batch, n d_hidden]), which gives the hidden state after it [batch, d_hidden],
// for every step. Returns all hidden states in the layout of x.
client::Value scan_time(const client::Value& x, const Gates& gates, const ScanOrder& order, const client::Site& site,
                        const std::function<client::Value(const client::Value&)>& step);

}  // namespace burn::nn::detail

// Code shared by recurrent layers: concatenating the gates' weights, so that a step needs one product; computing the
// products of all inputs at once before the first step; and the loop over time. Private to nn/rnn/.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <vector>

#include "client/ops/ops.h"
#include "nn/rnn/gate_controller.h"

namespace burn::nn::detail {

// The concatenated weights of several gates. If only some gates have a bias, the others' is zeros. gate() selects the
// columns of one gate of a product and sums are formed gate by gate, so that everything after the product of a step is
// one kernel over [batch, d_hidden].
struct Gates {
  client::Value input_weight, hidden_weight;  // [d_input, n d_hidden], [d_hidden, n d_hidden]
  std::optional<client::Value> bias{};        // [n d_hidden]: the sum of both products' biases
  std::optional<client::Value> last_bias{};   // [d_hidden]: bias of the last gate's hidden product, if `keeps_last`

  // `keeps_last`: keeps the bias of the last gate's hidden product separate, in last_bias, instead of adding it to
  // `bias`.
  Gates(const char* layer, std::initializer_list<const GateController*> gates, const client::Site& site,
        bool keeps_last = false);
  std::int64_t width() const { return hidden_weight.dim(0); }                       // d_hidden
  client::Value of_inputs(const client::Value& x, const client::Site& site) const;  // x W + bias
  client::Value of_hidden(const client::Value& h, const client::Site& site) const;  // h U
  // The columns of gate `i` of a step's product, [batch, d_hidden].
  client::Value gate(const client::Value& product, std::int64_t i, const client::Site& site) const {
    return client::narrow(product, 1, i * width(), width(), site);
  }
};

// The input's layout and the direction in time of a recurrent layer.
struct ScanOrder {
  bool batch_first = true;  // [batch, time, ...] instead of [time, batch, ...]
  bool reverse = false;     // from the last step to the first; results keep the time order of the input
};

void check_clip(const char* config, const std::optional<double>& clip);  // throws if it is not positive
// Throws for an input that is not [.., .., d_input].
void check_input(const char* layer, const client::Value& x, const Gates& gates, const client::Site& site);
// Throws unless the state is empty or has `count` tensors.
void check_state(const char* layer, const std::vector<client::Value>& state, std::size_t count,
                 const client::Site& site);
// Returns `state`, or zeros [batch, d_hidden] if it is null. Throws for a state of another shape.
client::Value state_or_zeros(const char* what, const client::Value* state, const client::Value& x, const Gates& gates,
                             const ScanOrder& order, const client::Site& site);

// Calls step(input products of the time step [batch, n d_hidden]) for every time step; it returns the hidden state
// after the step, [batch, d_hidden]. Returns all hidden states in the layout of x.
client::Value scan_time(const client::Value& x, const Gates& gates, const ScanOrder& order, const client::Site& site,
                        const std::function<client::Value(const client::Value&)>& step);

}  // namespace burn::nn::detail

// The names that nearly every program needs, for `using namespace burn::prelude;`.
//
// Contains types, the namespaces of layers, optimizers, data, schedules and metrics, and s() for ranges. It has no
// other function and no namespace that a program is likely to define itself, so a program's own train(), test() or
// client do not collide. Everything else is written with its namespace: burn::linalg::solve,
// burn::train::SupervisedTraining, burn::capture. Included by <burn/burn.h>.
#pragma once

#include "base/error.h"
#include "client/device.h"
#include "client/ops/gradients.h"
#include "client/scalar.h"
#include "client/tensor/named.h"
#include "client/tensor/tensor.h"
#include "nn/module/param.h"
#include "store/record.h"
#include "train/optim/gradients_params.h"

namespace burn {
namespace data {}
namespace lr {}
namespace metric {}
namespace nn {}
namespace optim {}

namespace prelude {

using burn::Bool;
using burn::Float;
using burn::Int;
using burn::NamedTensor;
using burn::Names;
using burn::PadMode;
using burn::Tensor;
using burn::TensorData;
using burn::TensorOptions;
using ir::DType;

using burn::Device;
using burn::Distribution;
using burn::Error;
using burn::RandomState;
using burn::Scalar;

using burn::Gradients;
using burn::GradientsParams;
using burn::Param;
using burn::Record;

using burn::s;  // x.slice({s(0, 2)})

namespace data = burn::data;
namespace lr = burn::lr;
namespace metric = burn::metric;
namespace nn = burn::nn;
namespace optim = burn::optim;

}  // namespace prelude
}  // namespace burn

// The names that nearly every program needs, for `using namespace burn::prelude;`.
//
// Types, the layers, optimizers, data, schedules and metrics, and s() for ranges: no other function, and no namespace
// that a program is likely to have, so that train(), test() or client of its own stay its own. All else is written out:
// burn::linalg::solve, burn::train::SupervisedTraining, burn::capture. Part of <burn/burn.h>, which
// includes it.
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

// Names of the compiler that this backend uses everywhere, without their namespace.
#pragma once

#include "compile/codegen/alternatives.h"
#include "compile/codegen/dialects/cuda_cpp.h"
#include "compile/codegen/emitter.h"
#include "compile/codegen/known_call.h"
#include "compile/codegen/target.h"
#include "compile/lower/commands.h"
#include "compile/lower/lowered.h"
#include "compile/plan/plan.h"

namespace burn::backends::cuda {

using compile::Address;
using compile::Alternative;
using compile::Argument;
using compile::Bindings;
using compile::BlockKernel;
using compile::Check;
using compile::Command;
using compile::Emitter;
using compile::Fill;
using compile::Grid;
using compile::KernelSource;
using compile::KnownCall;
using compile::Launch;
using compile::LibraryCall;
using compile::Lowered;
using compile::LoweredCommit;
using compile::NodeInPlan;
using compile::OutputSource;
using compile::Plan;
using compile::PlanOptions;
using compile::PlanStep;
using compile::ProductWithEpilogue;
using compile::Use;
using compile::View;

using compile::combine_type;
using compile::compute_type;
using compile::emit_fastest;
using compile::storage_type;

}  // namespace burn::backends::cuda

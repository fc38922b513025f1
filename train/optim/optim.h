// Every optimizer.
#pragma once

#include "train/optim/ada_delta.h"
#include "train/optim/ada_factor.h"
#include "train/optim/ada_grad.h"
#include "train/optim/adam.h"
#include "train/optim/adan.h"
#include "train/optim/ema.h"
#include "train/optim/grad_scaler.h"
#include "train/optim/lbfgs.h"
#include "train/optim/lion.h"
#include "train/optim/muon.h"
#include "train/optim/nadam.h"
#include "train/optim/radam.h"
#include "train/optim/rms_prop.h"
#include "train/optim/sgd.h"

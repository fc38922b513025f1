// Everything for training: optimizers, learning rates, metrics, the learner.
#pragma once

#include "train/evaluator/evaluator.h"
#include "train/learner/supervised_training.h"
#include "train/log/loggers.h"
#include "train/lr/compose.h"
#include "train/lr/cycles.h"
#include "train/lr/module_lr.h"
#include "train/lr/plateau.h"
#include "train/lr/schedule.h"
#include "train/metric/metrics.h"
#include "train/optim/optim.h"
#include "train/render/cli_renderer.h"
#include "train/strategy/strategy.h"
#include "train/tune/find_batch_size.h"
#include "train/tune/find_lr.h"

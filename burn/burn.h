// Everything a program needs: #include <burn/burn.h>, using namespace burn::prelude (burn/prelude.h lists its names).
//
// Two things have headers of their own: running a server inside a program (<burn/server/server.h>) and writing a
// backend (<burn/backends/backend.h>).
#pragma once

#include "autodiff/checkpointing.h"
#include "burn/prelude.h"
#include "client/autocast.h"
#include "client/batch_scope.h"
#include "client/capture/capture.h"
#include "client/device.h"
#include "client/ops/gradients.h"
#include "client/tensor/functions.h"
#include "client/tensor/linalg.h"
#include "client/tensor/named.h"
#include "client/tensor/pending_reads.h"
#include "client/tensor/print.h"
#include "client/tensor/signal.h"
#include "client/tensor/tensor.h"
#include "client/tensor/transaction.h"
#include "client/trace_scope.h"
#include "data/digits.h"
#include "data/loader.h"
#include "data/mnist.h"
#include "data/transforms.h"
#include "nn/nn.h"
#include "store/record.h"
#include "train/train.h"

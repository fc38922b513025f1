// Everything a program needs: #include <burn/burn.h>, using namespace burn.
//
// Servers in a program and ops of its own have headers of their own (server/, backends/).
#pragma once

#include "client/capture/capture.h"
#include "client/device.h"
#include "client/gradients.h"
#include "client/tensor/linalg.h"
#include "client/tensor/pending_reads.h"
#include "client/tensor/tensor.h"
#include "data/digits.h"
#include "data/loader.h"
#include "data/mnist.h"
#include "data/transforms.h"
#include "nn/nn.h"
#include "store/record.h"
#include "train/train.h"

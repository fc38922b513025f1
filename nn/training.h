// nn::Training, under the path it had: nn/module/training.h.
#pragma once

#include "nn/module/training.h"

// Host memory that the device reads and writes: `__managed__` variables, and what is registered.
#pragma once

#include "channel.h"

namespace gpuprof {

// A host address there becomes the device's; others stay.
void to_device_address(void **p);

// `__managed__` variables have a place on either side. What the host has changed is given to the device before it
// works; after a wait the host has what the device made of it.
cudaError_t give_to_device();
void take_from_device();

void add_managed(const char *shadow, size_t nbytes);
void learn_managed(); // at the program's start: what their first values are

} // namespace gpuprof

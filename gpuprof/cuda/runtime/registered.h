// Host memory that the program has registered: its pages are pages of device memory, too.
#pragma once

#include <stddef.h>

namespace gpuprof {
void *device_address(const void *host); // null where it is not registered
void *device_address(const void *host, size_t nbytes); // null unless all these bytes are registered together
void to_device_address(void **p);       // a host address there becomes the device's; others stay
} // namespace gpuprof

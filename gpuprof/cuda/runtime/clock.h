// The host's time is simulated: it advances with calls of the API and with readings of a clock, by stated costs.
#pragma once

namespace gpuprof {
void note_launch();
void advance_clock(unsigned long long nanoseconds);
unsigned long long host_clock(); // nanoseconds since the program began
}

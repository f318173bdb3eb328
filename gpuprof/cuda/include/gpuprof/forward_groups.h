// Opened under the names of forwarding.json: clang looks for a file's own includes next to the name, not to the file.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

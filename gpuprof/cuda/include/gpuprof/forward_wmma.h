// Opened under the names of forwarding.json: clang looks for a file's own includes next to the name, not to the file.
#include <mma.h>

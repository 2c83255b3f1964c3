#pragma once

namespace concord {

// Cores that this process may keep busy: the smaller of the affinity mask and the least CPU quota
// of its control group and those above it (cgroup v1 and v2; rounded up), at least 1. Read once.
int available_cores();

}  // namespace concord

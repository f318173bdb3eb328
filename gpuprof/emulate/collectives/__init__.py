"""Operations of several lanes: votes and shuffles, barriers, clusters, mbarriers, branches, calls of the runtime."""

"""The trace generators that come with gpuprof, one a file. `find.BUILT_IN` names them."""

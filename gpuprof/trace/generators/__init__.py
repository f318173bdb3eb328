"""The trace generators that come with gpuprof, one per file. `find.GENERATORS` names them."""

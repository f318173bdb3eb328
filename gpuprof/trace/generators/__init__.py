"""The trace generators that come with gpuprof, one a file. `find.GENERATORS` names them."""

from gpuprof.cli.main import main

main()

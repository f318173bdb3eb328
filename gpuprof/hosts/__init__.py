"""Hosts as data: a CPU with its driver and the link to the GPU, one TOML file each; `fields` gives unit and meaning."""

from gpuprof.hosts.model import Host, described, host_named, list_hosts, load_host

__all__ = ["Host", "described", "host_named", "list_hosts", "load_host"]

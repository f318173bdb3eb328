"""The numbers of a host file: one row per number, with its unit, the range of values that make sense, and its meaning.

Times are of the host's clock. What the GPU's front end does of itself is in the chip's file (`launch_cycles`).
"""

from gpuprof.chips.sourced import Field

SECOND_NS = 1e9

FIELDS = (
    Field("notes", "text", "", 0, 0, "the machine"),
    Field("link", "text", "", 0, 0, "what connects host and GPU"),
    # Copies between page-locked memory and the GPU: latency and nbytes / rate.
    Field("link_in_gbytes_per_s", "float", "10^9 bytes per second", 0.001, 10000,
        "copies from page-locked memory to the GPU"),
    Field("link_out_gbytes_per_s", "float", "10^9 bytes per second", 0.001, 10000,
        "copies from the GPU to page-locked memory"),
    Field("both_ways_share", "float", "of the rate of one way", 0.1, 1,
        "rate of each way while copies run both ways"),
    Field("copy_latency_ns", "float", "ns", 0, SECOND_NS, "time of a copy engine for a copy of no bytes"),
    Field("row_ns", "float", "ns", 0, SECOND_NS, "added by each row of a 2D or 3D copy or fill after the first"),
    Field("fill_latency_ns", "float", "ns", 0, SECOND_NS, "time of the GPU for a fill of no bytes"),
    # Copies of pageable memory, which the driver stages in page-locked memory of its own.
    Field("pageable_share", "float", "of the link's rate", 0.001, 1, "rate of copies of pageable memory"),
    Field("pageable_near_nbytes", "int", "bytes", 0, 1 << 40,
        "of a copy of pageable memory, bytes that have this rate"),
    Field("pageable_far_share", "float", "of the link's rate", 0.001, 1, "rate of the rest of it"),
    Field("staging_gbytes_per_s", "float", "10^9 bytes per second", 0.001, 10000,
        "the host's own copy of pageable memory into the staging buffer"),
    Field("staged_nbytes", "int", "bytes", 0, 1 << 40,
        "copies of pageable memory to the GPU up to this size return once they are staged"),
    # Calls: how long the host is in them.
    Field("other_ns", "float", "ns", 0, SECOND_NS, "a call that gives the GPU no work"),
    Field("submit_ns", "float", "ns", 0, SECOND_NS, "from the end of a call to the GPU, which may then begin"),
    Field("launch_ns", "float", "ns", 0, SECOND_NS, "the launch of a kernel"),
    Field("copy_ns", "float", "ns", 0, SECOND_NS, "the call of a copy, without waiting for it"),
    Field("symbol_copy_ns", "float", "ns", 0, SECOND_NS, "the same of a copy to or from a symbol"),
    Field("fill_ns", "float", "ns", 0, SECOND_NS, "the call of a fill"),
    Field("record_ns", "float", "ns", 0, SECOND_NS, "the record of an event"),
    Field("wait_event_ns", "float", "ns", 0, SECOND_NS, "the call that makes a stream wait for an event"),
    Field("idle_wait_ns", "float", "ns", 0, SECOND_NS, "a wait of the host that finds all done"),
    Field("wait_return_ns", "float", "ns", 0, SECOND_NS,
        "from the end of what the host waits for to the return of the wait"),
    Field("allocate_ns", "float", "ns", 0, SECOND_NS, "an allocation of device memory"),
    Field("free_ns", "float", "ns", 0, SECOND_NS, "a free of device memory, after the wait for the GPU"),
    Field("allocate_later_ns", "float", "ns", 0, SECOND_NS, "an allocation or a free in the order of a stream"),
    # Streams, callbacks, graphs.
    Field("cross_stream_ns", "float", "ns", 0, SECOND_NS,
        "from the end of what another stream waits for to that stream's next start"),
    Field("host_function_ns", "float", "ns", 0, SECOND_NS,
        "time of a stream for a function of the host, besides the function's own"),
    Field("graph_launch_ns", "float", "ns", 0, SECOND_NS, "the call that launches a graph"),
    Field("graph_node_ns", "float", "ns", 0, SECOND_NS, "added to it by each node"),
    Field("graph_instantiate_ns", "float", "ns", 0, SECOND_NS, "the instantiation of a graph"),
    Field("graph_instantiate_node_ns", "float", "ns", 0, SECOND_NS, "added to it by each node"),
    Field("graph_update_node_ns", "float", "ns", 0, SECOND_NS, "an update of one node of an executable graph"),
    # Page-locked memory that kernels touch.
    Field("mapped_read_gbytes_per_s", "float", "10^9 bytes per second", 0.001, 10000,
        "kernels read page-locked memory of the host"),
    Field("mapped_write_gbytes_per_s", "float", "10^9 bytes per second", 0.001, 10000,
        "kernels write page-locked memory of the host"),
    # Managed memory.
    Field("page_nbytes", "int", "bytes", 4096, 1 << 30, "memory that a fault moves at least, a power of two"),
    Field("fault_group_ns", "float", "ns", 0, SECOND_NS,
        "time of the driver for a group of faults: of the GPU one page of each SM with blocks, of the host neighbours"),
    Field("host_fault_nbytes", "int", "bytes", 4096, 1 << 30, "most that a group of faults of the host brings"),
    Field("migrate_gbytes_per_s", "float", "10^9 bytes per second", 0.001, 10000,
        "transfers of pages that faults bring"),
)  # fmt: skip

BY_NAME = {field.name: field for field in FIELDS}

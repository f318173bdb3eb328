// The CRC-32 of packets of 16 words, a packet a thread; words of packets are interleaved.
//
// LAUNCH: crc_of<<<320, 128>>>(words: u32[16,40960]=random, crcs: u32[40960], 16)

struct Table {
    unsigned entry[256];
    constexpr Table() : entry()
    {
        for (unsigned byte = 0; byte < 256; byte++) {
            unsigned crc = byte;
            for (int bit = 0; bit < 8; bit++)
                crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0u);
            entry[byte] = crc;
        }
    }
};

__constant__ Table table;

__global__ void crc_of(const unsigned *words, unsigned *crcs, int length)
{
    int packet = blockIdx.x * blockDim.x + threadIdx.x, packets = gridDim.x * blockDim.x;
    unsigned crc = ~packet;
    for (int k = 0; k < length; k++) {
        unsigned word = words[k * packets + packet];
        for (int byte = 0; byte < 4; byte++, word >>= 8)
            crc = crc >> 8 ^ table.entry[(crc ^ word) & 255];
    }
    crcs[packet] = ~crc;
}

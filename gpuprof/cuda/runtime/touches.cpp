// What the host's code touches of managed memory, by the page tables of its process. An access makes the entry of its
// page, also one within a system call. A report drops the entries that it has found; the bytes stay, since the mapping
// is shared. gpuprof itself has a mapping of its own, and the library does not touch managed memory: copies from and to
// it are the GPU's.
#include "touches.h"
#include "channel.h"
#include "list.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace gpuprof {
namespace {

struct Span { // as a message has it
    unsigned long long address, nbytes;
    unsigned long long end() const { return address + nbytes; }
};
List<Span> watched; // managed allocations, ascending; looked at in a Turn, as all here

// A read also makes the entries of the pages around it that have content, within aligned 64 KiB (fault_around_bytes of
// Linux). So whole blocks of that size are reported, with all managed memory that is in them.
constexpr unsigned long long block_nbytes = 1 << 16;

unsigned long long page_nbytes() { return sysconf(_SC_PAGESIZE); }

// The entries of the process's page tables, as /proc/self/pagemap gives them: Linux's
// Documentation/admin-guide/mm/pagemap.rst. Without privileges they do not say where a page is, but whether it is.
class PageTable {
public:
    PageTable() : file(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)), first(0), n(0) {}
    ~PageTable()
    {
        if (is_open())
            close(file);
    }
    bool is_open() const { return file >= 0; }

    // `end`: pages from there on are not asked for.
    bool has(unsigned long long page, unsigned long long end)
    {
        if (page < first || page >= first + n)
            read_from(page, end);
        return entries[page - first] >> 62; // present, or swapped
    }

private:
    static constexpr size_t most = 4096;
    static unsigned long long entries[most];
    int file;
    unsigned long long first;
    size_t n;

    void read_from(unsigned long long page, unsigned long long end)
    {
        first = page;
        n = end - page < most ? end - page : most;
        const ssize_t came = pread(file, entries, n * sizeof *entries, page * sizeof *entries);
        for (size_t i = came < 0 ? 0 : came / sizeof *entries; i < n; ++i)
            entries[i] = 0;
    }
};
unsigned long long PageTable::entries[most];

// To whoever reads the times: without page tables they have no faults of what the host has touched.
void complain_once()
{
    static bool is_said = false;
    static const char text[] = "gpuprof: /proc/self/pagemap cannot be read: touches of managed memory by the host move no pages\n";
    if (!is_said)
        (void)!write(2, text, sizeof text - 1);
    is_said = true;
}

// By their numbers, ascending. Empty where the system shows no page tables: the model then sees no touches of the host.
List<unsigned long long> touched_blocks()
{
    List<unsigned long long> found = {};
    PageTable table;
    if (!table.is_open()) {
        complain_once();
        return found;
    }
    const unsigned long long nbytes = page_nbytes(), end = (watched[watched.n - 1].end() - 1) / nbytes + 1;
    for (const Span &each : watched)
        for (unsigned long long page = each.address / nbytes; page * nbytes < each.end(); ++page) {
            const unsigned long long block = page * nbytes / block_nbytes;
            if (table.has(page, end) && (!found.n || found[found.n - 1] != block))
                found.add(block);
        }
    return found;
}

// Blocks as ranges of managed memory, neighbours joined.
List<Span> ranges_of(const List<unsigned long long> &blocks)
{
    List<Span> ranges = {};
    size_t first = 0; // of the blocks that may lie in the allocation
    for (const Span &each : watched) {
        while (first < blocks.n && (blocks[first] + 1) * block_nbytes <= each.address)
            ++first;
        for (size_t i = first; i < blocks.n && blocks[i] * block_nbytes < each.end(); ++i) {
            const unsigned long long from = blocks[i] * block_nbytes, to = from + block_nbytes;
            const unsigned long long begin = from < each.address ? each.address : from;
            const unsigned long long end = to < each.end() ? to : each.end();
            if (ranges.n && ranges[ranges.n - 1].end() == begin)
                ranges[ranges.n - 1].nbytes += end - begin;
            else
                ranges.add({begin, end - begin});
        }
    }
    return ranges;
}

// Since the last time. Without a page fault of the process no entry is new.
bool has_faulted()
{
    static long n_seen = 0;
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    const long n_before = n_seen;
    n_seen = used.ru_minflt + used.ru_majflt;
    return n_seen != n_before;
}

} // namespace

void watch_touches(char *start, size_t nbytes)
{
    Turn turn;
    // The kernel joins neighbours of one kind: a read of page-locked memory must not make entries here.
    madvise(start, nbytes, MADV_RANDOM);
    watched.add({(unsigned long long)start, nbytes});
    for (size_t i = watched.n - 1; i && watched[i].address < watched[i - 1].address; --i) {
        const Span later = watched[i - 1];
        watched[i - 1] = watched[i];
        watched[i] = later;
    }
}

void end_watch(const char *start)
{
    Turn turn;
    size_t i = 0;
    while (i < watched.n && watched[i].address != (unsigned long long)start)
        ++i;
    if (i == watched.n)
        return;
    madvise((void *)watched[i].address, watched[i].nbytes, MADV_NORMAL);
    for (--watched.n; i < watched.n; ++i)
        watched[i] = watched[i + 1];
}

void report_touches()
{
    if (!__atomic_load_n(&watched.n, __ATOMIC_RELAXED))
        return;
    Turn turn;
    if (!watched.n || !has_faulted())
        return;
    List<unsigned long long> blocks = touched_blocks();
    List<Span> ranges = ranges_of(blocks);
    for (const Span &each : ranges) {
        const unsigned long long into_page = each.address % page_nbytes();
        madvise((void *)(each.address - into_page), into_page + each.nbytes, MADV_DONTNEED);
    }
    if (ranges.n)
        ask_with(Payload{ranges.items, ranges.n * sizeof(Span)}, nullptr, Call::host_touches);
    blocks.clear();
    ranges.clear();
}

} // namespace gpuprof

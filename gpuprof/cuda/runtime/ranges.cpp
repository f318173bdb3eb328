// Parts of the program that it names: ranges of NVTX, and tasks of gpuprof/task.h.
#include "channel.h"
#include "gpuprof/nvtx.h"
#include "list.h"

using namespace gpuprof;

namespace {

thread_local List<unsigned long long> pushed;

unsigned long long begin(const char *name, bool is_nested)
{
    return ask_with(text(name ? name : ""), nullptr, Call::begin_task, (int)is_nested).words[begin_task_gives::task];
}
void end(unsigned long long task) { ask(Call::end_task, task); }

// Text of wide characters, as far as it is ASCII.
struct Narrow {
    char bytes[256];
    explicit Narrow(const wchar_t *wide)
    {
        size_t n = 0;
        for (; wide && wide[n] && n + 1 < sizeof bytes; ++n)
            bytes[n] = wide[n] < 128 ? (char)wide[n] : '?';
        bytes[n] = 0;
    }
};

struct Registered {
    char *text;
};

template <typename Do> auto with_message(const nvtxEventAttributes_t *event, Do what)
{
    switch (event ? event->messageType : NVTX_MESSAGE_UNKNOWN) {
    case NVTX_MESSAGE_TYPE_ASCII: return what(event->message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE: return what((const char *)Narrow(event->message.unicode).bytes);
    case NVTX_MESSAGE_TYPE_REGISTERED: return what((const char *)((Registered *)event->message.registered)->text);
    default: return what((const char *)"");
    }
}

int push(const char *name)
{
    pushed.add(begin(name, true));
    return (int)pushed.n - 1;
}
void mark(const char *name) { end(begin(name, true)); }

} // namespace

extern "C" {
void nvtxInitialize(const void *) {}
void nvtxMarkA(const char *message) { mark(message); }
void nvtxMarkW(const wchar_t *message) { mark(Narrow(message).bytes); }
void nvtxMarkEx(const nvtxEventAttributes_t *event) { with_message(event, mark); }
int nvtxRangePushA(const char *message) { return push(message); }
int nvtxRangePushW(const wchar_t *message) { return push(Narrow(message).bytes); }
int nvtxRangePushEx(const nvtxEventAttributes_t *event) { return with_message(event, push); }
int nvtxRangePop(void)
{
    if (!pushed.n)
        return NVTX_NO_PUSH_POP_TRACKING;
    end(pushed[--pushed.n]);
    return (int)pushed.n;
}
nvtxRangeId_t nvtxRangeStartA(const char *message) { return begin(message, false); }
nvtxRangeId_t nvtxRangeStartW(const wchar_t *message) { return begin(Narrow(message).bytes, false); }
nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *event)
{
    return with_message(event, [](const char *name) { return begin(name, false); });
}
void nvtxRangeEnd(nvtxRangeId_t range) { end(range); }

nvtxDomainHandle_t nvtxDomainCreateA(const char *) { return (nvtxDomainHandle_t)malloc(1); }
nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t *) { return (nvtxDomainHandle_t)malloc(1); }
void nvtxDomainDestroy(nvtxDomainHandle_t domain) { free(domain); }
nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t, const char *text)
{
    Registered *made = (Registered *)malloc(sizeof *made);
    made->text = strdup(text);
    return (nvtxStringHandle_t)made;
}
nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t *text)
{
    return nvtxDomainRegisterStringA(domain, Narrow(text).bytes);
}
void nvtxDomainMarkEx(nvtxDomainHandle_t, const nvtxEventAttributes_t *event) { nvtxMarkEx(event); }
int nvtxDomainRangePushEx(nvtxDomainHandle_t, const nvtxEventAttributes_t *event) { return nvtxRangePushEx(event); }
int nvtxDomainRangePop(nvtxDomainHandle_t) { return nvtxRangePop(); }
nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t, const nvtxEventAttributes_t *event) { return nvtxRangeStartEx(event); }
void nvtxDomainRangeEnd(nvtxDomainHandle_t, nvtxRangeId_t range) { nvtxRangeEnd(range); }
void nvtxDomainNameCategoryA(nvtxDomainHandle_t, unsigned, const char *) {}
void nvtxNameCategoryA(unsigned, const char *) {}
void nvtxNameOsThreadA(unsigned, const char *) {}

unsigned long long gpuprof_begin_task(const char *name) { return begin(name, true); }
void gpuprof_end_task(unsigned long long task) { end(task); }
unsigned long long gpuprof_last_task(void) { return ask(Call::last_task).words[last_task_gives::task]; }
int gpuprof_relate(unsigned long long task, const char *kind, unsigned long long other, const void *memory)
{
    return ask_with(text(kind), nullptr, Call::relate, task, other, memory).status;
}
int gpuprof_parameter(unsigned long long task, const char *name, const char *kind, const char *value)
{
    const size_t name_nbytes = strlen(name) + 1, kind_nbytes = strlen(kind) + 1, nbytes = name_nbytes + kind_nbytes + strlen(value);
    char *all = (char *)malloc(nbytes + 1);
    strcpy(all, name);
    strcpy(all + name_nbytes, kind);
    strcpy(all + name_nbytes + kind_nbytes, value);
    const int status = ask_with(Payload{all, nbytes}, nullptr, Call::parameter, task).status;
    free(all);
    return status;
}
}

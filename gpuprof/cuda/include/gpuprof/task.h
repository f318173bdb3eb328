// Tasks of a program, and how they are related: what `Device.task` is to a script. The kinds of relations are in docs/relations.md.
//
//     gpuprof::task layer("layer 1");
//     layer.consumes(weights);
//     layer.depends_on(before);
//     kernel<<<...>>>(...);       // a part of the task, as all that is asked until its scope ends
//     gpuprof::task(gpuprof::last).produces(output);
//
// Under another compiler, and without gpuprof's runtime library, none of this does anything.
#pragma once

#include <stdio.h>

extern "C" {
__attribute__((weak)) unsigned long long gpuprof_begin_task(const char *name);
__attribute__((weak)) void gpuprof_end_task(unsigned long long task);
__attribute__((weak)) unsigned long long gpuprof_last_task(void);
__attribute__((weak)) int gpuprof_relate(unsigned long long task, const char *kind, unsigned long long other, const void *memory);
__attribute__((weak)) int gpuprof_parameter(unsigned long long task, const char *name, const char *kind, const char *value);
}

namespace gpuprof {

enum last_t { last };

// Each member is a part of the line that calls it.
#define GPUPROF_TASK_FACE __attribute__((always_inline, nodebug)) inline

class task {
public:
    GPUPROF_TASK_FACE explicit task(const char *name) : is_open(gpuprof_begin_task), number(is_open ? gpuprof_begin_task(name) : 0) {}
    // The launch, copy or wait that was requested last.
    GPUPROF_TASK_FACE explicit task(last_t) : is_open(false), number(gpuprof_last_task ? gpuprof_last_task() : 0) {}
    GPUPROF_TASK_FACE ~task() { end(); }
    task(const task &) = delete;
    task &operator=(const task &) = delete;

    GPUPROF_TASK_FACE void end()
    {
        if (is_open)
            gpuprof_end_task(number);
        is_open = false;
    }
    // False for a kind that there is not, or memory that is in no allocation.
    GPUPROF_TASK_FACE bool relate(const char *kind, const task &other, const void *via = nullptr) const
    {
        return !gpuprof_relate || !gpuprof_relate(number, kind, other.number, via);
    }
    GPUPROF_TASK_FACE bool depends_on(const task &other) const { return relate("depends on", other); }
    GPUPROF_TASK_FACE bool contains(const task &other) const { return relate("contains", other); }
    GPUPROF_TASK_FACE bool produces(const void *memory) const { return !gpuprof_relate || !gpuprof_relate(number, "produces", ~0ull, memory); }
    GPUPROF_TASK_FACE bool consumes(const void *memory) const { return !gpuprof_relate || !gpuprof_relate(number, "consumes", ~0ull, memory); }
    GPUPROF_TASK_FACE bool parameter(const char *name, const char *text) const { return !gpuprof_parameter || !gpuprof_parameter(number, name, "text", text); }
    GPUPROF_TASK_FACE bool parameter(const char *name, double value) const
    {
        char text[32];
        snprintf(text, sizeof text, "%.17g", value);
        return !gpuprof_parameter || !gpuprof_parameter(number, name, "number", text);
    }

private:
    bool is_open;
    unsigned long long number;
};
#undef GPUPROF_TASK_FACE

} // namespace gpuprof

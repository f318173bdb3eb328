// A list that grows, of plain values. The library does without C++'s own: a program that needs no C++ library gets none.
#pragma once

#include <stdlib.h>
#include <string.h>

namespace gpuprof {

template <typename T> struct List {
    T *items;
    size_t n, room;

    T *begin() const { return items; }
    T *end() const { return items + n; }
    T &operator[](size_t i) const { return items[i]; }
    void add(const T &one)
    {
        if (n == room) {
            room = room ? 2 * room : 8;
            items = (T *)realloc((void *)items, room * sizeof(T));
        }
        items[n++] = one;
    }
    bool has(const T &one) const
    {
        for (const T &each : *this)
            if (each == one)
                return true;
        return false;
    }
    void add_all(const List &others)
    {
        for (const T &each : others)
            if (!has(each))
                add(each);
    }
    void drop(size_t i) // the last takes its place
    {
        items[i] = items[--n];
    }
    void clear()
    {
        ::free((void *)items);
        *this = {};
    }
};

} // namespace gpuprof

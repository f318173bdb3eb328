#pragma once
#include <string>
#include <vector>

// A grey picture; the file has its size, and what a repeated line of it holds.
struct Picture {
    int width, height;
    std::vector<float> pixels;
};

Picture read_picture(const std::string &name);

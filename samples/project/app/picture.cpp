#include "picture.h"

#include <fstream>
#include <stdexcept>

Picture read_picture(const std::string &name)
{
    std::ifstream file(name);
    Picture picture{};
    if (!(file >> picture.width >> picture.height) || picture.width < 1 || picture.height < 1)
        throw std::runtime_error(name + ": no picture");
    std::vector<float> line;
    for (float value; file >> value;)
        line.push_back(value);
    for (int i = 0; i < picture.width * picture.height; ++i)
        picture.pixels.push_back(line.empty() ? 0 : line[i % line.size()]);
    return picture;
}

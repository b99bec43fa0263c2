// SPDX-License-Identifier: Apache-2.0
//
// Reads the simplest kind of NumPy file: format 1, little endian, C order, float32 or float64.
#ifndef DEMO_NPY_HPP
#define DEMO_NPY_HPP

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

inline std::vector<double> read_npy(const std::string &path, size_t expected_count)
{
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    // Magic, version, the header's length, the header (a Python dictionary), then the numbers.
    if (bytes.size() < 10 || bytes.compare(0, 8, std::string("\x93NUMPY\x01\x00", 8)) != 0)
        throw std::runtime_error(path + " is missing, or no NumPy file of format 1");
    const size_t length = static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
    const std::string header = bytes.substr(10, length);
    const bool wide = header.find("'<f8'") != std::string::npos;
    if ((!wide && header.find("'<f4'") == std::string::npos) || header.find("'fortran_order': False") == std::string::npos)
        throw std::runtime_error(path + " has another layout than this reader knows: " + header);
    const size_t width = wide ? 8 : 4, begin = 10 + length;
    if (bytes.size() - begin != expected_count * width)
        throw std::runtime_error(path + " has not the expected number of elements");
    std::vector<double> values(expected_count);
    for (size_t k = 0; k < expected_count; k++) {
        float narrow;
        if (wide) {
            std::memcpy(&values[k], &bytes[begin + 8 * k], 8);
        } else {
            std::memcpy(&narrow, &bytes[begin + 4 * k], 4);
            values[k] = static_cast<double>(narrow);
        }
    }
    return values;
}

#endif

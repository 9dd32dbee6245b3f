#pragma once

#include <functional>
#include <span>
#include <string>

namespace semel {

/// Whole numbers with commas between them: how statements take a list.
template <class T, class Number>
[[nodiscard]] std::string numbers(std::span<T> from, Number of) {
    std::string text;
    for (const auto& one : from) {
        if (!text.empty()) text += ',';
        text += std::to_string(std::invoke(of, one));
    }
    return text;
}

}  // namespace semel

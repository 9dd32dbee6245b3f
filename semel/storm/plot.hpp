#pragma once

#include <string>
#include <vector>

namespace semel::storm {

struct Point {
    double x = 0;
    double y = 0;
};

struct Curve {
    std::string name;
    std::vector<Point> points;  ///< By ascending x.
};

/// Curves over one axis.
struct Chart {
    std::string title;
    std::string x_name;
    std::string y_name;
    std::vector<Curve> curves;
};

/// A whole SVG document, readable in light and dark. Texts are escaped.
[[nodiscard]] std::string svg_of(const Chart& chart);

/// One line of blocks for each curve, all to the same scale.
[[nodiscard]] std::string text_of(const Chart& chart, std::size_t width = 60);

}  // namespace semel::storm

#include "semel/storm/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace semel::storm {
namespace {

constexpr double width = 760;
constexpr double height = 380;
constexpr double left = 70;
constexpr double right = 170;
constexpr double top = 40;
constexpr double bottom = 50;
constexpr std::array colours{"#3366cc", "#dc3912", "#109618", "#990099", "#ff9900", "#0099c6"};
constexpr std::array<std::string_view, 9> blocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        if (c == '<')
            safe += "&lt;";
        else if (c == '>')
            safe += "&gt;";
        else if (c == '&')
            safe += "&amp;";
        else if (c == '"')
            safe += "&quot;";
        else
            safe += c;
    }
    return safe;
}

struct Range {
    double x_min = 0;
    double x_max = 1;
    double y_max = 1;
};

Range range_of(const Chart& chart) {
    Range range{.x_min = 1e300, .x_max = -1e300, .y_max = 0};
    for (const Curve& curve : chart.curves)
        for (const Point& point : curve.points) {
            range.x_min = std::min(range.x_min, point.x);
            range.x_max = std::max(range.x_max, point.x);
            range.y_max = std::max(range.y_max, point.y);
        }
    if (range.x_min >= range.x_max) range = {.x_min = 0, .x_max = 1, .y_max = range.y_max};
    if (range.y_max <= 0) range.y_max = 1;
    return range;
}

/// 1, 2 or 5 times a power of ten, so that about five of them fill the range.
double step_of(double range) {
    const double rough = range / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (rough <= factor * power) return factor * power;
    return 10 * power;
}

}  // namespace

std::string svg_of(const Chart& chart) {
    const Range range = range_of(chart);
    const double inner_width = width - left - right;
    const double inner_height = height - top - bottom;
    const auto x_of = [&](double x) { return left + (x - range.x_min) / (range.x_max - range.x_min) * inner_width; };
    const auto y_of = [&](double y) { return top + (1 - y / range.y_max) * inner_height; };

    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
        "font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n"
        "<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
        "<text x=\"{3}\" y=\"22\" font-size=\"15\" fill=\"#222222\">{2}</text>\n",
        width, height, escaped(chart.title), left);
    for (double y = 0; y <= range.y_max; y += step_of(range.y_max))
        svg += fmt::format(
            "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#dddddd\"/>"
            "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\" fill=\"#444444\">{:g}</text>\n",
            left, y_of(y), width - right, y_of(y), left - 6, y_of(y) + 4, y);
    const double x_step = step_of(range.x_max - range.x_min);
    for (double x = std::ceil(range.x_min / x_step) * x_step; x <= range.x_max; x += x_step)
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\" fill=\"#444444\">{:g}</text>\n", x_of(x),
                           height - bottom + 18, x);
    svg += fmt::format(
        "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\" fill=\"#444444\">{}</text>\n"
        "<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\" fill=\"#444444\">{}</text>\n",
        left + inner_width / 2, height - 12, escaped(chart.x_name), top + inner_height / 2, escaped(chart.y_name));
    for (std::size_t i = 0; i < chart.curves.size(); ++i) {
        const Curve& curve = chart.curves[i];
        const char* colour = colours.at(i % colours.size());
        svg += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" points=\"", colour);
        for (const Point& point : curve.points) svg += fmt::format("{:.1f},{:.1f} ", x_of(point.x), y_of(point.y));
        const double legend = top + 16 + 18 * static_cast<double>(i);
        svg += fmt::format(
            "\"/>\n<rect x=\"{}\" y=\"{:.1f}\" width=\"14\" height=\"4\" fill=\"{}\"/>"
            "<text x=\"{}\" y=\"{:.1f}\" fill=\"#222222\">{}</text>\n",
            width - right + 12, legend - 5, colour, width - right + 32, legend, escaped(curve.name));
    }
    return svg + "</svg>\n";
}

std::string text_of(const Chart& chart, std::size_t columns) {
    const Range range = range_of(chart);
    std::size_t name_width = 0;
    for (const Curve& curve : chart.curves) name_width = std::max(name_width, curve.name.size());
    std::string text = fmt::format("{}\n", chart.title);
    for (const Curve& curve : chart.curves) {
        // The highest value of each column: a peak must not hide between two of them.
        std::vector<double> highest(columns, 0);
        for (const Point& point : curve.points) {
            const double place = (point.x - range.x_min) / (range.x_max - range.x_min) * static_cast<double>(columns);
            double& column = highest[std::min(columns - 1, static_cast<std::size_t>(place))];
            column = std::max(column, point.y);
        }
        text += fmt::format("{:>{}} ", curve.name, name_width);
        for (const double value : highest)
            text += blocks.at(value <= 0 ? 0 : static_cast<std::size_t>(std::ceil(value / range.y_max * 8)));
        text += "\n";
    }
    text += fmt::format("{:>{}} {} {:g} to {:g}; a full block is {:g} {}\n", "", name_width, chart.x_name, range.x_min,
                        range.x_max, range.y_max, chart.y_name);
    return text;
}

}  // namespace semel::storm

#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace orders {

/// `{"items":[…],"nextCursor":"…"}`; without a cursor it is the last page.
template <class T, class Render>
[[nodiscard]] std::string page_of(const std::vector<T>& entries, const std::optional<std::string>& next,
                                  const Render& render) {
    nlohmann::ordered_json page{{"items", nlohmann::ordered_json::array()}};
    for (const T& entry : entries) page["items"].push_back(render(entry));
    if (next) page["nextCursor"] = *next;
    return page.dump();
}

}  // namespace orders

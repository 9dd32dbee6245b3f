#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace semel {

/// What the settings of a URL mean to one reader of it: names, what each may be, and where it goes. Targets are borrowed
/// until `read`; what the URL does not set stays as it is.
class UrlSettings {
public:
    /// Takes a value; false: it cannot be that.
    using Take = std::function<bool(const std::string& value)>;

    /// Anything else: `rule` completes "it is …", for whoever sets it to something that it cannot be.
    UrlSettings& add(std::string name, std::string rule, Take take);
    /// Some text.
    UrlSettings& text(std::string name, std::string& target);
    UrlSettings& flag(std::string name, bool& target);
    /// A whole number from 1 to `most`, or to as much as the target can hold.
    template <std::integral T>
    UrlSettings& number(std::string name, T& target, std::int64_t most = max_of<T>()) {
        return whole_number(std::move(name), most, [&target](std::int64_t read) { target = static_cast<T>(read); });
    }
    /// "500ms", "10s", "2m".
    UrlSettings& time(std::string name, Duration& target);
    /// The same, or seconds without a unit.
    UrlSettings& seconds(std::string name, Duration& target);
    /// One of several words.
    template <class T>
    UrlSettings& choice(std::string name, std::initializer_list<std::pair<const std::string, T>> words, T& target) {
        std::string rule;
        for (const auto& [word, meaning] : words) rule.append(rule.empty() ? "" : " or ").append(word);
        return add(std::move(name), std::move(rule),
                   [&target, known = std::map<std::string, T>(words)](const std::string& value) {
                       const auto found = known.find(value);
                       if (found == known.end()) return false;
                       target = found->second;
                       return true;
                   });
    }

    /// Takes everything that a URL sets, in the order of the names. An Error (`rejected`) names a setting that is not
    /// known, and those that are (`others` were taken before), or one that cannot be what it is set to; it shows no value.
    /// `url` is what the URL is called: "NATS URL".
    [[nodiscard]] Status read(const std::multimap<std::string, std::string>& settings, std::string_view url,
                              std::string_view others = "") const;

private:
    struct Known {
        std::string rule;
        Take take;
    };
    template <class T>
    static constexpr std::int64_t max_of() noexcept {
        return std::in_range<std::int64_t>(std::numeric_limits<T>::max())
                   ? static_cast<std::int64_t>(std::numeric_limits<T>::max())
                   : std::numeric_limits<std::int64_t>::max();
    }
    UrlSettings& whole_number(std::string name, std::int64_t most, std::function<void(std::int64_t)> set);

    std::map<std::string, Known> known_;
};

}  // namespace semel

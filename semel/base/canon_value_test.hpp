#pragma once

#include "semel/base/random.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace semel::canon {

/// A JSON value that is written down in two ways: as anybody might, and in the canonical form, the slow and plain way.
struct Value {
    enum class Kind { literal, number, string, array, object };
    Kind kind = Kind::literal;
    std::string token = "null";         ///< Of a literal, or the canonical form of a number.
    std::u32string text;                ///< Of a string.
    std::vector<Value> items;           ///< Of an array or an object.
    std::vector<std::u32string> names;  ///< Of an object's items.
};

inline std::u16string utf16(const std::u32string& text) {
    std::u16string units;
    for (const char32_t c : text) {
        if (c >= 0x10000) {
            units.push_back(static_cast<char16_t>(0xd800 + ((c - 0x10000) >> 10U)));
            units.push_back(static_cast<char16_t>(0xdc00 + ((c - 0x10000) & 0x3ffU)));
        } else {
            units.push_back(static_cast<char16_t>(c));
        }
    }
    return units;
}

inline std::string utf8(char32_t c) {
    const auto byte = [](char32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
    if (c < 0x80) return {byte(c)};
    if (c < 0x800) return {byte(0xc0U | c >> 6U), byte(0x80U | (c & 0x3fU))};
    if (c < 0x10000) return {byte(0xe0U | c >> 12U), byte(0x80U | (c >> 6U & 0x3fU)), byte(0x80U | (c & 0x3fU))};
    return {byte(0xf0U | c >> 18U), byte(0x80U | (c >> 12U & 0x3fU)), byte(0x80U | (c >> 6U & 0x3fU)),
            byte(0x80U | (c & 0x3fU))};
}

/// `\u` and four digits for each code unit.
inline std::string long_escape(char32_t c, bool capitals) {
    const std::string_view digits = capitals ? "0123456789ABCDEF" : "0123456789abcdef";
    std::string text;
    for (const char16_t unit : utf16({c})) {
        text += "\\u";
        for (int shift = 12; shift >= 0; shift -= 4) text += digits[static_cast<unsigned>(unit) >> shift & 0xfU];
    }
    return text;
}

/// The escape with one letter; empty if there is none.
inline std::string short_escape(char32_t c) {
    constexpr std::string_view escaped = "\"\\\b\f\n\r\t";
    const std::size_t place = c < 0x80 ? escaped.find(static_cast<char>(c)) : std::string_view::npos;
    return place == std::string_view::npos ? std::string() : std::string{'\\', "\"\\bfnrt"[place]};
}

inline std::string canonical_string(const std::u32string& text) {
    std::string out = "\"";
    for (const char32_t c : text) {
        const std::string escape = short_escape(c);
        out += !escape.empty() ? escape : c < 0x20 ? long_escape(c, false) : utf8(c);
    }
    return out + "\"";
}

inline std::string canonical_value(const Value& value) {
    std::string out;
    const auto separate = [&out] {
        if (out.size() > 1) out += ',';
    };
    switch (value.kind) {
        case Value::Kind::literal:
        case Value::Kind::number: return value.token;
        case Value::Kind::string: return canonical_string(value.text);
        case Value::Kind::array:
            out = "[";
            for (const Value& item : value.items) separate(), out += canonical_value(item);
            return out + "]";
        case Value::Kind::object: break;
    }
    std::vector<std::size_t> places(value.names.size());
    std::iota(places.begin(), places.end(), 0U);
    std::ranges::sort(places, {}, [&](std::size_t place) { return utf16(value.names[place]); });
    out = "{";
    for (const std::size_t place : places) {
        separate();
        out += canonical_string(value.names[place]) + ":" + canonical_value(value.items[place]);
    }
    return out + "}";
}

/// Draws values, and ways to write them.
class Writer {
public:
    explicit Writer(std::uint64_t seed) : random_(seed) {}

    Value any(int depth = 4) {
        Value value;
        const auto kind = random_.below(depth > 0 ? 10 : 6);
        if (kind == 0) value.token = pick({"null", "true", "false"});
        if (kind == 1 || kind == 2) {
            value.kind = Value::Kind::number;
            value.token =
                pick({"0", "1", "-1", "10", "0.1", "-2.5", "1e+21", "1e-7", "100000000000000000000", "0.000001",
                      "9007199254740992", "9.007199254740993e+15", "1e+400", "-1e-400", "123456.789"});
        } else if (kind >= 3 && kind < 6) {
            value.kind = Value::Kind::string;
            value.text = text();
        } else if (kind == 6 || kind == 7) {
            value.kind = Value::Kind::array;
            for (auto left = random_.below(5); left > 0; --left) value.items.push_back(any(depth - 1));
        } else if (kind >= 8) {
            value.kind = Value::Kind::object;
            const auto wanted = random_.below(8) == 0 ? 40 : random_.below(6);
            for (std::uint64_t i = 0; i < wanted; ++i) {
                const std::u32string name = text();
                if (std::ranges::find(value.names, name) != value.names.end()) continue;
                value.names.push_back(name);
                value.items.push_back(any(depth - 1));
            }
        }
        return value;
    }

    std::string write(const Value& value) {
        std::string out = space();
        const auto separate = [&](bool& first) {
            if (!std::exchange(first, false)) out += "," + space();
        };
        bool first = true;
        switch (value.kind) {
            case Value::Kind::literal: return out + value.token + space();
            case Value::Kind::number: return out + number(value.token) + space();
            case Value::Kind::string: return out + string(value.text) + space();
            case Value::Kind::array:
                out += "[";
                for (const Value& item : value.items) separate(first), out += write(item);
                return out + space() + "]" + space();
            case Value::Kind::object: break;
        }
        std::vector<std::size_t> places(value.names.size());
        std::iota(places.begin(), places.end(), 0U);
        for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random_.below(i)]);
        out += "{" + space();
        for (const std::size_t place : places) {
            separate(first);
            out += string(value.names[place]) + space() + ":" + write(value.items[place]);
        }
        return out + space() + "}" + space();
    }

    /// Another value in one leaf; false if there is none to change.
    bool change(Value& value) {
        if (value.kind == Value::Kind::number) value.token = value.token == "7" ? "8" : "7";
        if (value.kind == Value::Kind::literal) value.token = value.token == "null" ? "true" : "null";
        if (value.kind == Value::Kind::string) value.text += U'!';
        if (value.kind == Value::Kind::array || value.kind == Value::Kind::object)
            return !value.items.empty() && change(value.items[random_.below(value.items.size())]);
        return true;
    }

private:
    std::string pick(std::initializer_list<std::string_view> words) {
        return std::string(words.begin()[random_.below(words.size())]);
    }
    char32_t character() {
        switch (random_.below(8)) {
            case 0: return static_cast<char32_t>(random_.below(0x20));
            case 1: return U"\"\\/\x7f\x80\x2028\xd7ff\xe000\xfb33\xffff\x10000\x1f600\x10ffff"[random_.below(13)];
            case 2: {
                const auto c = static_cast<char32_t>(random_.below(0x110000 - 0x800));
                return c < 0xd800 ? c : c + 0x800;
            }
            default: return static_cast<char32_t>('a' + random_.below(4));
        }
    }
    std::u32string text() {
        std::u32string text;
        for (auto left = random_.below(random_.below(8) == 0 ? 40 : 5); left > 0; --left) text.push_back(character());
        return text;
    }
    std::string string(const std::u32string& text) {
        std::string out = "\"";
        for (const char32_t c : text) {
            const std::string escape = c == '/' ? "\\/" : short_escape(c);
            const bool must = c < 0x20 || c == '"' || c == '\\';
            const auto way = random_.below(4);
            if (way == 0)
                out += long_escape(c, random_.below(2) == 0);
            else if (!escape.empty() && (must || way == 1))
                out += escape;
            else
                out += must ? long_escape(c, false) : utf8(c);
        }
        return out + "\"";
    }
    /// The same value in another spelling: zeros, a moved point, an exponent.
    std::string number(const std::string& token) {
        const bool exponent = token.find('e') != std::string::npos;
        const bool point = token.find('.') != std::string::npos;
        switch (random_.below(5)) {
            case 0: return exponent ? token : token + "E0";
            case 1: return exponent ? token : token + (point ? "00" : ".000");
            case 2: return exponent || point || token == "0" ? token : token + "0e-1";
            case 3: return token == "0" ? "-0.0e5" : token;
            default: return token;
        }
    }
    std::string space() {
        return random_.below(3) == 0 ? pick({" ", "\n", "\t", "\r\n", "          "}) : std::string();
    }

    SeededRandom random_;
};

}  // namespace semel::canon

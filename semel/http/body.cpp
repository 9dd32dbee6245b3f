#include "semel/http/body.hpp"

#include "semel/base/assert.hpp"

#include <algorithm>
#include <charconv>

namespace semel::http {
namespace {

/// A size and perhaps an extension that nobody reads.
constexpr std::size_t chunk_line_max = 256;
constexpr std::size_t trailers_max = 8 * 1024;
/// Reserved at once. What is announced beyond it must arrive before it costs memory.
constexpr std::uint64_t reserve_max = 64 * 1024;

}  // namespace

BodyReader::BodyReader(const HeadFacts& facts, std::size_t body_max) noexcept
    : framing_(facts.framing), max_(body_max) {
    if (framing_ == Framing::none) return;
    state_ = State::more;
    if (framing_ == Framing::chunked) part_ = Part::line;
    if (framing_ == Framing::length) {
        left_ = facts.length;
        if (left_ > max_) state_ = State::too_large;
    }
}

std::size_t BodyReader::feed(std::string_view input, std::string& body) {
    std::size_t used = 0;
    while (state_ == State::more && used < input.size()) {
        const std::string_view rest = input.substr(used);
        const std::size_t taken = part_ == Part::data ? feed_data(rest, body) : feed_line(rest);
        if (taken == 0) break;
        used += taken;
    }
    return used;
}

void BodyReader::end() noexcept {
    if (state_ == State::more) state_ = framing_ == Framing::until_close ? State::done : State::malformed;
}

std::size_t BodyReader::feed_data(std::string_view input, std::string& body) {
    const bool bounded = framing_ != Framing::until_close;
    const auto size = bounded ? static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size())) : input.size();
    if (size > max_ - total_) {
        state_ = State::too_large;
        return 0;
    }
    if (total_ == 0 && bounded) body.reserve(static_cast<std::size_t>(std::min(left_, reserve_max)));
    body.append(input.substr(0, size));
    total_ += size;
    if (bounded) left_ -= size;
    if (bounded && left_ == 0) {
        if (framing_ == Framing::length) state_ = State::done;
        part_ = Part::data_end;
    }
    return size;
}

/// One line of the framing, once it is complete.
std::size_t BodyReader::feed_line(std::string_view input) {
    const std::size_t line_max = part_ == Part::trailer ? trailers_max - trailers_ : chunk_line_max;
    const auto feed = input.substr(0, line_max).find('\n');
    if (feed == std::string_view::npos) {
        if (input.size() >= line_max) state_ = State::malformed;
        return 0;
    }
    if (feed == 0 || input[feed - 1] != '\r') {
        state_ = State::malformed;
        return 0;
    }
    const std::string_view line = input.substr(0, feed - 1);
    const bool misplaced = part_ == Part::data_end && !line.empty();
    if (misplaced || !is_field_value(line)) {
        state_ = State::malformed;
    } else if (part_ == Part::line) {
        on_chunk_line(line);
    } else if (part_ == Part::trailer) {
        trailers_ += feed + 1;
        on_trailer_line(line);
    } else {
        part_ = Part::line;
    }
    return feed + 1;
}

void BodyReader::on_chunk_line(std::string_view line) noexcept {
    const std::string_view digits = line.substr(0, line.find(';'));
    std::uint64_t size = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) {
        state_ = State::malformed;
    } else if (size == 0) {
        part_ = Part::trailer;
    } else if (size > max_ - total_) {
        state_ = State::too_large;
    } else {
        left_ = size;
        part_ = Part::data;
    }
}

void BodyReader::on_trailer_line(std::string_view line) noexcept {
    if (line.empty()) {
        state_ = State::done;
    } else if (!is_field_name(line.substr(0, line.find(':'))) || line.find(':') == std::string_view::npos) {
        state_ = State::malformed;
    }
}

}  // namespace semel::http

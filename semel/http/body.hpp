#pragma once

#include "semel/http/head.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace semel::http {

/// Takes a body out of the bytes that follow a head. Chunks are read strictly: their framing lines
/// are bounded and end with CRLF, extensions are ignored, trailers are checked and dropped, since a
/// field behind the body must not change what was decided by the head.
class BodyReader {
public:
    enum class State : unsigned char { more, done, malformed, too_large };

    BodyReader() noexcept = default;
    BodyReader(const HeadFacts& facts, std::size_t body_max) noexcept;

    /// Appends what belongs to the body and returns how many bytes of `input` are used up. The rest
    /// must come again, with more behind it.
    std::size_t feed(std::string_view input, std::string& body);
    /// The other side will send nothing more.
    void end() noexcept;
    [[nodiscard]] State state() const noexcept { return state_; }

private:
    enum class Part : unsigned char { data, line, data_end, trailer };

    std::size_t feed_data(std::string_view input, std::string& body);
    std::size_t feed_line(std::string_view input);
    void on_chunk_line(std::string_view line) noexcept;
    void on_trailer_line(std::string_view line) noexcept;

    Framing framing_ = Framing::none;
    State state_ = State::done;
    Part part_ = Part::data;
    std::uint64_t left_ = 0;   // Of the body, or of the chunk.
    std::uint64_t total_ = 0;  // Bytes of the body so far.
    std::size_t max_ = 0;
    std::size_t trailers_ = 0;  // Bytes of them so far.
};

}  // namespace semel::http

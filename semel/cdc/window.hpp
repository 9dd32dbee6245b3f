#pragma once

#include "semel/base/id.hpp"
#include "semel/cdc/lsn.hpp"
#include "semel/message/message.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace semel::cdc {

class EventColumns;

/// Bytes as libpq handed them over.
class CopyBytes {
public:
    CopyBytes() = default;
    CopyBytes(char* bytes, std::size_t size) noexcept : bytes_(bytes), size_(size) {}
    [[nodiscard]] std::string_view view() const noexcept { return {bytes_.get(), size_}; }

private:
    struct Free {
        void operator()(char* bytes) const noexcept;
    };
    std::unique_ptr<char, Free> bytes_;
    std::size_t size_ = 0;
};

/// An event that came from the log and is not settled yet. Given out once as it was read; should it have to be given out
/// again, it is read again from the bytes that are kept until then.
struct WindowEvent {
    std::int64_t number = 0;  ///< Given by the window, growing by one.
    Uuid id{};
    std::int64_t aggregate = 0;
    std::int64_t position = 0;
    std::int32_t partition = 0;
    /// It has a pending row and leaves by that: settled when everyone can see what this transaction did.
    std::optional<std::uint64_t> seen_with{};
    CopyBytes bytes{};
    std::shared_ptr<const EventColumns> columns{};
    std::optional<Message> fresh{};  ///< Until it is given out.
    bool settled = false;
};

/// What came from the log in its order, and how far it may be confirmed: up to the end of the last transaction all of
/// whose events, and all before it, are settled. Pure; one thread at a time.
class Window {
public:
    /// The first event gets the number `next`.
    explicit Window(std::int64_t next = 1) noexcept : next_(next) {}
    [[nodiscard]] std::int64_t next() const noexcept { return next_; }

    /// A transaction begins: until its commit, nothing behind it is confirmed.
    void begin() noexcept { open_ = true; }
    [[nodiscard]] bool in_transaction() const noexcept { return open_; }
    const WindowEvent& add(WindowEvent event);
    void commit(Lsn end);
    /// A heartbeat: when everything before it is settled, everything below this transaction has left.
    void heartbeat(std::uint64_t low_water);
    /// The server has nothing for us before this place.
    void idle(Lsn end);

    /// Numbers that it does not know, or knows to be settled, change nothing.
    void settle(std::int64_t number);
    /// Forgets what is not confirmed: it will come again. Numbers are not given out twice.
    void restart() noexcept;

    /// Calls for each event that is not settled, in order, until it returns false.
    void each_unsettled(const std::function<bool(WindowEvent&)>& call);
    /// Null: not in the window any more, or settled.
    [[nodiscard]] const WindowEvent* find(std::int64_t number) const noexcept;
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::size_t size() const noexcept { return events_.size(); }

    [[nodiscard]] Lsn confirmed() const noexcept { return confirmed_; }
    void start_at(Lsn confirmed) noexcept { confirmed_ = std::max(confirmed_, confirmed); }
    [[nodiscard]] std::optional<std::uint64_t> low_water() const noexcept { return low_water_; }

private:
    /// Counts once every event up to `after` is settled.
    struct Marker {
        std::int64_t after = 0;
        Lsn end{};
        std::optional<std::uint64_t> low_water{};
    };
    void mark(const Marker& marker);
    void advance();

    std::deque<WindowEvent> events_;
    std::deque<Marker> markers_;
    std::int64_t next_;
    std::size_t bytes_ = 0;
    Lsn confirmed_{};
    std::optional<std::uint64_t> low_water_;
    bool open_ = false;
};

}  // namespace semel::cdc

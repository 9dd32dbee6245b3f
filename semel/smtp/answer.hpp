#pragma once

#include "semel/base/result.hpp"

#include <string>

namespace semel::smtp {

/// How sending one mail ended.
struct Answer {
    int curl = 0;             ///< libcurl's verdict.
    long reply = 0;           ///< The last code that the server said; 0: none.
    bool sent_whole = false;  ///< The mail was handed over to its last byte.
    std::string said{};       ///< The server's last line, or libcurl's reason.
};

/// What can be concluded. 4yz: not now. 5yz to a sender, a reader or a mail: never. 5yz to who we are is a matter of the
/// configuration and not of the event: not now, either. Handed over whole and not answered: unknown.
[[nodiscard]] Status judge(const Answer& answer);

/// For mails whose turn did not come.
[[nodiscard]] Error not_sent_in_time();
/// For mails behind one that met a server which is away, or full.
[[nodiscard]] Error not_sent_after(const Error& met);

}  // namespace semel::smtp

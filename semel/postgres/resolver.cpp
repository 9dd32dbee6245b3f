#include "semel/postgres/resolver.hpp"

#include "semel/postgres/background.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

namespace semel::postgres {
namespace {

/// Shared by the one who asks and the lookup, whichever ends later.
struct Answer {
    std::mutex mutex;
    std::condition_variable_any ready;
    bool done = false;
    int code = 0;
    std::vector<std::string> addresses;
};

bool is_address(const std::string& name) {
    in6_addr binary{};
    return inet_pton(AF_INET, name.c_str(), &binary) == 1 || inet_pton(AF_INET6, name.c_str(), &binary) == 1;
}

int look_up(const std::string& name, std::vector<std::string>& addresses) {
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int code = getaddrinfo(name.c_str(), nullptr, &wanted, &found); code != 0) return code;
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, &freeaddrinfo);
    for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
        char text[NI_MAXHOST];
        if (getnameinfo(entry->ai_addr, entry->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
            continue;
        if (std::ranges::find(addresses, text) == addresses.end()) addresses.emplace_back(text);
    }
    return addresses.empty() ? EAI_NONAME : 0;
}

Error cannot_resolve(const std::string& name, std::string_view why) {
    Error error;
    error.fault = Fault::unavailable;
    error.message.append("host name ").append(name).append(" ").append(why);
    return error;
}

}  // namespace

Lookup system_lookup() { return look_up; }

Result<std::vector<std::string>> resolve_name(const std::string& name, Deadline deadline, Clock& clock,
                                              const Lookup& lookup) {
    if (is_address(name)) return std::vector<std::string>{name};
    const auto answer = std::make_shared<Answer>();
    const bool started = run_in_background([answer, name, lookup] {
        std::vector<std::string> addresses;
        const int code = lookup(name, addresses);
        const std::lock_guard lock(answer->mutex);
        answer->code = code;
        answer->addresses = std::move(addresses);
        answer->done = true;
        answer->ready.notify_all();
    });
    if (!started)
        return fail(cannot_resolve(name, "was not looked up: too many lookups are waiting for a name server"));

    std::unique_lock lock(answer->mutex);
    while (!answer->done && !deadline.passed(clock.now())) (void)clock.wait(lock, answer->ready, deadline.at(), {});
    if (!answer->done) {
        Error error = cannot_resolve(name, "was not resolved in time");
        error.cause.timeout = Timeout::dns;
        error.cause.hint = "the name server does not answer; check the network's DNS";
        return fail(std::move(error));
    }
    if (answer->code == 0) return answer->addresses;
    const bool unknown = answer->code == EAI_NONAME || answer->code == EAI_NODATA;
    Error error = cannot_resolve(name, unknown ? "is unknown" : "could not be resolved");
    error.native = gai_strerror(answer->code);
    if (unknown) error.cause.hint = "check the spelling of the host in the connection string";
    return fail(std::move(error));
}

}  // namespace semel::postgres

#include "semel/retry/socket_table.hpp"

#include <netdb.h>

#include <array>
#include <cerrno>

namespace semel {
namespace {

using enum Fault;

constexpr std::array rules = {
    // The way to the other side.
    Rule{"ECONNREFUSED", "connection refused", unavailable, unavailable, unknown, true, "Nobody listens there now."},
    Rule{"ENETUNREACH", "network unreachable", unavailable, unavailable, unknown, true, "No route to that network."},
    Rule{"EHOSTUNREACH", "host unreachable", unavailable, unavailable, unknown, true, "No route to that host."},
    Rule{"ENETDOWN", "network down", unavailable, unavailable, unknown, true, "Our own network is down."},
    Rule{"EHOSTDOWN", "host down", unavailable, unavailable, unknown, true, "The host does not answer its neighbours."},
    Rule{"ETIMEDOUT", "timed out by the system", unavailable, unavailable, unknown, true,
         "The system gave up on the other side's acknowledgements."},
    Rule{socket_connect_timeout, "no connection in time", unavailable, unavailable, unknown, true,
         "Nothing was sent yet."},
    // Names.
    Rule{"EAI_AGAIN", "temporary failure of name resolution", unavailable, unavailable, unknown, true,
         "The name server did not answer; the name may exist."},
    Rule{socket_dns_timeout, "no name resolution in time", unavailable, unavailable, unknown, true,
         "The name server did not answer in time."},
    Rule{"EAI_NONAME", "no such name", rejected, rejected, unknown, true, "The name does not exist."},
    Rule{"EAI_FAIL", "permanent failure of name resolution", rejected, rejected, unknown, true,
         "The name server refuses to answer."},
    // A connection that was there.
    Rule{"ECONNRESET", "connection reset", unavailable, unavailable, unknown, true,
         "The other side dropped the connection; what it did with the bytes sent is not known."},
    Rule{"ECONNABORTED", "connection aborted", unavailable, unavailable, unknown, true,
         "The connection was torn down on our side."},
    Rule{"ENETRESET", "connection reset by the network", unavailable, unavailable, unknown, true,
         "The keep-alive probes found the connection dead."},
    Rule{"EPIPE", "broken pipe", unavailable, unavailable, unknown, true,
         "The other side closed; it may have read what was written before."},
    Rule{"ENOTCONN", "not connected", unavailable, unavailable, unknown, true, "The connection is gone."},
    Rule{socket_end_of_file, "closed by the other side", unavailable, unavailable, unknown, true,
         "The other side closed before it answered."},
    Rule{socket_write_timeout, "request not sent in time", unavailable, unavailable, unknown, true,
         "Part of the request may have arrived, perhaps all of it."},
    Rule{socket_read_timeout, "no answer in time", unavailable, unavailable, unknown, true,
         "The other side may still be at it."},
    // TLS.
    Rule{socket_tls_timeout, "no TLS handshake in time", unavailable, unavailable, unknown, true,
         "The request is sent only after the handshake."},
    Rule{socket_tls_certificate, "certificate not accepted", rejected, rejected, rejected, true,
         "The other side is not who it should be; nothing was sent to it."},
    // Our own machine.
    Rule{"EMFILE", "too many open files in this process", unavailable, unavailable, unknown, true,
         "A descriptor may become free."},
    Rule{"ENFILE", "too many open files on this machine", unavailable, unavailable, unknown, true,
         "A descriptor may become free."},
    Rule{"ENOBUFS", "no buffer space", unavailable, unavailable, unknown, true,
         "Memory of the system may become free."},
    Rule{"EADDRNOTAVAIL", "no local port", unavailable, unavailable, unknown, true,
         "All local ports towards that address are taken."},
    Rule{"EACCES", "forbidden by a local rule", rejected, rejected, unknown, true, "A permission is missing."},
    Rule{"EPERM", "forbidden by a firewall", rejected, rejected, unknown, true, "A local firewall forbids it."},
    Rule{"EAFNOSUPPORT", "address family not supported", rejected, rejected, unknown, true,
         "This machine cannot reach such an address."},
};
static_assert(well_formed(rules));

}  // namespace

std::span<const Rule> socket_rules() noexcept { return rules; }

std::string_view socket_code(int error_number) noexcept {
    switch (error_number) {
        case ECONNREFUSED: return "ECONNREFUSED";
        case ENETUNREACH: return "ENETUNREACH";
        case EHOSTUNREACH: return "EHOSTUNREACH";
        case ENETDOWN: return "ENETDOWN";
        case EHOSTDOWN: return "EHOSTDOWN";
        case ETIMEDOUT: return "ETIMEDOUT";
        case ECONNRESET: return "ECONNRESET";
        case ECONNABORTED: return "ECONNABORTED";
        case ENETRESET: return "ENETRESET";
        case EPIPE: return "EPIPE";
        case ENOTCONN: return "ENOTCONN";
        case EMFILE: return "EMFILE";
        case ENFILE: return "ENFILE";
        case ENOBUFS: return "ENOBUFS";
        case EADDRNOTAVAIL: return "EADDRNOTAVAIL";
        case EACCES: return "EACCES";
        case EPERM: return "EPERM";
        case EAFNOSUPPORT: return "EAFNOSUPPORT";
        default: return "errno";
    }
}

std::string_view resolver_code(int eai) noexcept {
    switch (eai) {
        case EAI_AGAIN: return "EAI_AGAIN";
        case EAI_NONAME: return "EAI_NONAME";
        case EAI_FAIL: return "EAI_FAIL";
        default: return "resolver";
    }
}

Fault classify_socket(std::string_view code, Phase phase) noexcept {
    // Whatever the code: bytes that may take effect were sent, and nobody answered.
    if (phase == Phase::commit && find(rules, code) == nullptr) return unknown;
    return classify(rules, code, phase);
}

}  // namespace semel

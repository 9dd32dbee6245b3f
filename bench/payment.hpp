#pragma once

#include "semel/command/executor.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace semel::bench {

/// What is executed wherever commands are measured: a payment with its event and its stored reply.
inline constexpr std::string_view payment_body =
    R"({"paymentId":"0190c7f4-7d5e-7b1a-9c3f-0123456789ab","account":4711,"amount":"10.00","currency":"EUR","state":"RECEIVED","createdAt":"2026-01-31T12:00:00Z"})";

/// Only posts: one round trip.
[[nodiscard]] inline Result<Reply> pay(Work& work, std::int64_t account, std::int64_t amount) {
    const Uuid id = new_uuid();
    work.tx.post("INSERT INTO payment (id, account, amount) VALUES ($1, $2, $3)", id, account, amount);
    Event event;
    event.aggregate = Aggregate{.type = "payment", .id = id.text(), .version = 1};
    event.type = "payment.created";
    event.payload = payment_body;
    work.outbox.append(std::move(event));
    return Reply{.status = 201, .body = std::string(payment_body), .headers = {{"Content-Type", "application/json"}}};
}

/// Reads first: two.
[[nodiscard]] inline Result<Reply> read_and_pay(Work& work, std::int64_t account, std::int64_t amount) {
    const Rows rows = SEMEL_TRY(work.tx.execute("SELECT open FROM account WHERE id = $1", account));
    if (rows.empty()) return fail(Fault::rejected, "no such account");
    return pay(work, account, amount);
}

[[nodiscard]] inline Command payment_command(std::string_view key, std::uint32_t attempt = 1) {
    return {.identity = Identity::of("shop", "web", "payment.create", key).value(),
            .fingerprint = {.version = fingerprint_version, .digest = sha256(bytes_of(key))},
            .attempt = attempt};
}

/// For those who count what was committed, whatever it answered.
[[nodiscard]] inline Outcome<> without_answer(const Outcome<Answer>& outcome) {
    if (outcome.committed()) return Committed<void>{};
    return NotCommitted{outcome.error()};
}

}  // namespace semel::bench

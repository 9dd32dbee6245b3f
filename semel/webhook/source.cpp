#include "semel/webhook/source.hpp"

#include "semel/source/cloud_event.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace semel::webhook {
namespace {

bool same_name(std::string_view one, std::string_view other) {
    const auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::ranges::equal(one, other, {}, low, low);
}

/// What proves who sent a request says nothing about the message.
constexpr std::array<std::string_view, 4> proofs{signature_header, "authorization", "proxy-authorization", "cookie"};

std::vector<CloudEventAttribute> without_proofs(std::span<const CloudEventAttribute> headers) {
    std::vector<CloudEventAttribute> rest;
    for (const CloudEventAttribute& one : headers)
        if (std::ranges::none_of(proofs, [&](std::string_view name) { return same_name(one.name, name); }))
            rest.push_back(one);
    return rest;
}

std::string_view header_of(const Inbound& request, std::string_view name) {
    for (const CloudEventAttribute& one : request.headers)
        if (same_name(one.name, name)) return one.value;
    return {};
}

Error turned_away(Fault fault, std::string message) {
    Error error;
    error.fault = fault;
    error.message = std::move(message);
    return error;
}

}  // namespace

Result<ReceivedMessage> received_from(const Inbound& request, std::span<const Secret> secrets, Timestamp now) {
    const Signed parts{
        .id = header_of(request, id_header), .timestamp = header_of(request, timestamp_header), .body = request.body};
    if (parts.id.empty()) return fail(Fault::rejected, "the header webhook-id is missing: a repeat could not be told");
    SEMEL_TRY(verify(parts, header_of(request, signature_header), secrets, now));
    ReceivedMessage message =
        received_cloud_event(without_proofs(request.headers), "ce-", request.body, HeaderEncoding::percent);
    // The id of a CloudEvent may be in a header, which nobody signed.
    message.id = std::string(parts.id);
    return message;
}

Status WebhookSource::offer(ReceivedMessage message, Deadline deadline) {
    std::unique_lock lock(mutex_);
    if (closed_) return fail(turned_away(Fault::unavailable, "the consumer is stopping; nothing was done"));
    if (offers_.size() >= offered_max_)
        return fail(turned_away(Fault::throttled, "too many messages are being handled; nothing was done"));
    const DeliveryTag tag = ++tags_;
    offers_.emplace(tag, Offer{.message = std::move(message)});
    offered_.notify_one();
    Stage stage = Stage::waiting;
    while (stage < Stage::done && !deadline.passed(clock_->now())) {
        clock_->wait(lock, ended_, deadline.at(), {});
        stage = offers_.at(tag).stage;
    }
    offers_.erase(tag);
    switch (stage) {
        case Stage::done: return {};
        case Stage::refused: return fail(turned_away(Fault::unavailable, "it was not handled; send it again later"));
        case Stage::waiting: return fail(turned_away(Fault::unavailable, "nobody had time for it; nothing was done"));
        case Stage::delivered: break;
    }
    return fail(turned_away(Fault::unknown, "it is still being handled; send it again, it is done once"));
}

void WebhookSource::close() {
    const std::lock_guard guard(mutex_);
    closed_ = true;
    for (auto& [tag, offer] : offers_)
        if (offer.stage == Stage::waiting) offer.stage = Stage::refused;
    ended_.notify_all();
}

Result<std::vector<Delivery>> WebhookSource::receive(std::size_t limit, Deadline deadline) {
    std::unique_lock lock(mutex_);
    std::vector<Delivery> deliveries;
    while (!std::exchange(woken_, false)) {
        for (auto& [tag, offer] : offers_) {
            if (paused_ || deliveries.size() >= limit) break;
            if (offer.stage != Stage::waiting) continue;
            offer.stage = Stage::delivered;
            deliveries.push_back(
                {.tag = tag, .redelivered = clock_->now() - born_ < suspicion, .message = std::move(offer.message)});
        }
        if (!deliveries.empty() || deadline.passed(clock_->now())) break;
        clock_->wait(lock, offered_, deadline.at(), {});
    }
    return deliveries;
}

Status WebhookSource::acknowledge(std::span<const DeliveryTag> tags) {
    end(tags, Stage::done);
    return {};
}

Status WebhookSource::give_back(std::span<const DeliveryTag> tags) {
    end(tags, Stage::refused);
    return {};
}

void WebhookSource::end(std::span<const DeliveryTag> tags, Stage stage) {
    const std::lock_guard guard(mutex_);
    for (const DeliveryTag tag : tags)
        if (const auto found = offers_.find(tag); found != offers_.end()) found->second.stage = stage;
    ended_.notify_all();
}

void WebhookSource::pause() {
    const std::lock_guard guard(mutex_);
    paused_ = true;
}

void WebhookSource::resume() {
    const std::lock_guard guard(mutex_);
    paused_ = false;
    offered_.notify_all();
}

void WebhookSource::wake() {
    const std::lock_guard guard(mutex_);
    woken_ = true;
    offered_.notify_all();
}

}  // namespace semel::webhook

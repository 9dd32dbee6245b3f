#include "semel/nats/durable.hpp"

#include "semel/nats/failure_table.hpp"

#include <nats/nats.h>

#include <algorithm>

namespace semel::nats {
namespace {

Error durable_error(const NatsSourceOptions& options, natsStatus status, jsErrCode code) {
    const std::string what = "look for the consumer " + options.consumer + " of the stream " + options.stream;
    if (code == 0 && status != NATS_NOT_FOUND) return client_error(what, status);
    Error error = error_from(static_cast<int>(code), last_words());
    // Whoever answers so is there, and will go on answering so.
    if (error.fault == Fault::unavailable && (status == NATS_NOT_FOUND || status == NATS_ERR)) {
        error.fault = Fault::rejected;
        error.message = status == NATS_NOT_FOUND ? "there is no such stream or consumer" : "the server refuses it";
    }
    return std::move(error).within(what);
}

}  // namespace

Result<DurableView> find_or_make_durable(const Link& link, const NatsSourceOptions& options) {
    jsOptions how{};
    jsOptions_Init(&how);
    how.Wait = std::max<std::int64_t>(
        1, std::chrono::ceil<std::chrono::milliseconds>(options.connection.connect_limit).count());
    jsErrCode code{};
    jsConsumerInfo* info = nullptr;
    natsStatus status =
        js_GetConsumerInfo(&info, link.jetstream(), options.stream.c_str(), options.consumer.c_str(), &how, &code);
    const bool there = status == NATS_OK;
    DurableView view;
    if (there) view = {.newest = info->Delivered.Stream, .unacknowledged = info->NumAckPending};
    jsConsumerInfo_Destroy(std::exchange(info, nullptr));
    if (!options.create || (!there && status != NATS_NOT_FOUND)) {
        if (!there) return fail(durable_error(options, status, code));
        return view;
    }
    jsConsumerConfig config{};
    jsConsumerConfig_Init(&config);
    config.Durable = options.consumer.c_str();
    config.DeliverPolicy = js_DeliverAll;
    config.AckPolicy = js_AckExplicit;
    config.AckWait = options.ack_wait.count();
    config.MaxAckPending = static_cast<std::int64_t>(options.prefetch);
    if (!options.filter.empty()) config.FilterSubject = options.filter.c_str();
    const auto make = there ? js_UpdateConsumer : js_AddConsumer;
    status = make(&info, link.jetstream(), options.stream.c_str(), &config, &how, &code);
    jsConsumerInfo_Destroy(info);
    if (status != NATS_OK) return fail(durable_error(options, status, code));
    return view;
}

}  // namespace semel::nats

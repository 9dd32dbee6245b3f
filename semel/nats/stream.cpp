#include "semel/nats/stream.hpp"

#include "semel/nats/failure_table.hpp"

#include <nats/nats.h>

#include <algorithm>
#include <memory>

namespace semel::nats {
namespace {

using Info = std::unique_ptr<jsStreamInfo, decltype(&jsStreamInfo_Destroy)>;

jsOptions within(Duration limit) {
    jsOptions how{};
    jsOptions_Init(&how);
    how.Wait = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::milliseconds>(limit).count());
    return how;
}

StreamView view_of(const jsStreamInfo& info) {
    StreamView view{
        .subjects = {}, .in_memory = info.Config->Storage == js_MemoryStorage, .replicas = info.Config->Replicas};
    for (int n = 0; n < info.Config->SubjectsLen; ++n) view.subjects.emplace_back(info.Config->Subjects[n]);
    return view;
}

Error stream_error(std::string_view what, natsStatus status, jsErrCode code) {
    if (code != 0) return error_from(static_cast<int>(code), last_words()).within(what);
    return client_error(what, status);
}

}  // namespace

Result<StreamView> find_stream(const Link& link, const std::string& name, Duration limit) {
    jsStreamInfo* raw = nullptr;
    jsErrCode code{};
    jsOptions how = within(limit);
    const natsStatus status = js_GetStreamInfo(&raw, link.jetstream(), name.c_str(), &how, &code);
    const Info info(raw, jsStreamInfo_Destroy);
    if (status == NATS_OK) return view_of(*raw);
    Error error = stream_error("look for the stream " + name, status, code);
    if (status == NATS_NOT_FOUND) {
        error.fault = Fault::rejected;
        error.message = "there is no stream " + name;
        error.cause.hint = "make it on the server, or let it be made: create=true";
    }
    return fail(std::move(error));
}

Result<StreamView> find_or_make_stream(const Link& link, const std::string& name, const StreamOptions& options,
                                       Duration limit) {
    auto found = find_stream(link, name, limit);
    if (found || !options.create || found.error().fault != Fault::rejected) return found;
    std::vector<std::string> subjects = options.subjects;
    if (subjects.empty()) subjects.push_back(name + ".>");
    std::vector<const char*> texts;
    for (const std::string& one : subjects) texts.push_back(one.c_str());
    jsStreamConfig config{};
    jsStreamConfig_Init(&config);
    config.Name = name.c_str();
    config.Subjects = texts.data();
    config.SubjectsLen = static_cast<int>(texts.size());
    config.Storage = js_FileStorage;
    config.Replicas = options.replicas;
    config.Duplicates = options.duplicate_window.count();
    config.MaxMsgSize = static_cast<std::int32_t>(options.message_max);
    // A full stream refuses what is new: events wait in the outbox instead of pushing out older ones.
    config.Discard = js_DiscardNew;
    jsStreamInfo* raw = nullptr;
    jsErrCode code{};
    jsOptions how = within(limit);
    const natsStatus status = js_AddStream(&raw, link.jetstream(), &config, &how, &code);
    const Info info(raw, jsStreamInfo_Destroy);
    if (status == NATS_OK) return view_of(*raw);
    // Someone else made it just now, in their way.
    if (code == JSStreamNameExistErr) return find_stream(link, name, limit);
    return fail(stream_error("make the stream " + name, status, code));
}

}  // namespace semel::nats

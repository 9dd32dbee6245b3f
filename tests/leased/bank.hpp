#pragma once

#include "semel/call/integration.hpp"

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace semel::leased {

/// The other side: a bank that moves money when it is asked to, and counts how often it did. What it does with one
/// request is scripted; without a script it does what it is asked. Thread-safe.
class Bank {
public:
    enum class Does : std::uint8_t {
        its_job,        ///< Moves the money and says so.
        job_unheard,    ///< Moves the money; the answer is lost.
        nothing_heard,  ///< Never gets the request; nobody knows.
        refuses,        ///< Says no, for good.
        is_away,        ///< Cannot be reached: certainly nothing was done.
        is_busy,        ///< Asks for less: certainly nothing was done.
        collides,       ///< Is at work for someone else: certainly nothing was done.
        throws,         ///< Moves the money, then the client library throws.
    };

    explicit Bank(Capability capability) : capability_(capability) {}

    void script(std::deque<Does> next) {
        const std::lock_guard guard(mutex_);
        script_ = std::move(next);
    }
    /// Calls this in the middle of every request, before anything is done.
    void on_request(std::function<void()> hook) { on_request_ = std::move(hook); }
    /// Answers queries as if what it did were not visible yet.
    void hide(bool hidden) {
        const std::lock_guard guard(mutex_);
        hidden_ = hidden;
    }

    [[nodiscard]] Integration integration() {
        return {.name = "bank",
                .capability = capability_,
                .perform = [this](const CallRequest& request, Deadline) { return perform(request); },
                .query = [this](const CallQuestion& question, Deadline) { return query(question); }};
    }

    [[nodiscard]] int requests() const {
        const std::lock_guard guard(mutex_);
        return requests_;
    }
    [[nodiscard]] int queries() const {
        const std::lock_guard guard(mutex_);
        return queries_;
    }
    /// How often money was moved, for anyone.
    [[nodiscard]] int effects() const {
        const std::lock_guard guard(mutex_);
        int sum = 0;
        for (const auto& [id, count] : effects_) sum += count;
        return sum;
    }
    /// The most that any one call moved money.
    [[nodiscard]] int effects_max() const {
        const std::lock_guard guard(mutex_);
        int most = 0;
        for (const auto& [id, count] : effects_) most = std::max(most, count);
        return most;
    }

private:
    Result<CallResponse> perform(const CallRequest& request) {
        if (on_request_) on_request_();
        const std::lock_guard guard(mutex_);
        ++requests_;
        const Does what = script_.empty() ? Does::its_job : script_.front();
        if (!script_.empty()) script_.pop_front();
        switch (what) {
            case Does::nothing_heard: return fail(Fault::unknown, "no answer");
            case Does::refuses: {
                Error error;
                error.fault = Fault::rejected;
                error.message = "the account is closed";
                error.cause.code = "closed";
                return fail(std::move(error));
            }
            case Does::is_away: return fail(Fault::unavailable, "connection refused");
            case Does::is_busy: return fail(Fault::throttled, "too many requests");
            case Does::collides: return fail(Fault::conflict, "the account is in use");
            case Does::its_job:
            case Does::job_unheard:
            case Does::throws: break;
        }
        int& count = effects_[request.external_request_id];
        if (capability_ != Capability::takes_key || count == 0) ++count;
        if (what == Does::job_unheard) return fail(Fault::unknown, "no answer");
        if (what == Does::throws) throw std::runtime_error("the library lost its head");
        return CallResponse{.status = 201, .body = "moved " + request.body};
    }

    Result<std::optional<CallResponse>> query(const CallQuestion& question) {
        const std::lock_guard guard(mutex_);
        ++queries_;
        if (hidden_ || !effects_.contains(question.external_request_id)) return std::nullopt;
        return CallResponse{.status = 200, .body = "found " + question.business_key};
    }

    Capability capability_;
    mutable std::mutex mutex_;
    std::deque<Does> script_;
    std::function<void()> on_request_;
    std::map<std::string, int> effects_;
    int requests_ = 0;
    int queries_ = 0;
    bool hidden_ = false;
};

}  // namespace semel::leased

#pragma once

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/webhook/sink.hpp"

#include <curl/curl.h>

#include <memory>
#include <string>

namespace semel::webhook {

/// One request and what came back, on a handle that is used again and again. Neither copied nor moved: the handle knows
/// its address.
class Exchange {
public:
    /// The options must outlive it.
    explicit Exchange(const SinkOptions& options);
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    /// Makes the handle ready to send this message; the message must live until it is answered. An Error (`rejected`):
    /// it cannot be told as a CloudEvent.
    [[nodiscard]] Status prepare(const Message& message, std::size_t number, Timestamp now, Duration limit);
    /// What became of it, once curl is done with it.
    [[nodiscard]] Status finish(CURLcode code, Timestamp now) const;

    [[nodiscard]] CURL* handle() const noexcept { return handle_.get(); }
    [[nodiscard]] std::size_t number() const noexcept { return number_; }
    /// The connection could not be made at all: others would not fare better.
    [[nodiscard]] bool reached_nobody() const noexcept;

private:
    struct FreeHandle {
        void operator()(CURL* handle) const noexcept { ::curl_easy_cleanup(handle); }
    };
    struct FreeList {
        void operator()(curl_slist* list) const noexcept { ::curl_slist_free_all(list); }
    };

    void add_header(std::string_view name, std::string_view value);
    void set_fixed_options();
    [[nodiscard]] Status not_answered(CURLcode code) const;
    void on_header(std::string_view line);
    static std::size_t header_came(char* data, std::size_t size, std::size_t count, void* self) noexcept;
    static std::size_t body_came(char* data, std::size_t size, std::size_t count, void* self) noexcept;
    static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address) noexcept;

    const SinkOptions* options_;
    std::unique_ptr<CURL, FreeHandle> handle_;
    std::unique_ptr<curl_slist, FreeList> headers_;
    std::size_t number_ = 0;
    std::string structured_;
    std::string body_;  ///< Of the answer, as far as it is kept.
    std::string retry_after_;
    std::string location_;
    std::size_t head_size_ = 0;
    bool answered_ = false;  ///< The head of the final answer is complete.
    std::string_view refused_address_;
};

}  // namespace semel::webhook

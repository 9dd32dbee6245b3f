#pragma once

#include "semel/source/source.hpp"

#include <functional>
#include <span>
#include <string_view>

namespace orders {

/// Of another source only the messages of some types. The others are acknowledged at once: they cost neither a transaction
/// nor a row of the inbox.
class WantedSource final : public semel::Source {
public:
    /// `on_done` is called when messages were handled and committed: what they led to can be told. The source and the
    /// types must outlive it.
    WantedSource(semel::Source& source, std::span<const std::string_view> types, std::function<void()> on_done = {})
        : source_(&source), types_(types), on_done_(std::move(on_done)) {}

    [[nodiscard]] semel::Result<std::vector<semel::Delivery>> receive(std::size_t limit,
                                                                      semel::Deadline deadline) override;
    [[nodiscard]] semel::Status acknowledge(std::span<const semel::DeliveryTag> tags) override;
    [[nodiscard]] semel::Status give_back(std::span<const semel::DeliveryTag> tags) override {
        return source_->give_back(tags);
    }
    void pause() override { source_->pause(); }
    void resume() override { source_->resume(); }
    void wake() override { source_->wake(); }

private:
    [[nodiscard]] bool is_wanted(const semel::Delivery& delivery) const;

    semel::Source* source_;
    std::span<const std::string_view> types_;
    std::function<void()> on_done_;
};

}  // namespace orders

#include "apps/orders/consumers/wanted_source.hpp"

#include "semel/base/log.hpp"

#include <algorithm>
#include <utility>

namespace orders {

bool WantedSource::is_wanted(const semel::Delivery& delivery) const {
    return std::ranges::find(types_, delivery.message.type) != types_.end();
}

semel::Result<std::vector<semel::Delivery>> WantedSource::receive(std::size_t limit, semel::Deadline deadline) {
    auto deliveries = SEMEL_TRY(source_->receive(limit, deadline));
    std::vector<semel::Delivery> wanted;
    std::vector<semel::DeliveryTag> ignored;
    for (semel::Delivery& one : deliveries) {
        if (is_wanted(one))
            wanted.push_back(std::move(one));
        else
            ignored.push_back(one.tag);
    }
    if (!ignored.empty()) {
        // If it does not hear of it they come again, and are ignored again.
        if (const auto told = source_->acknowledge(ignored); !told)
            semel::log(semel::LogLevel::info, "consumer: acknowledge: " + told.error().describe());
    }
    return wanted;
}

semel::Status WantedSource::acknowledge(std::span<const semel::DeliveryTag> tags) {
    // Whatever becomes of the acknowledgement, the changes are committed.
    if (on_done_) on_done_();
    return source_->acknowledge(tags);
}

}  // namespace orders

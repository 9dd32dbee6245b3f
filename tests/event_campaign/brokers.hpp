#pragma once

#include "semel/base/result.hpp"

#include <memory>
#include <string>

namespace semel::campaign {

/// A real broker of its own, by the addresses under which a relay and a consumer know it.
class Broker {
public:
    virtual ~Broker() = default;
    [[nodiscard]] virtual std::string sink() const = 0;
    [[nodiscard]] virtual std::string source() const = 0;
};

// Each is started here and ends with the object. An Error says why there is none: print it and skip.
[[nodiscard]] Result<std::unique_ptr<Broker>> start_nats();
[[nodiscard]] Result<std::unique_ptr<Broker>> start_rabbitmq();
[[nodiscard]] Result<std::unique_ptr<Broker>> start_kafka();

}  // namespace semel::campaign

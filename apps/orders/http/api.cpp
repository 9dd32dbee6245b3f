#include "apps/orders/http/api.hpp"

#include "apps/orders/http/openapi.hpp"

namespace orders {

struct Api::State {
    semel::http::Router router;
    std::vector<std::string> operations;
    std::vector<CommandEntry> commands;
    std::vector<ReadEntry> reads;
    std::vector<MessageEntry> messages;
    std::vector<StatesEntry> states;
};

Api::Api(semel::http::CommandRoutes commands, RetentionOf retention)
    : commands_(std::move(commands)), retention_(std::move(retention)), state_(std::make_unique<State>()) {}
Api::~Api() = default;

semel::http::Route Api::route_of(const CommandEntry& entry) const {
    return commands_.route({.operation = std::string(entry.operation),
                            .handle = entry.handle,
                            .options = {.retention = retention_(entry.operation)},
                            .natural_keys = entry.natural_keys,
                            .deadline = entry.deadline,
                            .identify = entry.identify,
                            .when_expired = entry.when_expired});
}

void Api::command(const CommandEntry& entry) { add(route_of(entry), entry); }

void Api::read(const ReadEntry& entry) {
    semel::http::Route route{
        .handle = [handle = entry.handle](semel::http::Request& request) { return handle(request); }};
    add(std::move(route), entry);
}

void Api::add(semel::http::Route route, const CommandEntry& described) {
    state_->router.add("POST", described.path, std::move(route));
    state_->operations.emplace_back(described.operation);
    state_->commands.push_back(described);
}

void Api::add(semel::http::Route route, const ReadEntry& described) {
    state_->router.add("GET", described.path, std::move(route));
    state_->reads.push_back(described);
}

void Api::add(semel::http::Route route, const MessageEntry& described) {
    state_->router.add("POST", described.path, std::move(route));
    state_->messages.push_back(described);
}

void Api::states(std::string_view name, std::string_view description, std::span<const std::string_view> states) {
    state_->states.push_back({name, description, {states.begin(), states.end()}});
}

const std::vector<std::string>& Api::operations() const noexcept { return state_->operations; }

std::string Api::openapi() const {
    return openapi_document(
        {.commands = state_->commands, .reads = state_->reads, .messages = state_->messages, .states = state_->states});
}

semel::http::Router Api::take_router() {
    state_->router.add("GET", "/openapi.json", openapi_route(openapi()));
    return std::move(state_->router);
}

}  // namespace orders

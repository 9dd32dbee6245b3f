// Whatever a server says on a replication connection: it is taken apart or refused, and no length is believed.
#include "semel/cdc/pgoutput.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace semel::cdc::pgoutput;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto inside = [&](std::string_view part) {
        SEMEL_ASSERT(part.empty() || (part.data() >= bytes.data() && part.data() + part.size() <= bytes.data() + size));
    };
    if (const auto envelope = open_envelope(bytes))
        if (const auto* piece = std::get_if<Data>(&*envelope)) inside(piece->message);
    Decoder decoder;
    const auto change = decoder.decode(bytes);
    if (!change) return 0;
    if (const auto* insert = std::get_if<Insert>(&*change))
        for (const Field& field : insert->fields) inside(field.bytes);
    if (const auto* relation = std::get_if<Relation>(&*change)) {
        inside(relation->name);
        for (const Column& column : relation->columns) inside(column.name);
    }
    if (const auto* note = std::get_if<Note>(&*change)) inside(note->content);
    return 0;
}

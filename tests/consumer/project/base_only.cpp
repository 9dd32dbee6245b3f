// A program that links semel::base alone.
#include <semel/base/digest.hpp>
#include <semel/base/id.hpp>
#include <semel/base/outcome.hpp>

#include <iostream>

namespace {

semel::Result<semel::Uuid> read_id(std::string_view text) {
    const semel::Uuid id = SEMEL_TRY(semel::Uuid::parse(text));
    return id;
}

int complain(std::string_view what) {
    std::cerr << what << '\n';
    return 1;
}

}  // namespace

int main() {
    const semel::Uuid id = semel::new_uuid();
    if (const auto again = read_id(id.text()); !again || *again != id)
        return complain("an id did not survive its text");
    if (read_id("nonsense")) return complain("nonsense was read as an id");

    const semel::Outcome<int> outcome = semel::Unknown{.error = {.fault = semel::Fault::unknown}};
    const bool unknown =
        outcome.match([](const semel::Committed<int>&) { return false; },
                      [](const semel::NotCommitted&) { return false; }, [](const semel::Unknown&) { return true; });
    if (!unknown) return complain("an unknown outcome was taken for another one");

    const auto digest = semel::hex(semel::sha256(semel::bytes_of("abc")));
    if (!digest.starts_with("ba7816bf")) return complain("SHA-256 of abc is wrong");
    return 0;
}

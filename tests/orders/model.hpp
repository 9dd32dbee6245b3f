#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orders::model {

// The order platform once more, as plain values in memory: what docs/guides/orders.md says of states, prices, counts and
// refusals, written down without a look at how the service does it. A test takes the same commands to both.

/// Net, tax and gross in the smallest unit of their currency.
struct Sums {
    std::int64_t net = 0;
    std::int64_t tax = 0;
    std::int64_t gross = 0;

    Sums& operator+=(const Sums& other);
};

/// Prices and rates are whole ten-thousandths.
inline constexpr std::int64_t one = 10'000;

struct Product {
    std::int64_t tax_rate = 0;
    std::map<std::string, std::int64_t> list_prices{};  ///< By currency.
    std::map<std::int64_t, std::int64_t> discounts{};   ///< By the quantity from which they count.
};
using Catalogue = std::map<std::string, Product>;
/// What the service begins with.
[[nodiscard]] Catalogue first_catalogue();

/// Digits behind the point of a sum in this currency.
[[nodiscard]] int places_of(const std::string& currency);
/// "12.50" of 1250 with two places.
[[nodiscard]] std::string money_text(std::int64_t amount, int places);

enum class Kind { quote, order, task, asset };
[[nodiscard]] std::string_view name(Kind kind);

/// What everything has that has a life. An id is known only when the service has said it.
struct Thing {
    std::string id{};
    std::string state{};
    std::int64_t version = 1;
};

struct Line {
    std::string id{};
    std::string sku{};
    std::int64_t quantity = 1;
    std::string instance_key{};
    std::int64_t unit_price = 0;
    bool agreed = false;
    std::int64_t discount = 0;
    std::int64_t tax_rate = 0;
    Sums sums{};
};

struct Approval {
    std::int64_t revision = 1;
    std::string state = "PENDING";
    std::int64_t needed = 1;
    std::int64_t granted = 0;
    std::vector<std::pair<std::string, std::string>> decisions{};  ///< Approver and word.
};

struct Quote : Thing {
    std::string customer{};
    std::string currency{};
    std::int64_t revision = 1;
    std::vector<Line> lines{};
    std::set<std::string> runs{};
    std::vector<Approval> approvals{};
    std::set<std::int64_t> accepted{};  ///< Revisions.
    std::optional<std::size_t> order{};

    [[nodiscard]] Sums sums() const;
    [[nodiscard]] Approval* pending();
    [[nodiscard]] const Approval* pending() const;
};

struct Order : Thing {
    std::size_t quote = 0;
    std::int64_t quote_revision = 1;
    std::vector<Line> lines{};  ///< With the ids that they have in the order.
    std::vector<std::size_t> tasks{};
};

struct Task : Thing {
    std::size_t order = 0;
    std::optional<std::size_t> line{};
    std::string kind{};
    std::int64_t attempt = 1;
    std::string failure{};
    std::vector<std::size_t> needs{};
};

struct Asset : Thing {
    std::size_t order = 0;
    std::size_t line = 0;
    std::int64_t quantity = 1;
};

/// A command as somebody asks for it.
struct Asked {
    std::string operation{};                ///< "quote.submit"
    std::optional<std::size_t> thing{};     ///< Which of its kind; none: one that does not exist.
    std::optional<std::int64_t> version{};  ///< As it was seen; none: no If-Match.
    std::string caller = "seller";
    std::string customer{};
    std::string currency{};
    std::string sku{};
    std::int64_t quantity = 1;
    std::optional<std::int64_t> unit_price{};
    std::string instance_key{};
    std::string run{};
    std::string reason{};
    std::string word{};                 ///< The action of a repair, the change of an asset.
    std::optional<std::size_t> task{};  ///< Of a repair; none: one that does not exist.
    std::optional<std::int64_t> new_quantity{};
};

/// What becomes of it.
struct Verdict {
    int status = 200;
    std::string code{};                   ///< Of the problem; empty: it is done.
    std::string state{};                  ///< That the problem names.
    std::int64_t version = 0;             ///< The same.
    std::vector<std::string> existing{};  ///< One of these it names; none: whatever it likes.

    [[nodiscard]] bool is_done() const noexcept { return code.empty(); }

    [[nodiscard]] static Verdict duplicate(std::vector<std::string> existing = {});
    [[nodiscard]] static Verdict wrong_state(const Thing& thing);
    [[nodiscard]] static Verdict unacceptable();
};

using States = std::vector<std::string_view>;

/// One line of the audit, and one event.
struct Change {
    Kind kind = Kind::quote;
    std::size_t thing = 0;
    std::int64_t version = 1;
    std::string event{};
    std::string from{};
    std::string to{};
    std::string operation{};
    std::string caller{};
    std::string reason{};
};

class Model {
public:
    Catalogue catalogue = first_catalogue();
    std::vector<Quote> quotes{};
    std::vector<Order> orders{};
    std::vector<Task> tasks{};
    std::vector<Asset> assets{};
    std::vector<Change> changes{};  ///< All that ever happened, in order.

    /// Decides; what is done is done to the model. Ids of what is new stay empty until somebody sets them.
    Verdict take(const Asked& asked);
    /// The time of the quote passes, and the service notes it.
    void expire(std::size_t quote);

    [[nodiscard]] Thing& at(Kind kind, std::size_t index);
    [[nodiscard]] const Thing& at(Kind kind, std::size_t index) const;
    [[nodiscard]] std::size_t count(Kind kind) const;
    /// How many tasks of the order are in one of these states.
    [[nodiscard]] std::int64_t tasks_in(const Order& order, const States& states) const;
    /// The key under which a customer has no two assets; empty as long as the id of the line is not known.
    [[nodiscard]] static std::string instance_of(const Line& line);

private:
    Verdict create_quote(const Asked& asked);
    Verdict add_item(const Asked& asked);
    Verdict reprice(const Asked& asked);
    Verdict submit(const Asked& asked);
    Verdict decide(const Asked& asked);
    Verdict accept(const Asked& asked);
    Verdict revise(const Asked& asked);
    Verdict convert(const Asked& asked);
    Verdict complete(const Asked& asked);
    Verdict fail(const Asked& asked);
    Verdict retry(const Asked& asked);
    Verdict cancel(const Asked& asked);
    Verdict repair(const Asked& asked);
    Verdict modify(const Asked& asked);

    /// What the state or the version has against it.
    [[nodiscard]] std::optional<Verdict> refused(const Asked& asked, const Thing& thing, const States& states) const;
    /// The next version, and its line.
    void step(const Asked& asked, Kind kind, std::size_t index, std::string_view to, std::string_view event,
              const std::string& reason = {});
    /// The first version, and its line.
    void begin(const Asked& asked, Kind kind, std::size_t index, std::string_view event);
    [[nodiscard]] bool price(Line& line, const std::string& currency) const;
    Verdict finish(const Asked& asked, std::size_t task, std::string_view event, std::string_view order_event,
                   const std::string& reason);
    void begin_again(const Asked& asked, std::size_t task, std::string_view order_event, const std::string& reason);
    /// The order's own step, by what its tasks are now.
    void settle(const Asked& asked, std::size_t order, std::string_view event, const std::string& reason);
    [[nodiscard]] std::vector<std::string> assets_in_the_way(const Order& order) const;
};

}  // namespace orders::model

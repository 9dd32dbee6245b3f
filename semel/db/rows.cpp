#include "semel/db/rows.hpp"

#include <charconv>
#include <limits>

namespace semel {
namespace {

Error unreadable(std::string_view wanted) {
    Error error;
    error.fault = Fault::broken;
    error.message.append("is not ").append(wanted);
    return error;
}

template <class Number>
Result<Number> number_from_text(std::string_view text, std::string_view wanted) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return fail(unreadable(wanted));
    return value;
}

Result<std::string_view> text_of(const Cell& cell, std::string_view wanted) {
    if (cell.kind != Cell::Kind::text) return fail(unreadable(wanted));
    return cell.bytes;
}

}  // namespace

// PostgreSQL gives most types as text, SQLite its storage classes; each type is read from both.

Result<std::int64_t> Read<std::int64_t>::from(const Cell& cell) {
    if (cell.kind == Cell::Kind::integer) return cell.integer;
    return number_from_text<std::int64_t>(SEMEL_TRY(text_of(cell, "a whole number")), "a whole number");
}

Result<std::int32_t> Read<std::int32_t>::from(const Cell& cell) {
    const std::int64_t wide = SEMEL_TRY(Read<std::int64_t>::from(cell));
    if (wide < std::numeric_limits<std::int32_t>::min() || wide > std::numeric_limits<std::int32_t>::max())
        return fail(unreadable("a whole number of 32 bits"));
    return static_cast<std::int32_t>(wide);
}

Result<bool> Read<bool>::from(const Cell& cell) {
    if (cell.kind == Cell::Kind::integer && (cell.integer == 0 || cell.integer == 1)) return cell.integer == 1;
    if (cell.kind == Cell::Kind::text && (cell.bytes == "t" || cell.bytes == "f")) return cell.bytes == "t";
    return fail(unreadable("true or false"));
}

Result<double> Read<double>::from(const Cell& cell) {
    if (cell.kind == Cell::Kind::real) return cell.real;
    if (cell.kind == Cell::Kind::integer) return static_cast<double>(cell.integer);
    return number_from_text<double>(SEMEL_TRY(text_of(cell, "a number")), "a number");
}

Result<Decimal> Read<Decimal>::from(const Cell& cell) {
    if (cell.kind == Cell::Kind::integer) return Decimal(cell.integer);
    return Decimal::parse(SEMEL_TRY(text_of(cell, "an exact decimal")));
}

Result<std::string_view> Read<std::string_view>::from(const Cell& cell) { return text_of(cell, "a text"); }

Result<std::string> Read<std::string>::from(const Cell& cell) {
    return std::string(SEMEL_TRY(text_of(cell, "a text")));
}

Result<Json> Read<Json>::from(const Cell& cell) { return Json{std::string(SEMEL_TRY(text_of(cell, "JSON")))}; }

Result<BytesView> Read<BytesView>::from(const Cell& cell) {
    if (cell.kind != Cell::Kind::blob) return fail(unreadable("bytes"));
    return bytes_of(cell.bytes);
}

Result<Bytes> Read<Bytes>::from(const Cell& cell) {
    const BytesView bytes = SEMEL_TRY(Read<BytesView>::from(cell));
    return Bytes(bytes.begin(), bytes.end());
}

Result<Uuid> Read<Uuid>::from(const Cell& cell) { return Uuid::parse(SEMEL_TRY(text_of(cell, "a UUID"))); }

Result<Timestamp> Read<Timestamp>::from(const Cell& cell) {
    return parse_timestamp(SEMEL_TRY(text_of(cell, "a timestamp")));
}

Cell Row::cell(std::size_t column) const { return rows_->cell(index_, column); }

std::size_t Row::column_index(std::string_view name) const { return rows_->column_index(name); }

Error Row::in_column(Error error, std::size_t column) const {
    error.fault = Fault::broken;
    std::string place = "column ";
    place.append(rows_->column_name(column));
    return std::move(error).within(place);
}

void Rows::reserve(std::size_t columns, std::size_t rows, std::size_t bytes) {
    fields_.reserve((rows + 1) * columns);
    bytes_.reserve(bytes);
}

void Rows::add_column(std::string_view name) {
    SEMEL_ASSERT(empty() && "a column behind a field");
    add_text(name);
    ++columns_;
}

void Rows::add_null() { fields_.emplace_back(); }

void Rows::add_text(std::string_view text) {
    SEMEL_ASSERT(text.size() <= std::numeric_limits<std::uint32_t>::max());
    Field field;
    field.kind = Cell::Kind::text;
    field.length = static_cast<std::uint32_t>(text.size());
    field.offset = bytes_.size();
    bytes_.append(text);
    fields_.push_back(field);
}

void Rows::add_blob(BytesView bytes) {
    add_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    fields_.back().kind = Cell::Kind::blob;
}

std::span<std::byte> Rows::add_blob_to_fill(std::size_t size) {
    SEMEL_ASSERT(size <= std::numeric_limits<std::uint32_t>::max());
    Field field;
    field.kind = Cell::Kind::blob;
    field.length = static_cast<std::uint32_t>(size);
    field.offset = bytes_.size();
    bytes_.resize(bytes_.size() + size);
    fields_.push_back(field);
    return std::as_writable_bytes(std::span(bytes_).subspan(field.offset));
}

void Rows::add_integer(std::int64_t value) {
    Field field;
    field.kind = Cell::Kind::integer;
    field.integer = value;
    fields_.push_back(field);
}

void Rows::add_real(double value) {
    Field field;
    field.kind = Cell::Kind::real;
    field.real = value;
    fields_.push_back(field);
}

Cell Rows::cell(std::size_t row, std::size_t column) const {
    SEMEL_ASSERT(column < columns_);
    const std::size_t place = (row + 1) * columns_ + column;
    SEMEL_ASSERT(place < fields_.size());
    const Field& field = fields_[place];
    Cell cell;
    cell.kind = field.kind;
    switch (field.kind) {
        case Cell::Kind::null: break;
        case Cell::Kind::text:
        case Cell::Kind::blob: cell.bytes = bytes_at(field); break;
        case Cell::Kind::integer: cell.integer = field.integer; break;
        case Cell::Kind::real: cell.real = field.real; break;
    }
    return cell;
}

std::size_t Rows::column_index(std::string_view name) const {
    for (std::size_t column = 0; column < columns_; ++column)
        if (column_name(column) == name) return column;
    SEMEL_ASSERT(false && "the statement returns no column of that name");
}

}  // namespace semel

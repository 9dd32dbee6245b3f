#pragma once

#include "semel/base/result.hpp"
#include "semel/db/value.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace semel {

/// One field as a driver delivered it; `get` below reads it as a type.
struct Cell {
    enum class Kind : std::uint8_t { null, text, integer, real, blob };
    Kind kind = Kind::null;
    std::string_view bytes;    ///< Of text and blob.
    std::int64_t integer = 0;  ///< Of integer.
    double real = 0;           ///< Of real.
};

/// How a field is read as a T. Specialised below for the types of Parameter; a program may add
/// its own. A NULL only ever reaches the optional one.
template <class T>
struct Read;

class Rows;

/// One row of a Rows, which must outlive it.
class Row {
public:
    /// The field as T: bool, std::int64_t, std::int32_t, double, Decimal, std::string, Bytes, Uuid, Timestamp, Json,
    /// std::string_view or BytesView (both valid as long as the Rows), or std::optional of one where NULL may
    /// occur. A NULL elsewhere, or a value that is not a T (a whole number or a boolean is no text), is an Error that
    /// names the column.
    template <class T>
    [[nodiscard]] Result<T> get(std::size_t column) const;
    /// By name; an unknown name is a programmer's error.
    template <class T>
    [[nodiscard]] Result<T> get(std::string_view column) const;

private:
    friend class Rows;
    Row(const Rows& rows, std::size_t index) noexcept : rows_(&rows), index_(index) {}
    [[nodiscard]] Cell cell(std::size_t column) const;
    [[nodiscard]] std::size_t column_index(std::string_view name) const;
    /// The same failure with the column named, as `broken`: the program and the schema disagree.
    [[nodiscard]] Error in_column(Error error, std::size_t column) const;
    const Rows* rows_;
    std::size_t index_;
};

/// What a statement returned: rows by value, independent of the session.
class Rows {
public:
    [[nodiscard]] std::size_t size() const noexcept { return empty() ? 0 : fields_.size() / columns_ - 1; }
    [[nodiscard]] bool empty() const noexcept { return fields_.size() <= columns_; }
    [[nodiscard]] std::size_t column_count() const noexcept { return columns_; }
    /// How many rows the statement inserted, updated or deleted; for SELECT, how many it returned.
    [[nodiscard]] std::int64_t affected() const noexcept { return affected_; }

    [[nodiscard]] Row operator[](std::size_t row) const {
        SEMEL_ASSERT(row < size());
        return {*this, row};
    }
    [[nodiscard]] Row front() const { return (*this)[0]; }

    /// The single field of the single row: for counts and existence.
    template <class T>
    [[nodiscard]] Result<T> scalar() const {
        if (size() != 1 || column_count() != 1) return fail(Fault::broken, "expected one row with one column");
        return front().get<T>(0);
    }

    class Iterator {
    public:
        Iterator(const Rows& rows, std::size_t index) noexcept : rows_(&rows), index_(index) {}
        [[nodiscard]] Row operator*() const { return (*rows_)[index_]; }
        Iterator& operator++() noexcept {
            ++index_;
            return *this;
        }
        [[nodiscard]] bool operator!=(const Iterator& other) const noexcept { return index_ != other.index_; }

    private:
        const Rows* rows_;
        std::size_t index_;
    };
    [[nodiscard]] Iterator begin() const noexcept { return {*this, 0}; }
    [[nodiscard]] Iterator end() const noexcept { return {*this, size()}; }

    // What drivers fill it with: all columns, then the fields, row by row, left to right.
    /// Room for that many rows and for names, texts and blobs of that size together.
    void reserve(std::size_t columns, std::size_t rows, std::size_t bytes);
    void add_column(std::string_view name);
    void set_affected(std::int64_t count) noexcept { affected_ = count; }
    void add_null();
    void add_text(std::string_view text);
    void add_blob(BytesView bytes);
    /// A blob of that size, to be filled before anything else is added.
    [[nodiscard]] std::span<std::byte> add_blob_to_fill(std::size_t size);
    void add_integer(std::int64_t value);
    void add_real(double value);

private:
    friend class Row;
    struct Field {
        Cell::Kind kind = Cell::Kind::null;
        std::uint32_t length = 0;  ///< A field is at most 1 GiB in either database.
        union {
            std::size_t offset;
            std::int64_t integer;
            double real;
        };
    };
    [[nodiscard]] Cell cell(std::size_t row, std::size_t column) const;
    [[nodiscard]] std::string_view bytes_at(const Field& field) const noexcept {
        return std::string_view(bytes_).substr(field.offset, field.length);
    }
    [[nodiscard]] std::string_view column_name(std::size_t column) const noexcept { return bytes_at(fields_[column]); }
    [[nodiscard]] std::size_t column_index(std::string_view name) const;

    std::size_t columns_ = 0;
    std::vector<Field> fields_;  ///< The names of the columns, then every row.
    std::string bytes_;          ///< Of all names, texts and blobs, one after the other.
    std::int64_t affected_ = 0;
};

template <>
struct Read<bool> {
    static Result<bool> from(const Cell&);
};
template <>
struct Read<std::int32_t> {
    static Result<std::int32_t> from(const Cell&);
};
template <>
struct Read<std::int64_t> {
    static Result<std::int64_t> from(const Cell&);
};
template <>
struct Read<double> {
    static Result<double> from(const Cell&);
};
template <>
struct Read<Decimal> {
    static Result<Decimal> from(const Cell&);
};
template <>
struct Read<std::string> {
    static Result<std::string> from(const Cell&);
};
template <>
struct Read<std::string_view> {
    static Result<std::string_view> from(const Cell&);
};
template <>
struct Read<Bytes> {
    static Result<Bytes> from(const Cell&);
};
template <>
struct Read<BytesView> {
    static Result<BytesView> from(const Cell&);
};
template <>
struct Read<Uuid> {
    static Result<Uuid> from(const Cell&);
};
template <>
struct Read<Timestamp> {
    static Result<Timestamp> from(const Cell&);
};
template <>
struct Read<Json> {
    static Result<Json> from(const Cell&);
};

template <class T>
struct Read<std::optional<T>> {
    static Result<std::optional<T>> from(const Cell& cell) {
        if (cell.kind == Cell::Kind::null) return std::optional<T>();
        return std::optional<T>(SEMEL_TRY(Read<T>::from(cell)));
    }
};

template <class T>
Result<T> Row::get(std::size_t column) const {
    const Cell field = cell(column);
    if constexpr (!detail::IsOptional<T>::value) {
        if (field.kind == Cell::Kind::null) {
            Error error;
            error.message = "is NULL; read it as std::optional where NULL may occur";
            return fail(in_column(std::move(error), column));
        }
    }
    Result<T> value = Read<T>::from(field);
    if (!value) return fail(in_column(std::move(value).error(), column));
    return value;
}

template <class T>
Result<T> Row::get(std::string_view column) const {
    return get<T>(column_index(column));
}

}  // namespace semel

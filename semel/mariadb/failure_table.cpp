#include "semel/mariadb/failure_table.hpp"

#include <array>
#include <string>

namespace semel::mariadb {
namespace {

using enum Fault;

constexpr std::array rules = {
    // Lost a race: the transaction is run again.
    Rule{"1020", "ER_CHECKREAD", conflict, conflict, conflict, false,
         "The row changed since the snapshot was taken (innodb_snapshot_isolation)."},
    Rule{"1205", "ER_LOCK_WAIT_TIMEOUT", conflict, conflict, conflict, false,
         "Only the statement was rolled back: the transaction must be rolled back before it is run again."},
    Rule{"1213", "ER_LOCK_DEADLOCK", conflict, conflict, conflict, false,
         "Chosen as the victim of a deadlock, or lost a Galera certification; all was rolled back."},
    Rule{"1614", "ER_XA_RBDEADLOCK", conflict, conflict, conflict, false,
         "The XA branch was the victim of a deadlock and was rolled back."},

    // No way in, for now.
    Rule{"1040", "ER_CON_COUNT_ERROR", unavailable, unavailable, unknown, true,
         "The server's connections are used up; one may become free."},
    Rule{"1042", "ER_BAD_HOST_ERROR", unavailable, unavailable, unknown, true,
         "The server could not resolve our address."},
    Rule{"1203", "ER_TOO_MANY_USER_CONNECTIONS", unavailable, unavailable, unknown, true,
         "This user's connections are used up; one may become free."},
    Rule{"2002", "CR_CONNECTION_ERROR", unavailable, unavailable, unknown, true, "Nobody listens on the local socket."},
    Rule{"2003", "CR_CONN_HOST_ERROR", unavailable, unavailable, unknown, true, "Nobody listens on that port."},
    Rule{"1047", "ER_UNKNOWN_COM_ERROR", unavailable, unavailable, unavailable, true,
         "A Galera node that is not ready serves nobody; another one may."},

    // The connection ended. Drivers disagree on what each number says about the work, so our own
    // phase decides.
    Rule{"1053", "ER_SERVER_SHUTDOWN", unavailable, unavailable, unknown, true, "The server is going down."},
    Rule{"1927", "ER_CONNECTION_KILLED", unavailable, unavailable, unknown, true, "Someone killed the connection."},
    Rule{"2006", "CR_SERVER_GONE_ERROR", unavailable, unavailable, unknown, true, "The connection is gone."},
    Rule{"2013", "CR_SERVER_LOST", unavailable, unavailable, unknown, true,
         "The connection was lost before the answer came."},
    Rule{"2055", "CR_SERVER_LOST_EXTENDED", unavailable, unavailable, unknown, true,
         "The connection was lost before the answer came."},
    Rule{"4031", "ER_CLIENT_INTERACTION_TIMEOUT", unavailable, unavailable, unknown, true,
         "The server closed a connection that was idle for too long (MySQL)."},
    Rule{"1180", "ER_ERROR_DURING_COMMIT", unavailable, unavailable, unknown, true,
         "The commit broke off in the middle; how far it came is not known."},

    // No longer the primary: a new connection finds it.
    Rule{"1290", "ER_OPTION_PREVENTS_STATEMENT", unavailable, unavailable, unavailable, true,
         "The server runs read-only, as after a failover; find the primary again."},
    Rule{"1792", "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION", unavailable, unavailable, unavailable, true,
         "The transaction is read-only, as on a replica; find the primary again."},
    Rule{"1836", "ER_READ_ONLY_MODE", unavailable, unavailable, unavailable, true,
         "The server runs read-only, as after a failover; find the primary again."},

    // Our own deadline or cancel.
    Rule{"1317", "ER_QUERY_INTERRUPTED", rejected, rejected, rejected, false,
         "Cancelled by us, since the deadline had passed."},
    Rule{"1969", "ER_STATEMENT_TIMEOUT", rejected, rejected, rejected, false, "Our statement limit ran out (MariaDB)."},
    Rule{"3024", "ER_QUERY_TIMEOUT", rejected, rejected, rejected, false, "Our statement limit ran out (MySQL)."},

    // Capacity: soon is too soon.
    Rule{"1021", "ER_DISK_FULL", throttled, throttled, throttled, false,
         "The server's disk is full; someone must make room."},
    Rule{"1114", "ER_RECORD_FILE_FULL", throttled, throttled, throttled, false,
         "The table space is full; someone must make room."},

    // Never: the same statement will be refused again.
    Rule{"1044", "ER_DBACCESS_DENIED_ERROR", rejected, rejected, rejected, true, "The user may not use this database."},
    Rule{"1045", "ER_ACCESS_DENIED_ERROR", rejected, rejected, rejected, true, "Wrong user or password."},
    Rule{"1049", "ER_BAD_DB_ERROR", rejected, rejected, rejected, true, "The database does not exist."},
    Rule{"1048", "ER_BAD_NULL_ERROR", rejected, rejected, rejected, false, "A column must not be null."},
    Rule{"1054", "ER_BAD_FIELD_ERROR", rejected, rejected, rejected, false, "The column does not exist."},
    Rule{"1062", "ER_DUP_ENTRY", rejected, rejected, rejected, false,
         "The key exists. On a command's own key that is a duplicate, and is answered by replay."},
    Rule{"1064", "ER_PARSE_ERROR", rejected, rejected, rejected, false, "The statement is not SQL."},
    Rule{"1142", "ER_TABLEACCESS_DENIED_ERROR", rejected, rejected, rejected, false,
         "The user may not do this with the table."},
    Rule{"1146", "ER_NO_SUCH_TABLE", rejected, rejected, rejected, false, "The table does not exist."},
    Rule{"1264", "ER_WARN_DATA_OUT_OF_RANGE", rejected, rejected, rejected, false,
         "The number does not fit in the column."},
    Rule{"1406", "ER_DATA_TOO_LONG", rejected, rejected, rejected, false, "The text does not fit in the column."},
    Rule{"1451", "ER_ROW_IS_REFERENCED_2", rejected, rejected, rejected, false, "Another row refers to this one."},
    Rule{"1452", "ER_NO_REFERENCED_ROW_2", rejected, rejected, rejected, false,
         "The row that this one refers to does not exist."},
    Rule{"3819", "ER_CHECK_CONSTRAINT_VIOLATED", rejected, rejected, rejected, false,
         "The row breaks a check constraint (MySQL)."},
    Rule{"4025", "ER_CONSTRAINT_FAILED", rejected, rejected, rejected, false,
         "The row breaks a check constraint (MariaDB)."},

    // Our bug.
    Rule{"2014", "CR_COMMANDS_OUT_OF_SYNC", broken, broken, unknown, true,
         "The driver sent a command while an answer was still due."},
};
static_assert(well_formed(rules));

}  // namespace

std::span<const Rule> mariadb_rules() noexcept { return rules; }

Fault classify(unsigned error_number, Phase phase) noexcept {
    if (error_number == 0) return unanswered(phase);
    return semel::classify(rules, std::to_string(error_number), phase);
}

}  // namespace semel::mariadb

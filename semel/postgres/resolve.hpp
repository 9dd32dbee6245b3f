#pragma once

#include "semel/db/session.hpp"
#include "semel/postgres/pipeline.hpp"

namespace semel::postgres {

/// What became of a marked transaction, asked on a connection that runs none.
///
/// Only the read-write primary of the same history can tell, else `unknown`. A transaction that
/// wrote nothing counts as committed. One that is aborted, or has a number that this server has not
/// given out yet (it lost it in a crash), is `not_committed`. `committed` counts only if the server
/// has not crashed since the mark: a number whose WAL was never flushed is given out again after a
/// crash, and the commit seen may be someone else's. Where there is a synchronous standby it also
/// takes a commit of our own that waited for it.
///
/// One still in progress is waited for; if its server process is known to be ours alone, still runs
/// that transaction and is not waiting for a standby, it is terminated, once. At the deadline:
/// `unknown`. An Error means that the question could not be asked; the connection is then unusable.
[[nodiscard]] Result<Resolution> resolve(Pipeline& pipeline, Clock& clock, const Mark& mark, Deadline deadline);

}  // namespace semel::postgres

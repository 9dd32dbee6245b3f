#pragma once

#include "semel/kafka/sink.hpp"
#include "semel/kafka/source.hpp"

#include <string_view>

namespace semel::kafka {

/// Options by an address: `kafka://host:port,host:port/topic?name=value&…`. A user and a password before the hosts are those
/// of SASL. Parameters are options of the sink (`mode`, `deadline`, `max_in_flight`, `source`) or of the source (`group`,
/// `patience`, `commit_interval`), and settings that `may_be_set`: `security.protocol=sasl_ssl`. A source may name several
/// topics, with commas. What stands for something else is written as %XX.
///
/// An Error (`rejected`) says what is wrong. It never shows a value.
[[nodiscard]] Result<KafkaSinkOptions> sink_options(std::string_view url);
[[nodiscard]] Result<KafkaSourceOptions> source_options(std::string_view url);

}  // namespace semel::kafka

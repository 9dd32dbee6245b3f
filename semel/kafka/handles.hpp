#pragma once

#include <memory>

// librdkafka's own names, so that its header stays in sources.
struct rd_kafka_s;
struct rd_kafka_conf_s;
struct rd_kafka_consumer_group_metadata_s;
struct rd_kafka_error_s;
struct rd_kafka_headers_s;
struct rd_kafka_message_s;
struct rd_kafka_queue_s;
struct rd_kafka_topic_partition_list_s;

namespace semel::kafka {

/// Ends the client and waits for its threads. A consumer should have left its group before.
struct DestroyClient {
    void operator()(rd_kafka_s* client) const noexcept;
};
struct DestroyConf {
    void operator()(rd_kafka_conf_s* conf) const noexcept;
};
struct DestroyError {
    void operator()(rd_kafka_error_s* error) const noexcept;
};
struct DestroyGroupMetadata {
    void operator()(rd_kafka_consumer_group_metadata_s* metadata) const noexcept;
};
struct DestroyHeaders {
    void operator()(rd_kafka_headers_s* headers) const noexcept;
};
struct DestroyMessage {
    void operator()(rd_kafka_message_s* message) const noexcept;
};
struct DestroyQueue {
    void operator()(rd_kafka_queue_s* queue) const noexcept;
};
struct DestroyPartitions {
    void operator()(rd_kafka_topic_partition_list_s* partitions) const noexcept;
};

using ClientHandle = std::unique_ptr<rd_kafka_s, DestroyClient>;
using ConfHandle = std::unique_ptr<rd_kafka_conf_s, DestroyConf>;
using ErrorHandle = std::unique_ptr<rd_kafka_error_s, DestroyError>;
using GroupMetadataHandle = std::unique_ptr<rd_kafka_consumer_group_metadata_s, DestroyGroupMetadata>;
using HeadersHandle = std::unique_ptr<rd_kafka_headers_s, DestroyHeaders>;
using MessageHandle = std::unique_ptr<rd_kafka_message_s, DestroyMessage>;
using QueueHandle = std::unique_ptr<rd_kafka_queue_s, DestroyQueue>;
using PartitionsHandle = std::unique_ptr<rd_kafka_topic_partition_list_s, DestroyPartitions>;

}  // namespace semel::kafka

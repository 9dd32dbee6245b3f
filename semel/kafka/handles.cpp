#include "semel/kafka/handles.hpp"

#include <librdkafka/rdkafka.h>

namespace semel::kafka {

void DestroyClient::operator()(rd_kafka_s* client) const noexcept {
    // A consumer leaves its group by itself, with a limit; here it would wait for a broker that may never answer.
    ::rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}
void DestroyConf::operator()(rd_kafka_conf_s* conf) const noexcept { ::rd_kafka_conf_destroy(conf); }
void DestroyError::operator()(rd_kafka_error_s* error) const noexcept { ::rd_kafka_error_destroy(error); }
void DestroyGroupMetadata::operator()(rd_kafka_consumer_group_metadata_s* metadata) const noexcept {
    ::rd_kafka_consumer_group_metadata_destroy(metadata);
}
void DestroyHeaders::operator()(rd_kafka_headers_s* headers) const noexcept { ::rd_kafka_headers_destroy(headers); }
void DestroyMessage::operator()(rd_kafka_message_s* message) const noexcept { ::rd_kafka_message_destroy(message); }
void DestroyQueue::operator()(rd_kafka_queue_s* queue) const noexcept { ::rd_kafka_queue_destroy(queue); }
void DestroyPartitions::operator()(rd_kafka_topic_partition_list_s* partitions) const noexcept {
    ::rd_kafka_topic_partition_list_destroy(partitions);
}

}  // namespace semel::kafka

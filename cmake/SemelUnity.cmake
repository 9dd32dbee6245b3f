# A unity build compiles several sources of a target as one: what they include is read once, and what they instantiate is
# made once. That is what keeps a clean build short. Within one target names of anonymous namespaces must then differ; of two
# files that use the same name for different things one is compiled by itself, and stands here.
#
# The preset `files` compiles every source by itself: for clang-tidy, and for whoever edits one file again and again.

set(SEMEL_COMPILED_ALONE
  apps/orders/config_table.cpp
  apps/orders/expiry.cpp
  apps/orders/handlers/convert.cpp
  apps/orders/handlers/quotes.cpp
  apps/orders/http/openapi_problems.cpp
  apps/orders/http/order_json.cpp
  apps/orders/http/order_routes.cpp
  apps/orders/http/page.cpp
  apps/orders/http/payment_routes.cpp
  apps/orders/http/quote_json.cpp
  apps/orders/http/quote_routes.cpp
  apps/orders/http/task_routes.cpp
  apps/orders/storage/payments.cpp
  semel/command/leased_run.cpp
  semel/http/conversation_test.cpp
  semel/idempotency/reply.cpp
  semel/idempotency/state.cpp
  semel/outbox/pending.cpp
  semel/outbox/status_events.cpp
  semel/postgres/resolver.cpp
  semel/postgres/resolver_test.cpp
  semel/retry/breaker_test.cpp
  semel/retry/deadline_test.cpp
  semel/retry/http_table.cpp
  semel/retry/http_table_test.cpp
  semel/retry/schedule_test.cpp
  semel/retry/socket_table.cpp
  semel/retry/socket_table_test.cpp
  semel/testing/postgres_server.cpp
  semel/testing/scripted_sink_test.cpp
  semel/webhook/answer_test.cpp
  semel/webhook/sink.cpp
  tests/consuming/end_to_end_pgtest.cpp
  tests/orders/openapi_pgtest.cpp
  tests/orders/tasks_pgtest.cpp
  tests/relay/kill_pgtest.cpp)

foreach(file IN LISTS SEMEL_COMPILED_ALONE)
  set(folder ${PROJECT_SOURCE_DIR}/${file})
  if(NOT EXISTS ${folder})
    message(FATAL_ERROR "${file} is listed in cmake/SemelUnity.cmake and does not exist")
  endif()
  # The folder whose CMakeLists.txt names the file.
  while(NOT EXISTS ${folder}/CMakeLists.txt)
    get_filename_component(folder ${folder} DIRECTORY)
  endwhile()
  if(SEMEL_BUILD_TESTS OR NOT file MATCHES "^tests/")
    set_source_files_properties(${PROJECT_SOURCE_DIR}/${file} DIRECTORY ${folder}
      PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endforeach()

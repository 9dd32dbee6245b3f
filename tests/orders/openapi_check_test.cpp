// The checkers notice what they are there for: a check that cannot fail would keep nothing true.

#include "tests/orders/openapi_check.hpp"
#include "tests/orders/json_schema.hpp"
#include "tests/orders/openapi_faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace orders::testing {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// One command and what it needs, without a fault.
json document() {
    return json::parse(R"({
      "openapi": "3.1.0", "info": {"title": "t", "version": "1"},
      "paths": {"/api/v1/things/{id}/paint": {"post": {
        "operationId": "thing.paint", "summary": "s", "tags": ["things"],
        "parameters": [
          {"name": "id", "in": "path", "description": "d", "required": true, "schema": {"type": "string", "format": "uuid"}},
          {"name": "Idempotency-Key", "in": "header", "description": "d", "required": true, "schema": {"type": "string"}}],
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Paint"}}}},
        "responses": {
          "200": {"description": "d", "headers": {"ETag": {"required": true, "schema": {"type": "string"}}},
                  "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
          "409": {"description": "d", "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}}}}}},
      "components": {"securitySchemes": {}, "responses": {}, "schemas": {
        "Paint": {"type": "object", "properties": {"coats": {"type": "integer"}}, "required": ["coats"], "additionalProperties": false},
        "Thing": {"type": "object", "properties": {"thingId": {"type": "string", "format": "uuid"}, "at": {"type": "string", "format": "date-time"}},
                  "required": ["thingId"], "additionalProperties": false},
        "Problem": {"type": "object", "properties": {"status": {"type": "integer"}, "code": {"enum": ["NO"]}},
                    "required": ["status", "code"], "additionalProperties": false}}}})");
}

const std::string id = "0190a6f2-7c1d-7e3a-9f10-2b4c6d8e0f12";

HttpRequest painting(const std::string& body = R"({"coats":2})") {
    return {.method = "POST",
            .target = "/api/v1/things/" + id + "/paint",
            .headers = {{"Idempotency-Key", "k"}},
            .body = body};
}
HttpResponse painted(const std::string& body = R"({"thingId":")" + id + "\"}") {
    return {.status = 200, .headers = {{"Content-Type", "application/json"}, {"ETag", "\"1\""}}, .body = body};
}
HttpResponse refused(const std::string& body = R"({"status":409,"code":"NO"})") {
    return {.status = 409, .headers = {{"Content-Type", "application/problem+json"}}, .body = body};
}

std::string complaint(const HttpRequest& request, const HttpResponse& response) {
    return OpenApiCheck(document().dump()).complaint(request, response);
}

TEST(OpenApiCheck, HasNothingAgainstWhatIsDeclared) {
    EXPECT_EQ(complaint(painting(), painted()), "");
    EXPECT_EQ(complaint(painting(R"({"coats":2.0})"), painted()), "") << "2.0 is the integer 2";
    EXPECT_EQ(complaint(painting("{"), refused()), "") << "what was refused may have been wrong";
}

TEST(OpenApiCheck, NoticesAReplyThatIsNotDeclared) {
    HttpResponse other = painted();
    other.status = 201;
    EXPECT_THAT(complaint(painting(), other), HasSubstr("201"));
    HttpResponse unversioned = painted();
    unversioned.headers.pop_back();
    EXPECT_THAT(complaint(painting(), unversioned), HasSubstr("ETag"));
    HttpResponse text = painted();
    text.headers.front().second = "text/plain";
    EXPECT_THAT(complaint(painting(), text), HasSubstr("text/plain"));
    for (const std::string body : {"", "{", "{}", R"({"thingId":"x"})", R"({"thingId":7})"})
        EXPECT_NE(complaint(painting(), painted(body)), "") << body;
    EXPECT_NE(complaint(painting(), painted(R"({"thingId":")" + id + R"(","more":1})")), "");
    EXPECT_NE(complaint(painting(), painted(R"({"thingId":")" + id + R"(","at":"yesterday"})")), "");
    EXPECT_NE(complaint(painting(), refused(R"({"status":409,"code":"YES"})")), "");
    EXPECT_THAT(complaint(painting(), refused(R"({"status":400,"code":"NO"})")), HasSubstr("another status"));
}

TEST(OpenApiCheck, NoticesARequestThatOughtNotToHaveSucceeded) {
    EXPECT_NE(complaint(painting("{}"), painted()), "");
    EXPECT_NE(complaint(painting(R"({"coats":2,"colour":"red"})"), painted()), "");
    HttpRequest keyless = painting();
    keyless.headers.clear();
    EXPECT_THAT(complaint(keyless, painted()), HasSubstr("Idempotency-Key"));
    HttpRequest asking = painting();
    asking.target += "?colour=red";
    EXPECT_THAT(complaint(asking, painted()), HasSubstr("colour"));
    HttpRequest elsewhere = painting();
    elsewhere.target = "/api/v1/undeclared";
    EXPECT_THAT(complaint(elsewhere, painted()), HasSubstr("no such route"));
}

TEST(OpenApiCheck, RemembersWhichSuccessesWereMet) {
    OpenApiCheck check(document().dump());
    const std::string only = "POST /api/v1/things/{id}/paint 200";
    EXPECT_THAT(check.unseen_successes(), ::testing::ElementsAre(only));
    EXPECT_EQ(check.complaint(painting(), refused()), "");
    EXPECT_THAT(check.unseen_successes(), ::testing::ElementsAre(only));
    EXPECT_EQ(check.complaint(painting(), painted()), "");
    EXPECT_THAT(check.unseen_successes(), IsEmpty());
}

TEST(OpenApiFaults, AreFoundOneByOne) {
    EXPECT_THAT(faults_of(document()), IsEmpty());
    const std::string operation = "/paths/~1api~1v1~1things~1{id}~1paint/post";
    struct Case {
        std::string pointer;
        json value;
        const char* said;
    };
    const Case cases[] = {
        {"/openapi", "2.0", "openapi"},
        {operation + "/operationId", "paint", "operationId"},
        {operation + "/parameters/0/name", "other", "other variables"},
        {operation + "/responses/200/description", "", "what 200 means"},
        {operation + "/requestBody/content/application~1json/schema/$ref", "#/components/schemas/Nothing", "nowhere"},
        {"/components/schemas/Idle", json{{"type", "string"}}, "nobody uses the schema Idle"},
        {"/components/schemas/Thing/propertes", json::object(), "unknown keyword propertes"},
        {"/components/schemas/Thing/required/0", "other", "without saying what it is"},
        {"/components/schemas/Thing/additionalProperties", true, "nothing else in it"}};
    for (const auto& [pointer, value, said] : cases) {
        json faulty = document();
        faulty[json::json_pointer(pointer)] = value;
        EXPECT_THAT(faults_of(faulty), Contains(HasSubstr(said))) << pointer;
    }
    json twice = document();
    twice["paths"]["/api/v1/others/{id}"] = twice["paths"]["/api/v1/things/{id}/paint"];
    EXPECT_THAT(faults_of(twice), Contains(HasSubstr("two operations")));
    json hopeless = document();
    hopeless["paths"]["/api/v1/things/{id}/paint"]["post"]["responses"].erase("200");
    EXPECT_THAT(faults_of(hopeless), Contains(HasSubstr("cannot succeed")));
}

}  // namespace
}  // namespace orders::testing

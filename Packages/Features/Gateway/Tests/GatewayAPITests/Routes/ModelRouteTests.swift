import HTTPCore
import JSON
import Testing

@Suite("Models", .timeLimit(.minutes(5))) struct ModelRouteTests {
    @Test("The list has the models of all providers, under both APIs' names")
    func list() async throws {
        try await withGateway { gateway in
            let list = try await gateway.json(.get, "/v1/models")
            let ids = list["data"]?.array?.compactMap { $0["id"]?.string } ?? []
            #expect(ids.contains("test/echo") && ids.contains("martlet/martlet-offline"))
            #expect(list["object"] == "list" && list["has_more"] == false && list["first_id"]?.string == ids.first)
            let first = try #require(list["data"]?[0])
            #expect(first["object"] == "model" && first["type"] == "model" && first["owned_by"] == "test")
            #expect(first["created"]?.int != nil && first["created_at"]?.string?.hasSuffix("Z") == true)
        }
    }

    @Test(
        "A model is found by its name, with plain or escaped slashes",
        arguments: [
            "test/echo", "test%2Fecho", "echo", "test/team/echo", "test%2Fteam%2Fecho",
        ])
    func one(path: String) async throws {
        try await withGateway { gateway in
            let id = try await gateway.json(.get, "/v1/models/\(path)")["id"]?.string
            #expect(id == (path.contains("team") ? "test/team/echo" : "test/echo"))
        }
    }

    @Test("An unknown model is not replaced by another")
    func unknown() async throws {
        try await withGateway { gateway in
            let answer = try await gateway.json(.get, "/v1/models/nobody/has-it", status: 404)
            #expect(answer.errorCode == "model_not_found")
        }
    }

    @Test("Capabilities are listed without unknown values")
    func capabilities() async throws {
        try await withGateway { gateway in
            let list = try await gateway.json(.get, "/v1/models/capabilities")["data"]?.array
            let echo = try #require(list?.first { $0["id"] == "test/echo" })
            #expect(echo["context_window"] == 8000 && echo["supports_tools"] == true)
            #expect(echo["supports_images"] == false && echo["input_cost_per_million"] == nil)
        }
    }
}

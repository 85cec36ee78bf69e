import Capabilities
import HTTPCore
import HTTPServer
import JSON
import Testing

/// A request body for these tests.
struct NewProject: InputValue, Hashable {
    var name: String
    var size: Int?
    var tags: [String]

    static let schema = Schema.record([
        Schema.Property("name", "Its name", .string), Schema.Property("size", "Its size", .optional(.integer(1...10))),
        Schema.Property("tags", "Its tags", .optional(.array(.string))),
    ])

    init(json: JSON) throws(ValueError) {
        name = try String(json: json["name"] ?? .null)
        size = json["size"]?.int
        tags = json["tags"]?.array?.compactMap(\.string) ?? []
    }
}

@Suite(.timeLimit(.minutes(5))) struct RouteInputTests {
    enum Order: String, Choice { case name, date }

    static let routes = [
        Route(
            .get, "/v1/projects/{id}/files/{rest...}", "files", "Files", .path("id", "The project", as: Int.self),
            .path("rest", "The file"), .query("limit", "At most", in: 1...100, default: 20),
            .query("order", "In which order", default: Order.name), .query("tag", "With a tag", as: [String].self),
            .query("hidden", "Also hidden ones", as: Bool?.self), .header("X-Trace", "A word", as: String?.self)
        ) { _, id, rest, limit, order, tags, hidden, trace in
            "\(id)|\(rest)|\(limit)|\(order.rawValue)|\(tags.joined(separator: "+"))|\(hidden.map { "\($0)" } ?? "-")|\(trace ?? "-")"
        },
        Route(.post, "/v1/projects", "create", "Makes one", .body(NewProject.self)) { _, project in
            "\(project.name) \(project.size ?? 0) \(project.tags.count)"
        },
        Route(.post, "/v1/lenient", "lenient", "Makes one", .body(NewProject.self, unknown: .ignored)) { _, project in
            "\(project.name)"
        },
        Route(.post, "/v1/any", "any", "Takes anything", .body(JSON?.self)) { _, value in
            value ?? JSON.string("nothing")
        },
        Route(.post, "/v1/small", "small", "Takes little", .body(JSON.self)) { _, value in value }
            .bodyLimit(ByteCount(64)),
        Route(.post, "/v1/strict", "strict", "Takes little", .body(NewProject.self)) { _, project in
            guard project.size != 7 else { throw ValueError("is not liked here", at: ["size"]) }
            return project.name
        }.refusingInputs(with: .badRequest),
    ]

    @Test("A handler gets values typed, decoded and with their defaults")
    func values() async throws {
        try await withServer(Self.routes) { server in
            let plain = try await server.get("/v1/projects/7/files/a/b.txt")
            #expect(plain.status == 200 && plain.answerBody == "\"7|a/b.txt|20|name||-|-\"")
            let full = try await server.get(
                "/v1/projects/7/files/a%20b?limit=5&order=date&tag=x&tag=y%26z&tag=a+b&hidden=yes", "X-Trace: word")
            #expect(full.answerBody == "\"7|a b|5|date|x+y&z+a b|true|word\"")
        }
    }

    @Test("All problems are reported at once, with name and reason")
    func problems() async throws {
        try await withServer(Self.routes) { server in
            let answer = try await server.get("/v1/projects/seven/files/a?limit=0&order=size&hidden=maybe")
            #expect(answer.status == 422)
            let error = try #require(try JSON(parsing: answer.answerBody)["error"])
            #expect(error["code"] == "server.inputs")
            let inputs = try #require(error["inputs"]?.array)
            #expect(inputs.compactMap { $0["name"]?.string } == ["id", "limit", "order", "hidden"])
            #expect(inputs.compactMap { $0["place"]?.string } == ["path", "query", "query", "query"])
            #expect(inputs[1]["message"] == "must be from 1 to 100, not 0")
            #expect(error["request_id"]?.string?.isEmpty == false)
        }
    }

    @Test("A body with a million problems is refused with a short message")
    func manyProblems() async throws {
        try await withServer(Self.routes) { server in
            let items = Array(repeating: "1", count: 1_000_000).joined(separator: ",")
            let answer = try await post(server, "/v1/projects", "{\"name\":\"a\",\"tags\":[\(items)]}")
            #expect(answer.status == 422)
            #expect(answer.answerBody.utf8.count < 1 << 14)
            let error = try #require(try JSON(parsing: answer.answerBody)["error"])
            #expect(error["inputs"]?.array?.count == 21)
            #expect(error["message"]?.string?.hasSuffix("the body has more problems than the 20 listed") == true)
        }
    }

    private func post(_ server: TestServer, _ path: String, _ body: String, type: String? = "application/json")
        async throws
        -> String
    {
        let line = type.map { "Content-Type: \($0)\r\n" } ?? ""
        return try await server.exchange(
            "POST \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(line)"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    @Test("A body is checked against its declared type")
    func bodies() async throws {
        try await withServer(Self.routes) { server in
            #expect(try await post(server, "/v1/projects", #"{"name":"a","size":3}"#).answerBody == "\"a 3 0\"")
            let wrong = try await post(server, "/v1/projects", #"{"size":11,"tags":["a",2],"other":1}"#)
            #expect(wrong.status == 422)
            let inputs = try #require(try JSON(parsing: wrong.answerBody)["error"]?["inputs"]?.array)
            #expect(Set(inputs.compactMap { $0["name"]?.string }) == ["name", "size", "tags.1", "other"])
            #expect(try await post(server, "/v1/lenient", #"{"name":"a","other":1}"#).status == 200)
            #expect(try await post(server, "/v1/projects", "").status == 422)
            #expect(try await post(server, "/v1/any", "").answerBody == "\"nothing\"")
        }
    }

    @Test("A route can set another status for invalid values, also for those that its handler refuses")
    func otherStatus() async throws {
        try await withServer(Self.routes) { server in
            for body in [#"{"size":11}"#, #"{"name":"a","size":7}"#] {
                let answer = try await post(server, "/v1/strict", body)
                #expect(answer.status == 400)
                let error = try JSON(parsing: answer.answerBody)["error"]
                #expect(error?["code"] == "server.inputs" && error?["status"] == 400)
            }
        }
        let document = try Routes(Self.routes).openAPI(APIDescription(title: "Test", version: "1.0"))
        let answers = document["paths"]?["/v1/strict"]?["post"]?["responses"]?.object
        #expect(answers?["400"] != nil && answers?["422"] == nil)
    }

    @Test("A body that is not JSON, has another media type or is too large is refused")
    func malformed() async throws {
        try await withServer(Self.routes) { server in
            for text in ["{", #"{"name":"a",}"#, #"{"name":"a","name":"b"}"#, "\u{FEFF}{}", "nul"] {
                let answer = try await post(server, "/v1/projects", text)
                #expect(answer.status == 400 && answer.contains("server.json"), "\(text)")
            }
            #expect(
                try await post(server, "/v1/projects", "a=b", type: "application/x-www-form-urlencoded").status == 415)
            #expect(try await post(server, "/v1/projects", "{}", type: "text/plain").status == 415)
            #expect(try await post(server, "/v1/any", "1", type: "application/problem+json").status == 200)
            #expect(try await post(server, "/v1/any", "1", type: nil).status == 200)
            #expect(try await post(server, "/v1/small", "\"" + String(repeating: "a", count: 62) + "\"").status == 200)
            #expect(try await post(server, "/v1/small", "\"" + String(repeating: "a", count: 63) + "\"").status == 413)
            #expect(try await server.get("/v1/projects/1/files/a?limit=%zz").status == 400)
        }
    }
}

import Capabilities
import HTTPCore
import HTTPServer
import HTTPTesting
import JSON
import Testing

@Suite(.timeLimit(.minutes(5))) struct OpenAPITests {
    static let routes = [
        Route(
            .get, "/v1/projects/{id}", "getProject", "One project", .path("id", "The project"),
            .query("limit", "At most", in: 1...100, default: 20), .query("tag", "With a tag", as: [String].self),
            .header("X-Trace", "A word", as: String?.self)
        ) { _, id, _, _, _ in id }
        .details("It is *one* project.").tagged("projects").refusing(.notFound),
        Route(.post, "/v1/projects", "createProject", "Makes a project", .body(NewProject.self, "What to make")) {
            _, project in HTTPAnswer.text(project.name, status: .created)
        }
        .answering(.created, String.self, "It was made", example: "a").example(request: ["name": "a"])
        .tagged("projects").deprecated(),
        Route(.post, "/v1/files/{path...}", "upload", "Stores a file", .path("path", "Where"), .upload("The file")) {
            _, _, _ in HTTPAnswer.empty()
        }.answering(.noContent, "It was stored"),
        Route(.get, "/v1/events", "events", "What happens") { _ in HTTPAnswer.events { _ in } }
            .answering(.ok, type: "text/event-stream", "Events").open(),
        Route(.get, "/hidden", "hidden", "Not shown") { _ in "" }.hidden(),
    ]

    static func document() throws -> JSON {
        try Routes(routes).openAPI(
            APIDescription(
                title: "Test", version: "1.0", details: "For *tests*", servers: ["http://127.0.0.1:1"],
                security: [.bearer, .key(header: "X-API-Key")]))
    }

    @Test("The document contains the declarations of the routes")
    func contents() throws {
        let document = try Self.document()
        let paths = try #require(document["paths"]?.object)
        #expect(paths.keys == ["/v1/projects/{id}", "/v1/projects", "/v1/files/{path}", "/v1/events"])
        let get = try #require(paths["/v1/projects/{id}"]?["get"])
        #expect(get["operationId"] == "getProject")
        let parameters = try #require(get["parameters"]?.array)
        #expect(parameters.map { $0["name"]?.string } == ["id", "limit", "tag", "X-Trace"])
        #expect(parameters.map { $0["required"]?.bool } == [true, false, false, false])
        #expect(parameters[1]["schema"]?["default"] == 20)
        #expect(parameters[1]["schema"]?["maximum"] == 100)
        #expect(get["responses"]?.object?.keys == ["200", "400", "401", "404", "422", "500"])
        let post = try #require(paths["/v1/projects"]?["post"])
        let media = try #require(post["requestBody"]?["content"]?["application/json"])
        #expect(media["schema"]?["required"] == ["name"])
        #expect(media["example"] == ["name": "a"])
        #expect(post["responses"]?["201"]?["content"]?["application/json"]?["example"] == "a")
        #expect(post["deprecated"] == true)
        #expect(paths["/v1/events"]?["get"]?["security"] == [])
    }

    @Test("The validator of the OpenAPI project accepts the document")
    func validates() async throws {
        let program = """
            import json, sys
            from openapi_spec_validator import validate
            document = json.load(sys.stdin)
            validate(document)
            document["paths"]["/v1/events"]["get"]["responses"] = {"200": {}}
            try:
                validate(document)
            except Exception as error:
                print("valid, and a broken one is not:", type(error).__name__)
            """
        let words = try await PythonPeer.output(source: program, input: Array(Self.document().text().utf8))
        #expect(words.hasPrefix("valid, and a broken one is not:"))
    }

    @Test("A server can serve its own document")
    func served() async throws {
        let routes =
            Self.routes + [
                try Route.openAPI("/openapi.json", of: Self.routes, APIDescription(title: "Test", version: "1.0"))
            ]
        try await withServer(routes) { server in
            let answer = try await server.get("/openapi.json")
            #expect(answer.status == 200)
            #expect(try JSON(parsing: answer.answerBody)["openapi"] == "3.1.0")
        }
    }
}

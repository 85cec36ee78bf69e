import HTTPCore
import Testing

@testable import HTTPServer

@Suite struct RouterTests {
    static func router() throws -> Routes {
        func route(_ method: HTTPMethod, _ path: String, _ id: String, _ names: String...) -> Route {
            switch names.count {
            case 0: Route(method, path, id, "One") { _ in id }
            case 1: Route(method, path, id, "One", .path(names[0], "A")) { _, _ in id }
            default: Route(method, path, id, "One", .path(names[0], "A"), .path(names[1], "B")) { _, _, _ in id }
            }
        }
        return try Routes([
            route(.get, "/", "root"), route(.get, "/v1/sessions", "list"), route(.post, "/v1/sessions", "create"),
            route(.get, "/v1/sessions/stats", "stats"), route(.get, "/v1/sessions/{id}", "one", "id"),
            route(.delete, "/v1/sessions/{id}", "delete", "id"),
            route(.get, "/v1/{kind}/special/deep", "deep", "kind"),
            route(.get, "/v1/sessions/{id}/files/{path...}", "files", "id", "path"),
        ])
    }

    @Test(
        "A path matches its route",
        arguments: [
            ("/", "root"), ("/v1/sessions", "list"), ("/v1/sessions/stats", "stats"), ("/v1/sessions/7", "one 7"),
            ("/v1/sessions/a%20b", "one a b"), ("/v1/sessions/meta%2Fllama", "one meta/llama"),
            ("/v1/sessions/%E2%82%AC", "one €"), ("/v1/%73essions", "list"),
            ("/v1/sessions/special/deep", "deep sessions"),
            ("/v1/sessions/7/files/a/b%20c/d", "files 7 a/b c/d"), ("/v1/sessions/7/files/", "files 7 "),
            ("/v1/sessions/7/files", "nothing"), ("/v1/sessions/", "nothing"), ("//v1/sessions", "nothing"),
            ("/V1/sessions", "nothing"), ("/v1/sessions/7/", "nothing"), ("/v1", "nothing"),
            ("/v1/sessions/%", "refused"),
            ("/v1/sessions/%4", "refused"), ("/v1/sessions/%zz", "refused"), ("/v1/sessions/%FF", "refused"),
            ("/v1/sessions/%C0%AF", "refused"), ("/v1/sessions/%00", "refused"), ("/v1/sessions/..", "refused"),
            ("/v1/sessions/%2e%2E", "refused"), ("/v1/sessions/.", "refused"), ("/v1/x/../sessions", "refused"),
            ("/v1/sessions/7/files/../../secret", "refused"), ("/v1/sessions/7/files/a%2f..%2fb", "refused"),
            ("/v1/sessions/..%2F..%2Fx", "refused"), ("/v1/sessions/%2Fetc", "refused"),
            ("/v1/sessions/a%2F%2E%2Fb", "refused"), ("/v1/..%2Fx/special/deep", "refused"),
            ("/v1/sessions/7/files/a%2Fb", "refused"), ("/v1/sessions/7/files/%5c..%5cb", "files 7 \\..\\b"),
        ])
    func matches(_ path: String, _ expected: String) throws {
        let routes = try Self.router()
        let found =
            switch routes.match(.get, path) {
            case .route(let index, let values): ([routes.all[index].id] + values).joined(separator: " ")
            case .otherMethod: "method"
            case .nothing: "nothing"
            case .refused: "refused"
            }
        #expect(found == expected)
    }

    @Test("A wrong method is refused with the allowed methods, and HEAD matches a GET route")
    func methods() throws {
        let routes = try Self.router()
        guard case .otherMethod(let allowed) = routes.match(.put, "/v1/sessions/7") else {
            Issue.record("no other method")
            return
        }
        #expect(allowed == [.get, .delete, .head, .options])
        guard case .route(let index, _) = routes.match(.head, "/v1/sessions") else {
            Issue.record("no route")
            return
        }
        #expect(routes.all[index].id == "list")
    }

    @Test("All contradictory routes are reported by name")
    func contradictions() {
        let routes = [
            Route(.get, "/a/{x}", "a", "One") { _ in "" },
            Route(.get, "/a/{y}", "a", "Two.", .path("y", "Y")) { _, _ in "" },
            Route(.get, "b", "b", "Three") { _ in "" },
            Route(.post, "/c", "c", "Four", .body(String.self), .body(String.self)) { _, _, _ in "" },
            Route(.get, "/d/{r...}/e", "d", "Five", .path("r", "R")) { _, _ in "" },
        ]
        do throws(ServerError) {
            _ = try Routes(routes)
            Issue.record("they were taken")
        } catch {
            for words in [
                "GET /a/{x} does not declare {x}", "GET /a/{y} is declared twice", "has the id a of another route",
                "without a final stop", "GET b has a malformed path", "POST /c has two bodies",
                "GET /d/{r...}/e has a malformed path",
            ] {
                #expect(error.message.contains(words), "\(words)")
            }
        }
    }
}

import HTTPClient
import HTTPCore
import JSON
import Testing

@Suite("Access to a gateway without its token", .timeLimit(.minutes(5)))
struct TokenAttackTests {
    private struct Place: Hashable {
        let method: String
        let path: String
    }

    /// All routes in the document and the table of routes, with values for the parameters in paths.
    private func places(_ gateway: GatewayClient) async throws -> Set<Place> {
        var places: Set<Place> = []
        let document = try await gateway.json(.get, "/openapi.json")
        for (path, methods) in document["paths"]?.object ?? [:] {
            for (method, _) in methods.object ?? [:] where method != "parameters" {
                places.insert(Place(method: method.uppercased(), path: Self.filled(path)))
            }
        }
        #expect(places.count > 30)
        let routes = try await gateway.home.martlet("gateway", "routes", "--json").output.json()
        for route in routes.array ?? [] {
            let path = Self.filled(route["path"]?.string ?? "")
            places.insert(Place(method: route["method"]?.string ?? "", path: path))
            #expect(route["open"] == .bool(path == "/health"), "\(path)")
        }
        #expect(places.count > 33)
        return places
    }

    private static func filled(_ template: String) -> String {
        template.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("{") ? "x" : String($0) }.joined(separator: "/")
    }

    /// Headers without the right token, some of them similar.
    private static var credentials: [[String]] {
        let token = GatewayHome.token
        let (upper, reversed) = (token.uppercased(), String(token.reversed()))
        return [
            [], ["Authorization: Bearer"], ["Authorization: Bearer "], ["Authorization:"], ["Authorization: \(token)"],
            ["Authorization: Bearer \(token)x"], ["Authorization: Bearer \(token.dropLast())"],
            ["Authorization: Bearer \(upper)"], ["Authorization: Bearer \(reversed)"],
            ["Authorization: Bearer \"\(token)\""], ["Authorization: Bearer \(token), \(token)"],
            ["Authorization: Bearer \(token) \(token)"], ["Authorization: Basic \(token)"],
            ["Authorization: Basic dGVzdC10b2tlbi0wMTIzNDU2Nzg5Og=="], ["Authorization: Token \(token)"],
            ["Authorization: Bearer null"], ["Authorization: Bearer *"], ["Authorization: Bearer ' OR 1=1 --"],
            ["Authorization: Bearer \(String(repeating: "x", count: 8000))"], ["X-API-Key:"], ["X-API-Key: wrong"],
            ["X-API-Key: Bearer \(token)"], ["API-Key: \(token)"], ["X-Token: \(token)"], ["Cookie: token=\(token)"],
            ["Cookie: Authorization=Bearer \(token)"], ["Proxy-Authorization: Bearer \(token)"],
            ["X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1", "Forwarded: for=127.0.0.1"],
            ["X-Original-URL: /health", "X-Rewrite-URL: /health"], ["X-HTTP-Method-Override: GET"],
        ]
    }

    private static func raw(_ place: Place, _ lines: [String], query: String = "") -> String {
        let body = ["POST", "PUT", "PATCH"].contains(place.method) ? "{\"name\":\"stranger\",\"messages\":[]}" : ""
        let head = [
            "\(place.method) \(place.path)\(query) HTTP/1.1", "Host: localhost", "Connection: close",
            "Content-Type: application/json", "Content-Length: \(body.utf8.count)",
        ]
        return (head + lines).joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    @Test("Without the token only the health route answers, and nothing is done")
    func refused() async throws {
        try await GatewayClient.with { gateway in
            let places = try await places(gateway)
            for place in places where place.path != "/health" {
                for lines in Self.credentials {
                    let answer = try await gateway.exchange(Self.raw(place, lines))
                    #expect(answer.answerStatus == 401, "\(place) with \(lines): \(answer.prefix(300))")
                    #expect(!answer.contains(GatewayHome.token) && answer.answers == 1)
                }
                for name in ["api_key", "key", "token", "access_token", "authorization"] {
                    let answer = try await gateway.exchange(
                        Self.raw(place, [], query: "?\(name)=\(GatewayHome.token)"))
                    #expect(answer.answerStatus == 401, "\(place) with \(name)")
                    #expect(!answer.contains(GatewayHome.token))
                }
            }
            // Everything was refused only because of the token.
            let refusal = try await gateway.json(
                .get, "/v1/models", headers: ["Authorization": "Bearer no"], status: 401)
            #expect(refusal["error"]?["code"] == "invalid_api_key" && refusal["error"]?["status"] == 401)
            #expect(refusal["error"]?["message"]?.string?.isEmpty == false && refusal["type"] == "error")
            let projects = try await gateway.json(.get, "/v1/projects")
            #expect(projects["pagination"]?["total_items"] == 0)
            let stats = try await gateway.json(.get, "/v1/sessions/stats")
            #expect(stats["session_stats"]?["total_messages"] == 0, "\(stats.text())")
        }
    }

    @Test("Other methods and other spellings of a path are refused too")
    func spellings() async throws {
        try await GatewayClient.with { gateway in
            for target in [
                "/health/../v1/models", "/health/..%2fv1/models", "/health%2f..%2fv1/models", "//v1/models",
                "/v1//models", "/v1/models/", "/V1/models", "/v1/./models", "/%76%31/models", "/v1/models;x=/health",
                "/v1/models?/health", "/v1/models%3f/health", "/health;/v1/models", "/health/v1/models", "/health/",
                "http://localhost/v1/models", "http://evil.example/health/../v1/models", "/.%2e/v1/models",
            ] {
                for method in ["GET", "HEAD", "POST", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get", "X"] {
                    let answer = try await gateway.exchange(Self.raw(Place(method: method, path: target), []))
                    #expect((400..<500).contains(answer.answerStatus) || method == "OPTIONS", "\(method) \(target)")
                    #expect(!answer.contains("martlet-offline") && answer.answers == 1, "\(method) \(target)")
                }
            }
            let health = try await gateway.exchange(Self.raw(Place(method: "GET", path: "/health"), []))
            #expect(health.answerStatus == 200 && !health.contains(gateway.home.path))
        }
    }
}

import Capabilities
import HTTPCore
import HTTPServer
import JSON
import Testing

@Suite(.timeLimit(.minutes(5))) struct CheckTests {
    static let routes = [
        Route(.get, "/hello", "hello", "Says hello") { request in
            HTTPAnswer.text("hello \(request.principal?.name ?? "you")")
        },
        Route(.post, "/hello", "change", "Changes something") { _ in HTTPAnswer.text("changed") },
        Route(.get, "/health", "health", "Says that it lives") { _ in HTTPAnswer.text("alive") }.open(),
    ]

    private func get(_ server: TestServer, _ host: String, _ lines: String...) async throws -> String {
        try await server.exchange(
            (["GET /hello HTTP/1.1", "Host: \(host)", "Connection: close"] + lines).joined(separator: "\r\n")
                + "\r\n\r\n")
    }

    @Test("A request is served only under names of this machine and configured hosts")
    func hosts() async throws {
        try await withServer(Self.routes, { $0.hosts = ["martlet.lan:80"] }) { server in
            for host in ["localhost", "LOCALHOST:\(server.port)", "127.0.0.1:1", "[::1]", "[::1]:80", "Martlet.lan"] {
                #expect(try await get(server, host).status == 200, "\(host)")
            }
            for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.2", "[::2]"] {
                #expect(try await get(server, host).status == 421, "\(host)")
            }
            let absolute = try await server.exchange(
                "GET http://evil.example/hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(absolute.status == 421)
        }
    }

    @Test("A route that needs a scope is served to callers with it, and to everyone on a server without authentication")
    func scopes() async throws {
        let routes = [
            Route(.get, "/hello", "hello", "Says hello") { _ in HTTPAnswer.text("hello") }.needing([.read, .admin])
        ]
        try await withServer(
            routes,
            { configuration in
                configuration.authenticate = { head in
                    switch head.headers["Authorization"] {
                    case "Bearer r": Principal("r", grant: Grant(Grant.Layer(.client("r"), scopes: [.read])))
                    case "Bearer c": Principal("c", grant: Grant(Grant.Layer(.client("c"), scopes: [.chat])))
                    case "Bearer all": Principal("all")
                    default: nil
                    }
                }
            }
        ) { server in
            for (token, status) in [("r", 200), ("all", 200), ("c", 403), ("x", 401)] {
                let answer = try await get(server, "localhost", "Authorization: Bearer \(token)")
                #expect(answer.status == status, "\(token)")
                if status == 403 { #expect(answer.contains("access.denied") && answer.contains("needs read or admin")) }
            }
        }
        try await withServer(routes) { server in
            let answer = try await get(server, "localhost")
            #expect(answer.status == 200)
        }
    }

    @Test("A web page of another origin is refused unless its origin is listed")
    func origins() async throws {
        try await withServer(Self.routes) { server in
            let host = "localhost:\(server.port)"
            #expect(try await get(server, host, "Origin: http://\(host)").status == 200)
            for origin in ["http://evil.example", "null", "https://\(host)", "http://localhost:1", "http://localhost"] {
                let answer = try await get(server, host, "Origin: \(origin)")
                #expect(answer.status == 403 && !answer.contains("Access-Control"), "\(origin)")
            }
        }
        try await withServer(
            Self.routes,
            { configuration in
                configuration.crossOrigin = CrossOriginRules(
                    origins: ["https://app.example"], exposed: ["X-Session-ID"])
                configuration.authenticate = { head in
                    head.headers["Authorization"] == "Bearer k" ? Principal("me") : nil
                }
            }
        ) { server in
            let origin = "Origin: https://app.example"
            let allowed = try await get(server, "localhost", origin, "Authorization: Bearer k")
            #expect(allowed.status == 200 && allowed.answerBody == "hello me")
            #expect(allowed.contains("Access-Control-Allow-Origin: https://app.example\r\n"))
            #expect(allowed.contains("Access-Control-Expose-Headers: X-Session-ID\r\n"))
            #expect(allowed.contains("Vary: Origin\r\n"))
            // A listed page must be able to read why it was refused.
            let refused = try await get(server, "localhost", origin)
            #expect(refused.status == 401 && refused.contains("Access-Control-Allow-Origin: https://app.example\r\n"))
            #expect(try await get(server, "localhost", "Authorization: Bearer k").contains("Vary: Origin\r\n"))
            // A browser sends the preflight without a credential.
            let preflight = try await server.exchange(
                "OPTIONS /hello HTTP/1.1\r\nHost: localhost\r\n\(origin)\r\nConnection: close\r\n"
                    + "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\n\r\n")
            #expect(preflight.status == 204)
            #expect(preflight.contains("Access-Control-Allow-Methods: GET, POST, HEAD, OPTIONS\r\n"))
            #expect(preflight.contains("Access-Control-Allow-Headers: Authorization, Content-Type, X-API-Key\r\n"))
            #expect(preflight.contains("Access-Control-Max-Age: 600\r\n"))
            let other = try await server.exchange(
                "OPTIONS /hello HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\nConnection: close\r\n"
                    + "Access-Control-Request-Method: POST\r\n\r\n")
            #expect(other.status == 403 && !other.contains("Access-Control"))
        }
    }

    @Test("Unauthenticated clients are refused, except on open routes")
    func authentication() async throws {
        try await withServer(
            Self.routes,
            { configuration in
                configuration.authenticate = { head in
                    if head.headers["Authorization"] == "Bearer broken" {
                        throw RequestProblem.unavailable("try later", retryAfter: 5)
                    }
                    return head.headers["Authorization"] == "Bearer k" ? Principal("me") : nil
                }
            }
        ) { server in
            let refused = try await get(server, "localhost")
            #expect(refused.status == 401 && refused.contains("WWW-Authenticate: Bearer\r\n"))
            #expect(try await get(server, "localhost", "Authorization: Bearer k").answerBody == "hello me")
            #expect(try await get(server, "localhost", "Authorization: Bearer broken").status == 503)
            #expect(try await server.get("/health").answerBody == "alive")
        }
    }

    @Test("An application sets the error envelope and the statuses of its own failures")
    func envelope() async throws {
        struct Full: Failure {
            var code: String { "disk.full" }
            var message: String { "the disk is full; remove something" }
        }
        let routes =
            Self.routes + [
                Route(.get, "/full", "full", "Fails") { _ -> HTTPAnswer in throw Full() },
                Route(.get, "/denied", "denied", "Fails") { _ -> HTTPAnswer in
                    throw HTTPError(.certificate, "not trusted")
                },
                Route(.get, "/slow", "slow", "Fails") { _ -> HTTPAnswer in throw HTTPError(.idleTimedOut, "too slow") },
            ]
        try await withServer(
            routes,
            { configuration in
                configuration.envelope = { ["detail": .string($0.message), "code": .string($0.code)] }
                configuration.status = { $0.code == "disk.full" ? HTTPStatus(507) : nil }
            }
        ) { server in
            let full = try await server.get("/full", "X-Request-ID: my-own-id")
            #expect(full.status == 507 && full.contains("X-Request-ID: my-own-id\r\n"))
            #expect(full.answerBody == #"{"detail":"the disk is full; remove something","code":"disk.full"}"#)
            #expect(try await server.get("/denied").status == 403)
            #expect(try await server.get("/slow").status == 504)
            #expect(try await server.get("/nothing").answerBody.hasPrefix(#"{"detail":"there is nothing at"#))
            let odd = try await server.get("/nothing", "X-Request-ID: not a token")
            #expect(!odd.contains("not a token"))
        }
    }

    @Test("An address that other machines can reach needs an authenticator")
    func exposure() async throws {
        var configuration = ServerConfiguration()
        configuration.addresses = [.ip("0.0.0.0", port: 0)]
        let server = HTTPServer(try Routes(Self.routes), configuration)
        await #expect { try await server.run() } throws: { ($0 as? ServerError)?.kind == .configuration }
        configuration.addresses = [.ip("no address", port: 0)]
        let other = HTTPServer(try Routes(Self.routes), configuration)
        await #expect { try await other.run() } throws: { ($0 as? ServerError)?.kind == .configuration }
    }

    @Test("A header value with a line end is not sent")
    func injection() async throws {
        let routes = [
            Route(.get, "/split", "split", "Tries to split", .query("to", "Where")) { (_, to: String) in
                HTTPAnswer.redirect(to: to)
            }
        ]
        try await withServer(routes) { server in
            #expect(try await server.get("/split?to=/a").contains("Location: /a\r\n"))
            let split = try await server.get("/split?to=/a%0d%0aSet-Cookie:%20x=1")
            #expect(split.status == 500 && !split.contains("Set-Cookie"))
        }
    }

    @Test("Unauthenticated clients do not learn which routes exist")
    func hiddenRoutes() async throws {
        try await withServer(
            Self.routes,
            { $0.authenticate = { $0.headers["Authorization"] == "Bearer k" ? Principal("me") : nil } }
        ) { server in
            for (path, status) in [("/nothing", 404), ("/hello", 405)] {
                let request = "DELETE \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                let stranger = try await server.exchange(request + "\r\n")
                #expect(stranger.status == 401 && !stranger.contains("Allow:"), "\(path)")
                #expect(try await server.exchange(request + "Authorization: Bearer k\r\n\r\n").status == status)
            }
            let options = "OPTIONS /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            #expect(try await server.exchange(options + "\r\n").status == 401)
            #expect(try await server.exchange(options + "Authorization: Bearer k\r\n\r\n").contains("Allow: GET"))
            #expect(try await server.get("/health").status == 200)
        }
    }

    @Test("Without an authenticator, pages of other sites reach only open routes")
    func sites() async throws {
        try await withServer(Self.routes) { server in
            for (site, status) in [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)] {
                let answer = try await server.get("/hello", "Sec-Fetch-Site: \(site)")
                #expect(answer.status == status, "\(site)")
                let open = try await server.get("/health", "Sec-Fetch-Site: \(site)")
                #expect(open.status == 200, "\(site)")
            }
        }
        let origin = "https://app.example"
        try await withServer(Self.routes, { $0.crossOrigin = CrossOriginRules(origins: [origin]) }) { server in
            let answer = try await server.get("/hello", "Sec-Fetch-Site: cross-site", "Origin: \(origin)")
            #expect(answer.status == 200)
        }
    }

    @Test("A NUL in a path or a query is reported")
    func nul() async throws {
        try await withServer(Self.routes) { server in
            for path in ["/%00", "/hello%00", "/%zz"] {
                let answer = try await server.get(path)
                #expect(answer.status == 400 && answer.contains("it has an invalid escape, a NUL,"), "\(path)")
            }
            for query in ["a=%00", "a%00=b", "a=%zz"] {
                let answer = try await server.get("/hello?\(query)")
                #expect(answer.status == 400 && answer.contains("it has an invalid escape or a NUL"), "\(query)")
            }
        }
    }

    @Test("A handler cannot override the framing of its response")
    func framing() async throws {
        let routes = ["Content-Length: 1", "transfer-encoding: chunked", "CONNECTION: close"].map { line in
            let name = String(line.prefix { $0 != ":" })
            return Route(.get, "/\(name.lowercased())", name.lowercased(), "Passes an answer on") { _ in
                HTTPAnswer.text("passed on").header(name, String(line.dropFirst(name.count + 2)))
            }
        }
        try await withServer(routes) { server in
            for route in routes {
                let answer = try await server.get(route.template)
                #expect(answer.status == 500 && !answer.contains("passed on"), "\(route.template)")
                #expect(answer.lowercased().occurrences(of: "content-length:") == 1)
            }
        }
    }
}

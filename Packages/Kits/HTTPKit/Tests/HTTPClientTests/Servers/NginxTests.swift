import FileKit
import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

@Suite("Client with nginx")
struct NginxTests {
    @Test("Plain, compressed, ranged and conditional responses of nginx are read", .timeLimit(.minutes(5)))
    func answers() async throws {
        try await Nginx.run(tls: try TestCertificates.shared().good) { nginx in
            let text = String(repeating: "The same line again and again.\n", count: 10_000)
            try Files.writeAtomically(Array(text.utf8), to: "\(nginx.files)/page.txt")
            try await Lab.client { client in
                let plain = try await client.send(try Lab.request(nginx.port, "/hello"))
                #expect(plain.text == "hello" && plain.version == .http11)
                var request = try Lab.request(nginx.port, "/page.txt")
                request.acceptsCompressed = true
                let compressed = try await client.send(request)
                #expect(compressed.text == text)
                request.acceptsCompressed = false
                let whole = try await client.send(request)
                #expect(whole.text == text)
                let sizes = try nginx.accessLog().filter { $0.request.contains("page.txt") }.map(\.bodyBytesSent)
                #expect(sizes.first ?? .max < 10_000)
                request.headers["Range"] = "bytes=4-7"
                let part = try await client.send(request)
                #expect(part.status == .partialContent && part.text == "same")
                request.headers = ["If-None-Match": whole.headers["ETag"] ?? ""]
                let unchanged = try await client.send(request)
                #expect(unchanged.status == .notModified && unchanged.body.isEmpty)
                let head = try await client.send(try Lab.request(nginx.port, "/large", method: .head))
                #expect(head.headers["Content-Length"] == "\(Nginx.largeSize)" && head.body.isEmpty)
            }
        }
    }

    @Test(
        "An nginx error carries its message, redirects are followed, and credentials are accepted",
        .timeLimit(.minutes(5)))
    func words() async throws {
        try await Nginx.run(tls: try TestCertificates.shared().good) { nginx in
            try await Lab.client { client in
                for status in [400, 401, 403, 404, 409, 429, 500, 503] {
                    let answer = try await client.send(try Lab.request(nginx.port, "/status/\(status)"))
                    let error = await Lab.failure { _ = try answer.requireSuccess() }
                    #expect(error?.kind == .status && error?.status?.code == status)
                    #expect(error?.message.contains("the lab says \(status)") == true, "\(error?.message ?? "")")
                    #expect(error?.retryAfter == (status == 429 || status == 503 ? .seconds(7) : nil))
                }
                for status in [301, 302, 303, 307, 308] {
                    let request = try Lab.request(
                        nginx.port, "/redirect/\(status)", method: .post, body: .text("body"))
                    let answer = try await client.send(request)
                    #expect(answer.text.hasPrefix(status >= 307 ? "POST\n/echo\n" : "GET\n/echo\n"), "\(status)")
                }
                let loop = await Lab.failure {
                    _ = try await client.send(try Lab.request(nginx.port, "/redirect/loop"))
                }
                #expect(loop?.kind == .redirect)
                var request = try Lab.request(nginx.port, "/private")
                let refused = try await client.send(request)
                #expect(refused.status == .unauthorized)
                request.headers["Authorization"] = "Basic bGFiOmJlbmNo"
                let allowed = try await client.send(request)
                #expect(allowed.text == "secret")
            }
        }
    }

    @Test("HTTP/2 is negotiated in the handshake, and many requests share a connection", .timeLimit(.minutes(5)))
    func http2() async throws {
        try await Nginx.run(tls: try TestCertificates.shared().good) { nginx in
            try await Lab.trustingClient { client in
                let request = try Lab.request(nginx.tlsPort, "/hello", scheme: "https")
                try await withThrowingTaskGroup { group in
                    for _ in 0..<100 {
                        group.addTask {
                            let answer = try await client.send(request)
                            #expect(answer.version == .http2 && answer.text == "hello")
                        }
                    }
                    try await group.waitForAll()
                }
                var old = try Lab.request(nginx.tlsPort, "/hello", scheme: "https")
                old.version = .http1
                let answer = try await client.send(old)
                #expect(answer.version == .http11)
                let lines = try nginx.accessLog().filter { $0.version == "HTTP/2.0" }
                #expect(lines.count >= 99 && Set(lines.map(\.connection)).count == 1)
            }
        }
    }

    @Test("A server is reached over a Unix socket and over IPv6", .timeLimit(.minutes(5)))
    func addresses() async throws {
        try await Nginx.run(tls: try TestCertificates.shared().good) { nginx in
            try await Lab.client { client in
                var request = try Lab.request(80, "/echo?a", host: "models.local")
                request.unixSocket = nginx.socketPath
                let answer = try await client.send(request)
                #expect(answer.text.hasPrefix("GET\n/echo?a\n"))
                request.unixSocket = "\(nginx.socketPath).absent"
                let error = await Lab.failure { [request] in _ = try await client.send(request) }
                #expect(error?.kind == .refused && error?.message.contains("socket.absent") == true)
            }
        }
        let tls = try ScriptedTLS(TestCertificates.shared().good)
        try await ScriptedServer.run(at: .loopback6, tls: tls) { connection in
            try connection.receiveRequest()
            try connection.answer(200, [:], "six")
        } during: { server in
            try await Lab.trustingClient { client in
                let answer = try await client.send(try Lab.request(server.port, scheme: "https", host: "[::1]"))
                #expect(answer.text == "six")
                #expect(server.record.requests.first?.headers["Host"] == "[::1]:\(server.port)")
            }
        }
    }

    @Test("An uploaded file is stored unchanged", .timeLimit(.minutes(5)))
    func uploads() async throws {
        try await Nginx.run(tls: try TestCertificates.shared().good) { nginx in
            let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
            try Files.writeAtomically(bytes, to: "\(nginx.files)/source")
            try await Lab.trustingClient { client in
                let bodies: [(String, HTTPBody, ArraySlice<UInt8>)] = [
                    ("bytes", .bytes(bytes), bytes[...]), ("empty", .bytes([]), []),
                    ("file", .file(path: "\(nginx.files)/source"), bytes[...]),
                    ("part", .file(path: "\(nginx.files)/source", range: 1000..<250_000), bytes[1000..<250_000]),
                    ("stream", .stream(length: nil, Pieces(pieces: [bytes], times: 3)), (bytes + bytes + bytes)[...]),
                    ("known", .stream(length: 300_000, Pieces(pieces: [bytes])), bytes[...]),
                ]
                for scheme in ["http", "https"] {
                    for (name, body, expected) in bodies {
                        let port = scheme == "http" ? nginx.port : nginx.tlsPort
                        let request = try Lab.request(
                            port, "/upload/\(scheme)-\(name)", method: .put, scheme: scheme, body: body)
                        let answer = try await client.send(request)
                        #expect(answer.status == .created, "\(scheme) \(name)")
                        let stored = try Files.read("\(nginx.uploads)/\(scheme)-\(name)", limit: 10 << 20)
                        #expect(stored == Array(expected), "\(scheme) \(name)")
                    }
                }
            }
        }
    }
}

import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Testing

@Suite("Client safeguards")
struct SafeguardTests {
    @Test(
        "A redirect to another origin carries no header that may be a credential", .timeLimit(.minutes(5)),
        arguments: [
            "Authorization", "Cookie", "X-Api-Key", "xi-api-key", "Private-Token", "X-Vault-Token", "X-Anything",
        ])
    func redirect(_ name: String) async throws {
        try await ScriptedServer.run { connection in
            let request = try connection.receiveHead()
            let text = "\(request.headers[name] ?? "none") \(request.headers["Accept"] ?? "none")"
            try connection.answer(200, [:], text)
        } during: { other in
            try await ScriptedServer.run { connection in
                _ = try connection.receiveHead()
                try connection.answer(302, ["Location": "http://127.0.0.1:\(other.port)/"], "")
            } during: { server in
                try await Lab.client { client in
                    var request = try Lab.request(server.port)
                    request.headers.append(name, "for the first one only")
                    request.headers.append("Accept", "text/plain")
                    #expect(try await client.send(request).text == "none text/plain")
                }
            }
        }
    }

    @Test(
        "An unusable proxy is refused without showing its password",
        arguments: [
            "bogus://user:SECRET@127.0.0.1:1", "http://user:SECRET@127.0.0.1:99999", "http://us er:SECRET@127.0.0.1:1",
        ])
    func proxy(_ text: String) async throws {
        var configuration = HTTPClient.Configuration.standalone
        configuration.proxies = ProxySettings(http: text)
        try await Lab.client(configuration) { client in
            let error = await Lab.failure { _ = try await client.send(try Lab.request(9)) }
            #expect(error?.kind == .proxy)
            #expect(error?.message.contains("SECRET") == false && error?.message.contains("proxy") == true)
        }
    }

    @Test("A server on this machine is reached without the environment's proxy")
    func loopback() {
        let settings = ProxySettings(environment: ["http_proxy": "http://127.0.0.1:1", "no_proxy": "a.example"])
        #expect(settings.except?.split(separator: ",") == ["a.example", "localhost", "127.0.0.0/8", "::1"])
    }

    @Test("The first-byte limit also applies to requests with a small body", .timeLimit(.minutes(5)))
    func firstByte() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveRequest()
            try connection.stall()
        } during: { server in
            try await Lab.client { client in
                var request = try Lab.request(server.port, method: .post, body: .bytes(Array("hello".utf8)))
                request.limits.firstByte = .milliseconds(200)
                request.limits.idle = nil
                let error = await Lab.failure { [request] in _ = try await client.send(request) }
                #expect(error?.kind == .firstByteTimedOut)
            }
        }
    }

    @Test("A large body is sent without waiting for the server", .timeLimit(.minutes(5)))
    func noExpectation() async throws {
        try await ScriptedServer.run { connection in
            let request = try connection.receiveRequest()
            try connection.answer(200, [:], request.headers["Expect"] ?? "none")
        } during: { server in
            try await Lab.client { client in
                let body = HTTPBody.bytes([UInt8](repeating: 7, count: 200_000))
                let answer = try await client.send(try Lab.request(server.port, method: .put, body: body))
                #expect(answer.text == "none")
            }
        }
    }

    @Test("Closing also ends requests that run under an earlier trust", .timeLimit(.minutes(5)))
    func closing() async throws {
        try await ScriptedServer.run { connection in
            _ = try connection.receiveHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha")
            try connection.stall()
        } during: { server in
            let client = HTTPClient(.standalone)
            let exchange = try await client.open(try Lab.request(server.port))
            client.trustChanged()
            await client.close()
            try await server.until { $0.openNow == 0 }
            let error = await Lab.failure { for try await _ in exchange.body {} }
            #expect(error?.kind == .closed)
        }
    }

    @Test(
        "Messages of a server and errors about an invalid address contain no terminal control characters",
        .timeLimit(.minutes(5)))
    func words() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveRequest()
            let answer: JSON = ["error": ["message": "bad \u{1B}[31mred\u{202E}"]]
            try connection.answer(500, ["Content-Type": "application/json"], answer.text())
        } during: { server in
            try await Lab.client { client in
                let error = await Lab.failure {
                    _ = try await client.send(try Lab.request(server.port)).requireSuccess()
                }
                #expect(error?.message.hasSuffix(#"bad \u{1B}[31mred\u{202E}"#) == true)
            }
        }
        let address = #expect(throws: HTTPError.self) { try HTTPURL("htps://h\u{1B}/?key=SECRET") }
        #expect(address?.message.contains("SECRET") == false && address?.message.contains("\u{1B}") == false)
    }

    @Test("A user agent with a line end is refused")
    func userAgent() async throws {
        var configuration = HTTPClient.Configuration.standalone
        configuration.userAgent = "x\r\nInjected: yes"
        try await Lab.client(configuration) { client in
            let error = await Lab.failure { _ = try await client.send(try Lab.request(9)) }
            #expect(error?.kind == .invalid)
        }
    }

    @Test("The phases of a request are events of its span, in order", .timeLimit(.minutes(5)))
    func phases() async throws {
        let certificates = try TestCertificates.shared()
        let sink = RecordingSpanSink()
        var configuration = try Lab.trusting()
        configuration.tracer = Tracer(sinks: [sink], now: Timestamp.now)
        try await ScriptedServer.run(tls: try ScriptedTLS(certificates.good)) { connection in
            for _ in 0..<2 {
                try connection.receiveRequest()
                try connection.answer(200, [:], "hi")
            }
        } during: { server in
            try await Lab.client(configuration) { client in
                for _ in 0..<2 {
                    _ = try await client.send(
                        try Lab.request(server.port, scheme: "https", host: "localhost"))
                }
            }
        }
        // A connection that is used again is neither made nor secured.
        #expect(
            sink.spans.map { $0.events.map(\.name) } == [
                ["http.connected", "http.secured", "http.first_byte"], ["http.first_byte"],
            ])
        for span in sink.spans {
            let times = [span.start] + span.events.map(\.time) + [span.end]
            #expect(times == times.sorted(), "\(times)")
        }
    }

    @Test(
        "Each request is a span with its result and without its path, query and credentials", .timeLimit(.minutes(5)))
    func spans() async throws {
        try await ScriptedServer.run { connection in
            let request = try connection.receiveRequest()
            try connection.answer(
                request.target.hasPrefix("/no") ? 404 : 200, [:], request.headers["traceparent"] ?? "")
        } during: { server in
            let sink = RecordingSpanSink()
            var configuration = HTTPClient.Configuration.standalone
            configuration.tracer = Tracer(sinks: [sink]) { Timestamp(microseconds: 0) }
            configuration.feature = "lab"
            configuration.sendsTraceparent = true
            try await Lab.client(configuration) { client in
                var request = try Lab.request(server.port, "/secret-path-7?key=SECRET")
                request.headers.append("Authorization", "Bearer SECRET")
                let answer = try await client.send(request)
                _ = try await client.send(try Lab.request(server.port, "/no"))
                let span = try #require(sink.spans.first)
                #expect(span.name == "GET" && span.kind == .client && span.feature == "lab" && span.failure == nil)
                #expect(answer.text == span.context.traceparent)
                #expect(span.attributes["http.response.status_code"] == 200)
                #expect(span.attributes["server.port"] == .int(server.port))
                #expect(span.attributes["url.template"] == "/{}" && span.attributes["url.scheme"] == "http")
                #expect(sink.spans.last?.attributes["http.response.status_code"] == 404)
                let shown = JSON.object(span.attributes).text()
                #expect(!shown.contains("SECRET") && !shown.contains("secret-path"))
            }
            let refused = try await RefusingPort.run { port in
                try await Lab.client(configuration) { client in
                    await Lab.failure { _ = try await client.send(try Lab.request(port)) }
                }
            }
            #expect(refused?.kind == .refused && sink.spans.last?.failure == "http.refused")
        }
    }
}

import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

@Suite("Redirect faults")
struct RedirectFaultTests {
    @Test("A redirect loop ends after the allowed number of redirects", .timeLimit(.minutes(5)))
    func loop() async throws {
        try await ScriptedServer.run { connection in
            while true {
                let request = try connection.receiveHead()
                try connection.answer(302, ["Location": request.target == "/a" ? "/b" : "/a"])
            }
        } during: { server in
            try await Lab.client { client in
                let error = await Lab.failure { _ = try await client.send(try Lab.request(server.port, "/a")) }
                #expect(error?.kind == .redirect, "\(error?.message ?? "")")
                #expect(error?.message.contains("10 redirects") == true, "\(error?.message ?? "")")
                #expect(server.record.requests.count == 11 && server.record.connections.count == 1)
            }
        }
    }

    @Test(
        "A location that cannot be followed is an error, and the client contacts no other server",
        .timeLimit(.minutes(5)),
        arguments: ["ftp://127.0.0.1/", "file:///etc/passwd", "http://", "http://user:pw@127.0.0.1/", "gopher://x/"])
    func elsewhere(_ location: String) async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.answer(302, ["Location": location])
        } during: { server in
            try await Lab.client { client in
                let error = await Lab.failure { _ = try await client.send(try Lab.request(server.port)) }
                #expect(error?.kind == .redirect, "\(error?.message ?? "")")
                #expect(error?.message.contains("pw") == false)
                #expect(server.record.requests.count == 1)
            }
        }
    }

    @Test("Credentials are sent again to the same origin only", .timeLimit(.minutes(5)))
    func credentials() async throws {
        try await ScriptedServer.run { connection in
            while true {
                try connection.receiveRequest()
                try connection.answer(200, [:], "there")
            }
        } during: { other in
            try await ScriptedServer.run { connection in
                while true {
                    switch try connection.receiveRequest().target {
                    case "/away": try connection.answer(307, ["Location": "http://127.0.0.1:\(other.port)/x"])
                    case "/name": try connection.answer(307, ["Location": "http://localhost:\(other.port)/x"])
                    case "/home": try connection.answer(307, ["Location": "/here"])
                    default: try connection.answer(200, [:], "here")
                    }
                }
            } during: { server in
                try await Lab.client { client in
                    func send(_ path: String) async throws -> String {
                        var request = try Lab.request(server.port, path, method: .post, body: .text("body"))
                        request.headers = [
                            "Authorization": "Bearer s3cret", "Cookie": "a=s3cret", "X-API-Key": "s3cret",
                            "X-Of-Its-Own": "s3cret",
                            "Content-Type": "text/plain", "Proxy-Authorization": "s3cret",
                        ]
                        return try await client.send(request).text
                    }
                    var texts: [String] = []
                    for path in ["/home", "/away", "/name"] { texts.append(try await send(path)) }
                    #expect(texts == ["here", "there", "there"])
                    let home = try #require(server.record.requests.first { $0.target == "/here" })
                    #expect(home.headers["Authorization"] == "Bearer s3cret" && home.headers["Cookie"] == "a=s3cret")
                    #expect(other.record.requests.count == 2)
                    for request in other.record.requests {
                        #expect(!request.headers.contains { $0.value.contains("s3cret") })
                        #expect(request.headers["Content-Type"] == "text/plain")
                        #expect(request.headers["Host"]?.hasSuffix(":\(other.port)") == true)
                        #expect(request.method == "POST" && request.body == Array("body".utf8))
                    }
                }
            }
        }
    }

    @Test(
        "A redirect changes the method as RFC 9110 specifies", .timeLimit(.minutes(5)),
        arguments: [
            (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"),
            (308, "POST", "POST"),
            (301, "PUT", "PUT"), (302, "DELETE", "DELETE"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"),
        ])
    func methods(_ status: Int, _ method: String, _ expected: String) async throws {
        try await ScriptedServer.run { connection in
            while true {
                let request = try connection.receiveRequest()
                if request.target == "/from" {
                    try connection.answer(status, ["Location": "to?a=b#part"])
                } else {
                    try connection.answer(204)
                }
            }
        } during: { server in
            try await Lab.client { client in
                let body: HTTPBody = method == "HEAD" ? .none : .text("body")
                let request = try Lab.request(server.port, "/from", method: HTTPMethod(rawValue: method), body: body)
                _ = try await client.send(request)
                let last = try #require(server.record.requests.last)
                #expect(last.method == expected && last.target == "/to?a=b")
                #expect(last.body == (expected == "GET" || expected == "HEAD" ? [] : Array("body".utf8)))
            }
        }
    }

    @Test("A redirect from https to http is followed only if the request allows it", .timeLimit(.minutes(5)))
    func losingTLS() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveRequest()
            try connection.answer(200, [:], "open to all")
        } during: { plain in
            try await ScriptedServer.run(tls: ScriptedTLS(TestCertificates.shared().good)) { connection in
                while true {
                    try connection.receiveRequest()
                    try connection.answer(302, ["Location": "http://127.0.0.1:\(plain.port)/"])
                }
            } during: { server in
                try await Lab.trustingClient { client in
                    var request = try Lab.request(server.port, scheme: "https")
                    let error = await Lab.failure { [request] in _ = try await client.send(request) }
                    #expect(error?.kind == .redirect && plain.record.connections.isEmpty)
                    request.redirects = RedirectPolicy(most: 1, mayLoseTLS: true)
                    let answer = try await client.send(request)
                    #expect(answer.text == "open to all")
                }
            }
        }
    }
}

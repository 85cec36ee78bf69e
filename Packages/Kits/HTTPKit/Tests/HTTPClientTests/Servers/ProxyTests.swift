import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

@Suite("Proxies")
struct ProxyTests {
    private static let file = PythonPeer.path("proxy.py")

    private static let script: ScriptedServer.Script = { connection in
        while true {
            try connection.receiveRequest()
            try connection.answer(200, [:], "there")
        }
    }

    private func send(
        _ request: HTTPRequest, through proxies: ProxySettings, trusting: Bool = true
    ) async throws -> HTTPResponse {
        var configuration = trusting ? try Lab.trusting() : HTTPClient.Configuration.standalone
        configuration.proxies = proxies
        return try await Lab.client(configuration) { try await $0.send(request) }
    }

    @Test(
        "A proxy gets a whole address for http and a tunnel for https, whose server is judged as without a proxy",
        .timeLimit(.minutes(5)))
    func through() async throws {
        let all = try TestCertificates.shared()
        try await PythonPeer.run(file: Self.file) { proxy in
            let proxies = ProxySettings(
                http: "http://127.0.0.1:\(proxy.port)", https: "http://127.0.0.1:\(proxy.port)")
            try await ScriptedServer.run(Self.script) { server in
                let answer = try await send(try Lab.request(server.port, "/a?b=c"), through: proxies)
                #expect(answer.text == "there")
                let line = try await proxy.nextLine()
                #expect(line == "GET http://127.0.0.1:\(server.port)/a?b=c yes")
                #expect(server.record.requests.first?.headers["Via"] == "1.1 lab")
            }
            try await ScriptedServer.run(tls: ScriptedTLS(all.good), Self.script) { server in
                var request = try Lab.request(server.port, scheme: "https", host: "localhost")
                request.headers["Authorization"] = "Bearer s3cret"
                let answer = try await send(request, through: proxies)
                #expect(answer.text == "there")
                let line = try await proxy.nextLine()
                #expect(line == "CONNECT localhost:\(server.port) yes")
                #expect(server.record.requests.first?.headers["Authorization"] == "Bearer s3cret")
            }
            try await ScriptedServer.run(tls: ScriptedTLS(all.wrongName), Self.script) { server in
                let error = await Lab.failure {
                    _ = try await send(try Lab.request(server.port, scheme: "https"), through: proxies)
                }
                #expect(error?.kind == .certificate && error?.certificate?.defects == [.wrongName])
                #expect(error?.certificate?.host == "127.0.0.1" && error?.certificate?.port == server.port)
                try await server.until { $0.openNow == 0 && $0.connections.count == 1 }
                #expect(server.record.bytesReceived == 0)
            }
        }
    }

    @Test("The user and the password are sent only to the proxy", .timeLimit(.minutes(5)))
    func credentials() async throws {
        let all = try TestCertificates.shared()
        try await PythonPeer.run(file: Self.file, ["lab:b@nch"]) { proxy in
            try await ScriptedServer.run(tls: ScriptedTLS(all.good), Self.script) { server in
                let right = ProxySettings(https: "http://lab:b%40nch@127.0.0.1:\(proxy.port)")
                let request = try Lab.request(server.port, scheme: "https")
                let answer = try await send(request, through: right)
                #expect(answer.text == "there")
                let line = try await proxy.nextLine()
                #expect(line == "CONNECT 127.0.0.1:\(server.port) yes")
                #expect(server.record.requests.allSatisfy { $0.headers["Proxy-Authorization"] == nil })
                let wrong = ProxySettings(https: "http://lab:s3cret@127.0.0.1:\(proxy.port)")
                let error = await Lab.failure { _ = try await send(request, through: wrong) }
                #expect(error?.kind == .proxy, "\(error?.message ?? "")")
                #expect(error?.message.contains("407") == true && error?.message.contains("s3cret") == false)
                #expect(error?.mayHaveBeenSent == false)
                #expect(server.record.connections.count == 1)
            }
        }
    }

    @Test("A missing proxy is reported as the cause", .timeLimit(.minutes(5)))
    func absent() async throws {
        try await RefusingPort.run { port in
            try await ScriptedServer.run(Self.script) { server in
                let proxies = ProxySettings(http: "http://127.0.0.1:\(port)")
                let error = await Lab.failure { _ = try await send(try Lab.request(server.port), through: proxies) }
                #expect([.proxy, .refused].contains(error?.kind) && error?.mayHaveBeenSent == false)
                #expect(error?.message.contains("proxy") == true, "\(error?.message ?? "")")
                #expect(server.record.connections.isEmpty)
            }
        }
    }

    @Test("Excepted hosts are reached directly", .timeLimit(.minutes(5)))
    func excepted() async throws {
        try await RefusingPort.run { port in
            try await ScriptedServer.run(Self.script) { server in
                for except in ["127.0.0.1", "example.org,127.0.0.0/8", "*"] {
                    let proxies = ProxySettings(environment: [
                        "http_proxy": "http://127.0.0.1:\(port)", "no_proxy": except,
                    ])
                    let answer = try await send(try Lab.request(server.port), through: proxies)
                    #expect(answer.text == "there")
                }
            }
        }
    }

    @Test("A proxy that breaks the tunnel, stalls or sends garbage is an error in time", .timeLimit(.minutes(5)))
    func broken() async throws {
        let answers = ["", "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nno", "SSH-2.0-OpenSSH\r\n", "stall"]
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            let answer = answers[connection.number]
            if answer == "stall" { try connection.stall() }
            try connection.send(answer)
        } during: { proxy in
            for _ in answers {
                var request = try Lab.request(1, scheme: "https")
                request.limits.connect = .milliseconds(500)
                let proxies = ProxySettings(https: "http://127.0.0.1:\(proxy.port)")
                let error = await Lab.failure { [request] in _ = try await send(request, through: proxies) }
                #expect(error?.mayHaveBeenSent == false, "\(error?.kind.description ?? ""): \(error?.message ?? "")")
            }
            let record = try await proxy.until { $0.openNow == 0 }
            #expect(record.requests.map(\.method) == ["CONNECT", "CONNECT", "CONNECT", "CONNECT"])
        }
    }

    @Test("An https proxy is judged by the given authorities", .timeLimit(.minutes(5)))
    func ownAuthority() async throws {
        let all = try TestCertificates.shared()
        try await TemporaryDirectory.run { folder in
            let file = try all.authority.write(into: folder, as: "authority").chain
            try await ScriptedServer.run(tls: ScriptedTLS(all.good), Self.script) { proxy in
                let proxies = ProxySettings(http: "https://127.0.0.1:\(proxy.port)")
                let request = try Lab.request(1, "/through", host: "lab.example")
                for authorities in [TrustDomain.Authorities.file(file), .systemAnd(file: file)] {
                    var configuration = HTTPClient.Configuration.standalone
                    configuration.trust = TrustDomain(authorities: authorities)
                    configuration.proxies = proxies
                    let answer = try await Lab.client(configuration) { try await $0.send(request) }
                    #expect(answer.text == "there")
                }
                let answer = try await send(request, through: proxies)
                #expect(answer.text == "there")
                #expect(proxy.record.requests.first?.target == "http://lab.example:1/through")
                let error = await Lab.failure { _ = try await send(request, through: proxies, trusting: false) }
                #expect(error?.kind == .proxy, "\(error?.message ?? "")")
            }
        }
    }
}

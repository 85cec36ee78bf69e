import Capabilities
import Cryptography
import HTTPClient
import Testing

@testable import AuthSignIn

@Suite("Loopback receiver", .timeLimit(.minutes(5)))
struct ReceiverTests {
    private let time = TestTime()

    /// Runs a receiver, calls `hostile`, and expects that the right redirect is still accepted.
    private func survives(
        _ hostile: @Sendable (_ address: String, _ state: String) async throws -> Void
    ) async throws {
        try await LoopbackReceiver.run(.init(now: time.clock)) { receiver in
            let state = receiver.state.revealed
            try await hostile(receiver.redirectURI.text, state)
            try await Curl.browse("\(receiver.redirectURI)?code=right-code&state=\(state)")
            guard case .code(let code) = try await receiver.answer() else {
                Issue.record("no code came")
                return
            }
            #expect(code.revealed == "right-code")
        }
    }

    @Test("The receiver gets the code and is reachable only from this machine")
    func works() async throws {
        try await survives { address, state in
            #expect(address.hasPrefix("http://127.0.0.1:") && state.utf8.count == 43)
        }
    }

    @Test("Responses without the state do not end the receiver")
    func wrongState() async throws {
        try await survives { address, state in
            let wrong = [
                "code=evil", "code=evil&state=", "code=evil&state=\(state.dropLast())", "code=evil&state=\(state)x",
                "code=evil&state=x&state=\(state)", "code=evil&state=\(state)&state=", "error=access_denied&state=x",
                "access_token=evil&state=x", "code=evil&STATE=\(state)", "code=evil#state=\(state)",
            ]
            for query in wrong {
                let page = try await Curl.browse("\(address)?\(query)")
                #expect(page.contains("400 Bad Request") && !page.contains("evil"), "\(query)")
            }
        }
    }

    @Test("Repeated or malformed parameters do not end the receiver")
    func malformed() async throws {
        try await survives { address, state in
            let wrong = [
                "code=a&code=b&state=\(state)", "code=a&error=b&state=\(state)", "code=a&access_token=b&state=\(state)",
                "code=%&state=\(state)", "code=%ff&state=\(state)", "code=a&state=\(state)&iss=a&iss=b",
            ]
            for query in wrong {
                let page = try await Curl.browse("\(address)?\(query)")
                #expect(page.contains(" 400 "), "\(query)")
            }
        }
    }

    @Test("Other methods, paths, hosts and web pages do not end the receiver, even with the state")
    func otherRequests() async throws {
        try await survives { address, state in
            let good = "\(address)?code=evil&state=\(state)"
            let root = String(address.dropLast("callback".count))
            let port = try #require(address.split(separator: ":").last?.split(separator: "/").first)
            let tries: [(status: String, arguments: [String])] = [
                ("400", ["-I", good]), ("405", ["-X", "PUT", good]), ("405", ["-X", "DELETE", good]),
                ("404", ["\(root)?code=evil&state=\(state)"]), ("404", ["\(address)/?code=evil&state=\(state)"]),
                ("421", ["-H", "Host: evil.example", good]), ("421", ["-H", "Host: evil.example:\(port)", good]),
                ("400", ["-H", "Host: localhost:\(port)", good]), ("400", ["-H", "Host: 127.0.0.1", good]),
                ("403", ["-H", "Origin: https://evil.example", good]),
                ("403", ["-H", "Origin: null", "-d", "code=evil&state=\(state)", address]),
                ("400", ["-H", "Content-Type: text/plain", "-d", "code=evil&state=\(state)", address]),
                ("400", ["-d", "code=evil&state=x", address]), ("400", ["-d", "", address]),
                ("413", ["-d", "code=\(String(repeating: "a", count: 70_000))", address]),
            ]
            for (status, arguments) in tries {
                let answer = try await Curl.output(["-i"] + arguments)
                #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(arguments) \(answer.prefix(60))")
                #expect(!answer.contains(state))
            }
        }
    }

    @Test("Only the first valid response counts")
    func twice() async throws {
        try await LoopbackReceiver.run(.init(now: time.clock)) { receiver in
            let good = "\(receiver.redirectURI)?state=\(receiver.state.revealed)"
            let answers = [("code=first", "You are signed in"), ("code=second", "410 Gone"), ("error=x", "410 Gone")]
            for (answer, expected) in answers {
                let page = try await Curl.browse("\(good)&\(answer)")
                #expect(page.contains(expected), "\(answer)")
            }
            guard case .code(let code) = try await receiver.answer() else {
                Issue.record("no code came")
                return
            }
            #expect(code.revealed == "first")
        }
    }

    @Test("The state is read from the redirect address when the server has no parameter for it")
    func stateInAddress() async throws {
        try await LoopbackReceiver.run(.init(now: time.clock)) { receiver in
            let address = try receiver.redirectURIWithState
            try await Curl.browse("\(address)&code=c&state=\(receiver.state.revealed)")
            guard case .code = try await receiver.answer() else {
                Issue.record("no code came")
                return
            }
        }
    }

    @Test("Tokens in the query get an expiry counted from now")
    func tokens() async throws {
        try await LoopbackReceiver.run(.init(now: time.clock)) { receiver in
            let long = String(repeating: "t", count: 12_000)
            try await Curl.browse(
                "\(receiver.redirectURI)?access_token=\(long)&refresh_token=r&expires_in=60&token_type=bearer"
                    + "&state=\(receiver.state.revealed)")
            guard case .tokens(let tokens) = try await receiver.answer() else {
                Issue.record("no tokens came")
                return
            }
            #expect(tokens.accessToken.revealed == long && tokens.refreshToken?.revealed == "r")
            #expect(tokens.expiry == TestTime.start.advanced(by: .seconds(60)))
        }
    }

    @Test("The page sends the fragment to the receiver with a script that its policy allows")
    func fragment() async throws {
        try await LoopbackReceiver.run(.init(now: time.clock)) { receiver in
            let page = try await Curl.browse(receiver.redirectURI.text)
            let script = try #require(page.firstMatch(of: /<script>(.*)<\/script>/)?.1)
            let hash = Base64.encode(Digest.sha256(Array(script.utf8)))
            #expect(page.contains("script-src 'sha256-\(hash)'; connect-src 'self'"))
            let answer = try await Curl.run(
                "-i", "-H", "Origin: http://\(receiver.redirectURI.server)", "-d",
                "access_token=from-fragment&state=\(receiver.state.revealed)", receiver.redirectURI.text)
            #expect(answer.contains("You are signed in") && !answer.contains("from-fragment"))
            guard case .tokens(let tokens) = try await receiver.answer() else {
                Issue.record("no tokens came")
                return
            }
            #expect(tokens.accessToken.revealed == "from-fragment" && tokens.expiry == nil)
        }
    }

    @Test("No page can be cached, framed or load anything")
    func rules() async throws {
        try await LoopbackReceiver.run(.init(now: time.clock)) { receiver in
            let good = "\(receiver.redirectURI)?code=c&state=\(receiver.state.revealed)"
            for address in [receiver.redirectURI.text, "\(receiver.redirectURI)?code=c&state=x", good, good] {
                let page = try await Curl.browse(address)
                #expect(
                    page.contains("default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"))
                #expect(page.contains("Cache-Control: no-store") && page.contains("Referrer-Policy: no-referrer"))
                #expect(page.contains("X-Content-Type-Options: nosniff") && !page.contains("Set-Cookie"))
            }
        }
    }

    @Test("The receiver can listen on ::1")
    func ipv6() async throws {
        var configuration = LoopbackReceiver.Configuration(now: time.clock)
        configuration.usesIPv6 = true
        try await LoopbackReceiver.run(configuration) { receiver in
            #expect(receiver.redirectURI.text.hasPrefix("http://[::1]:"))
            _ = try await Curl.run("-g", "\(receiver.redirectURI)?code=c&state=\(receiver.state.revealed)")
            guard case .code = try await receiver.answer() else {
                Issue.record("no code came")
                return
            }
        }
    }

    @Test("An error of the body is thrown, and the port is closed")
    func bodyFails() async throws {
        struct Broken: Error {}
        await #expect(throws: Broken.self) {
            try await LoopbackReceiver.run(.init(now: time.clock)) { _ in throw Broken() }
        }
    }
}

import Capabilities
import CoreTesting
import Testing

@Suite("Redaction of hostile texts", .timeLimit(.minutes(5)))
struct HostileTextTests {
    static let patterns = [
        "token=", "token:", "token: ", "token\":\"", "token'", "token\\", "token='", "cookie:", "cookie: a=", "Bearer ",
        "Bearer", "basic x", "authorization: basic ", "://", "://@", "://a:b@", "://a ", "-----BEGIN PRIVATE KEY-----",
        "-----END", "PRIVATE KEY", "eyJ.", "eyJ", "sk-", "a", ".", "a.", "\"", "\\", "aaaaaaab", " ", "\n", "ü",
        "OPENAI_API_KEY", "password",
    ]

    @Test("The time of redaction grows linearly with the text", arguments: patterns)
    func linear(_ pattern: String) {
        let redactor = Redactor()
        redactor.learn(Secret("aaaaaaaa"))
        redactor.learn(Secret("-----BEGIN PRIVATE KEY-----"))
        func text(_ size: Int) -> String { String(repeating: pattern, count: size / pattern.utf8.count) }
        func work(_ text: String) -> Double { threadSeconds { _ = redactor.redact(text) } }
        let (small, large) = (text(8 << 10), text(64 << 10))
        // The minimum of several runs, because the first has to allocate its memory.
        let few = (0..<3).map { _ in work(small) }.min() ?? 0
        // Eight times the text would take 64 times as long if every byte were compared with every other.
        #expect(work(large) < max(few, 0.000_2) * 24, "\(few)")
    }

    @Test("A text of a megabyte loses its secrets and nothing else")
    func megabyte() {
        let redactor = Redactor()
        redactor.learn(Secret("hunter2hunter2"))
        let line = "2026-01-02 the request 550e8400-e29b-41d4-a716-446655440000 took 12 ms, ü\n"
        let plain = String(repeating: line, count: (1 << 20) / line.utf8.count)
        #expect(redactor.redact(plain) == plain)
        let secrets = plain + "hunter2hunter2" + plain + "token=x\n" + plain
        #expect(redactor.redact(secrets) == plain + mark + plain + "token=\(mark)\n" + plain)
    }
}

import Capabilities
import JSON
import Testing

@Suite("Redaction of innocent texts")
struct InnocentTests {
    static let texts = [
        "", " ", "the token: it has expired", "token expired", "Bearer of news", "the token expired, sign in again",
        "invalid token: authentication failed", "the password: authentication required for this account",
        "Bearer authentication is needed here", "basic information about the model", "Basic settings/defaults apply",
        "no secret: openrouter is not there", "the cookie: it has expired and no other came",
        "authorization: Unauthorized, ask whoever runs the server", "token: \u{FC}berpr\u{FC}fung-fehlgeschlagen",
        "secret: ", "token=", "token:", "password", "Bearer", "Bearer ", "basic", "a token = a word",
        "{\"token\":\"\"}", "{\"token\":null}", "{\"tokens\":\"12 of 4096\"}", "max_tokens=4096",
        "tokens: 123456789012",
        "prompt_tokens=12 completion_tokens=34", "passwords=none", "authenticate=yes", "tokenizer=cl100k_base",
        "https://a.example/x", "https://a.example:8443/v1/models?limit=10", "http://127.0.0.1:11434",
        "https://a.example/users/me@b.example", "https://a.example?mail=me@b.example", "ssh://git@a.example/x.git",
        "sftp://me@lab.local:22/home", "write to me@a.example", "git@a.example:x/y.git", "file:///home/me",
        "see <https://a.example> or ask me@b.example", "https://[::1]:8443/", "a://b",
        "E6:9D:3B:AD:28:58:63:A7:DC:2A:32:63:8C:52:CA:5B:5C:A7:FA:9A:6D:0F:E2:53:8A:D6:AB:0F:BB:63:99:B3",
        "550e8400-e29b-41d4-a716-446655440000", "the request 550e8400-e29b-41d4-a716-446655440000 failed",
        "/blobs/sha256/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "2026-01-02T03:04:05.678Z", "v1.2.3-beta+build.45",
        "gpt-4o-mini-2024-07-18", "claude-sonnet-4-5-20250929", "meta-llama/Llama-3.1-8B-Instruct", "sk-learn",
        "hf_hub",
        "pat_list", "npm_config_user_agent", "eyJ is how such tokens begin", "AIza", "ASIA-PACIFIC-SOUTHEAST-REGION-1",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIB",
        "martlet auth trust add lab.local:8443 --fingerprint AB:CD", "auth.token-expired", "code=abc&state=def",
        "\u{1F511} \u{1F510}", "\u{0}\u{1}\u{1B}[0m", "a\r\nb\r\n",
    ]

    @Test("Ordinary sentences, addresses, fingerprints, ids and hashes stay", arguments: texts)
    func stays(_ text: String) {
        #expect(Redactor().redact(text) == text)
    }

    @Test("Innocent texts stay when other secrets are known")
    func known() {
        let redactor = Redactor()
        redactor.learn(Secret("tr0ub4dor&3"))
        for text in Self.texts { #expect(redactor.redact(text) == text) }
    }

    @Test("Values other than text, and names of members, stay")
    func values() {
        let value: JSON = [
            "token": 12, "list": [1, true, nil, 2.5], "password=x": ["sk-name": "plain"],
        ]
        #expect(Redactor().redact(value) == value)
    }
}

import Capabilities
import Testing

/// The text with which the redactor replaces a secret.
let mark = Redactor.mark

@Suite("Redaction by shape")
struct ShapeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        let clean: String
        var testDescription: String { String(text.prefix(60)) }

        init(_ text: String, _ clean: String) {
            (self.text, self.clean) = (text, clean)
        }
    }

    private static let letters = "0123456789abcdefghijABCDEFGHIJ0123456789abcdef"
    /// The prefixes of keys, each followed by enough characters for a key.
    static let keys =
        [
            "sk-", "sk-proj-", "sk-ant-api03-", "sk-or-v1-", "sk_live_", "rk_live_", "pk_live_", "ghp_", "gho_", "ghu_",
            "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xoxa-", "xapp-", "hf_", "AIza", "ya29.", "npm_",
            "pypi-", "dop_v1_", "pat_", "gsk_", "xai-",
        ].map { $0 + letters } + ["AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE"]

    @Test("Keys with a known prefix are removed anywhere", arguments: keys)
    func key(_ key: String) {
        let redactor = Redactor()
        for (before, after) in [
            ("", ""), ("the key ", " is wrong"), ("'", "'"), ("(", ")"), ("{\"k\":\"", "\"}"),
            ("https://a.example/", "/x"),
            ("k=", "&b=1"), ("ü", "ü"), ("\n", "\n"),
        ] {
            #expect(redactor.redact(before + key + after) == before + mark + after)
        }
    }

    static let signed = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

    static let rows: [Row] = [
        Row("it said \(signed) is old", "it said \(mark) is old"),
        Row("Authorization: Bearer abcDEF123456", "Authorization: Bearer \(mark)"),
        Row("authorization: bearer abc/def+123=", "authorization: bearer \(mark)"),
        Row("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic \(mark)"),
        Row("{\"Authorization\": \"Basic dXNlcjpwYXNz\"}", "{\"Authorization\": \"\(mark)\"}"),
        Row("curl -H 'Authorization: Bearer abcDEF123456'", "curl -H 'Authorization: Bearer \(mark)'"),
        Row("Authorization: opaque-token-0123456789", "Authorization: \(mark)"),
        Row("/cb?code=1&access_token=abc&state=x", "/cb?code=1&access_token=\(mark)&state=x"),
        Row("refresh_token=a%2Fb", "refresh_token=\(mark)"), Row("id_token=x;y", "id_token=\(mark);y"),
        Row("token=1", "token=\(mark)"), Row("--token=hunter2 --x=1", "--token=\(mark) --x=1"),
        Row("--password=hunter2", "--password=\(mark)"), Row("PASSWORD=hunter2", "PASSWORD=\(mark)"),
        Row("OPENAI_API_KEY=abc\nX=1", "OPENAI_API_KEY=\(mark)\nX=1"),
        Row("export KAMIWAZA_API_KEY='a b'", "export KAMIWAZA_API_KEY='\(mark)'"),
        Row("MARTLET_PASSPHRASE=tree", "MARTLET_PASSPHRASE=\(mark)"), Row("db_password=x", "db_password=\(mark)"),
        Row("auth.token=x", "auth.token=\(mark)"), Row("client_secret=x&a=1", "client_secret=\(mark)&a=1"),
        Row("X-Api-Key: 0123456789ab", "X-Api-Key: \(mark)"), Row("x-api-key:0123456789ab", "x-api-key:\(mark)"),
        Row("{\"password\":\"hunter2\",\"a\":1}", "{\"password\":\"\(mark)\",\"a\":1}"),
        Row("{\"password\" : \"hunter2\"}", "{\"password\" : \"\(mark)\"}"),
        Row("{\"password\":\"hun\\\"ter2\"}", "{\"password\":\"\(mark)\"}"),
        Row("{\"password\":\"back\\\\\"}", "{\"password\":\"\(mark)\"}"),
        Row("{'access_token': 'abc', 'b': 2}", "{'access_token': '\(mark)', 'b': 2}"),
        Row("\"{\\\"token\\\":\\\"abc\\\",\\\"b\\\":1}\"", "\"{\\\"token\\\":\\\"\(mark)\\\",\\\"b\\\":1}\""),
        Row("{\"token\":\"ends here", "{\"token\":\"\(mark)"),
        Row("password: hunter2hunter2", "password: \(mark)"),
        Row("Cookie: sid=0123; csrf=4567\nHost: a", "Cookie: \(mark)\nHost: a"),
        Row("Set-Cookie: sid=0123; Path=/", "Set-Cookie: \(mark)"),
        Row("code_verifier=dBjftJeZ4CVP&x=1", "code_verifier=\(mark)&x=1"),
        Row("https://me:secret@a.example/x", "https://me:\(mark)@a.example/x"),
        Row("http://user:p:w@127.0.0.1:80", "http://user:\(mark)@127.0.0.1:80"),
        Row("socks5://me:secret@proxy:1080 failed", "socks5://me:\(mark)@proxy:1080 failed"),
        Row("https://:secret@a.example", "https://:\(mark)@a.example"),
        Row("https://abcdef@a.example/", "https://\(mark)@a.example/"),
        Row("from http://a:b@c to http://d:e@f", "from http://a:\(mark)@c to http://d:\(mark)@f"),
        Row(
            "x\n-----BEGIN PRIVATE KEY-----\nMIIE\nvQ==\n-----END PRIVATE KEY-----\ny",
            "x\n-----BEGIN PRIVATE KEY-----\(mark)-----END PRIVATE KEY-----\ny"),
        Row(
            "-----BEGIN OPENSSH PRIVATE KEY-----\\nabc\\n-----END OPENSSH PRIVATE KEY-----",
            "-----BEGIN OPENSSH PRIVATE KEY-----\(mark)-----END OPENSSH PRIVATE KEY-----"),
        Row("-----BEGIN RSA PRIVATE KEY-----\nabc", "-----BEGIN RSA PRIVATE KEY-----\(mark)"),
        Row(
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQHY\n=x\n-----END PGP PRIVATE KEY BLOCK-----\nz",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\(mark)-----END PGP PRIVATE KEY BLOCK-----\nz"),
        Row("-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQHY", "-----BEGIN PGP PRIVATE KEY BLOCK-----\(mark)"),
        Row(
            "-----BEGIN PGP PUBLIC KEY BLOCK-----\nmQEN\n-----END PGP PUBLIC KEY BLOCK-----",
            "-----BEGIN PGP PUBLIC KEY BLOCK-----\nmQEN\n-----END PGP PUBLIC KEY BLOCK-----"),
        // A wrong closing line does not protect the key after it.
        Row(
            "-----BEGIN PRIVATE KEY-----\na\n-----END X-----\n-----BEGIN PRIVATE KEY-----\nb\n-----END PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\(mark)-----END X-----\n"
                + "-----BEGIN PRIVATE KEY-----\(mark)-----END PRIVATE KEY-----"),
    ]

    @Test("Values of secret-like names, passwords in URLs, and private keys are removed", arguments: rows)
    func row(_ row: Row) {
        #expect(Redactor().redact(row.text) == row.clean)
    }

    @Test("Redacting a redacted text changes nothing", arguments: rows)
    func again(_ row: Row) {
        let once = Redactor().redact(row.text)
        #expect(Redactor().redact(once) == once)
    }
}

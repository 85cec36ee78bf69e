import Capabilities
import CoreTesting
import Testing

@testable import AuthVault

@Suite("Secret import")
struct SecretImportTests {
    private func read(_ text: String) -> SecretImport { SecretImport(parsing: Array(text.utf8)) }

    private func pairs(_ text: String) -> [String] {
        read(text).secrets.map { "\($0.name)=\($0.secret.text)" }
    }

    @Test(
        "Lines of a .env file are parsed",
        arguments: [
            ("OPENAI_API_KEY=sk-1", ["openai=sk-1"]),
            ("# remark\n\nexport ANTHROPIC_API_KEY='a b'\r\n", ["anthropic=a b"]),
            ("X=\"a\\n\\\"b\\\"\\\\ \\$HOME \\q\"  # remark", ["x=a\n\"b\"\\ $HOME \\q"]),
            ("X='a\\n#b' # remark", ["x=a\\n#b"]), ("X=a#b", ["x=a#b"]), ("X=a b # remark", ["x=a b"]),
            ("  kamiwaza.pat = p=q==  ", ["kamiwaza.pat=p=q=="]), ("_API_KEY=x", []), ("\u{FEFF}X=1", ["x=1"]),
            ("OPEN_ROUTER_API_KEY=1\nopen_router.x=2", ["open_router=1", "open_router.x=2"]), ("", []), ("\n\n", []),
        ])
    func lines(text: String, expected: [String]) {
        #expect(pairs(text) == expected)
    }

    @Test("A JSON object is parsed, with or without variable names")
    func json() {
        #expect(
            pairs(" \n{\"kamiwaza.pat\": \"a=b\", \"OPENAI_API_KEY\": \"sk-1\"}") == [
                "kamiwaza.pat=a=b", "openai=sk-1",
            ])
    }

    @Test(
        "Problems show the line and never quote the text",
        arguments: [
            ("A=1\nsk-leaked\nB=2", 2), ("A=1\n\nB='sk-leaked", 3), ("B=\"sk-leaked\" more", 1), ("A=", 1),
            ("sk-leaked and so on=1", 1), ("A=sk-leaked\nA_API_KEY=sk-leaked2\n", 2), ("A=\u{0}sk-leaked", 1),
            ("{\n\"a\": \"sk-leaked\n\"}", 2), ("{\"a\": 1,\n\"b\": [\"sk-leaked\"]}", 1),
            ("{\"sk leaked\": \"sk-leaked\"}", 1),
            ("{\"a\": sk-leaked}", 1), ("{\"a\": \"sk-leaked\",\n \"a\": \"sk-leaked\"}", 2),
            ("{\"a\": \"sk-leaked\",\n \"A\": \"sk-leaked\"}", 2),
        ])
    func problems(text: String, line: Int) {
        let found = read(text)
        #expect(found.problems.first?.line == line)
        #expect(!found.problems.contains { $0.message.contains("leaked") })
    }

    @Test("Oversized values and invalid UTF-8 are problems")
    func limits() {
        let large = read("A=" + String(repeating: "x", count: (64 << 10) + 1))
        #expect(large.secrets.isEmpty && large.problems.count == 1)
        #expect(SecretImport(parsing: [0x41, 0x3D, 0xFF, 0x0A, 0x42, 0x3D, 0x31]).problems.map(\.line) == [1])
        #expect(SecretImport(parsing: [UInt8](repeating: 0x41, count: (16 << 20) + 1)).problems.count == 1)
    }

    @Test("Random texts neither crash the parser nor break its rules")
    func random() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "A", "=", "'", "\"", "\\", "\n", "#", " ", "{", "}", ":", ",", "export ", "\r", "é", "_API_KEY", "\u{0}",
            "n",
        ]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            let found = read(text.joined())
            for (name, secret) in found.secrets {
                #expect(SecretRules.isName(name.text) && !secret.isEmpty, "seed \(seed)")
            }
            #expect(Set(found.secrets.map(\.name)).count == found.secrets.count, "seed \(seed)")
        }
    }
}

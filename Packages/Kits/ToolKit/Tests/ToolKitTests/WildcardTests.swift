import Testing

@testable import ToolKit

@Suite("Path patterns")
struct WildcardTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let pattern: String
        let fits: [String]
        let fitsNot: [String]

        init(_ pattern: String, _ fits: [String], not fitsNot: [String]) {
            (self.pattern, self.fits, self.fitsNot) = (pattern, fits, fitsNot)
        }

        var testDescription: String { pattern }
    }

    @Test(
        "A pattern matches these paths and no others",
        arguments: [
            Case("*.swift", ["a.swift", ".swift"], not: ["a/b.swift", "a.swiftx", "swift"]),
            Case("**/*.swift", ["a.swift", "a/b/c.swift"], not: ["a.c"]),
            Case("**/b", ["b", "a/b", "a/a/b"], not: ["ab", "b/a"]),
            Case("src/**", ["src/a", "src/a/b"], not: ["src", "xsrc/a"]),
            Case("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], not: ["ab", "a/bx", "xa/b"]),
            Case("a**b", ["ab", "axb"], not: ["a/b"]),
            Case("?.c", ["a.c", "ä.c", "日.c"], not: ["/.c", "ab.c", ".c"]),
            Case("[a-c]x", ["ax", "cx"], not: ["dx", "x", "Ax"]),
            Case("[!a-c]x", ["dx", "äx"], not: ["ax", "/x"]),
            Case("[äö]", ["ä", "ö"], not: ["a", "ü"]),
            Case("[]x]", ["]", "x"], not: ["a", "[]x]"]),
            Case("[[:digit:]-]", ["5", "-"], not: ["a", ":"]),
            Case("[a\\]b]", ["]", "a"], not: ["\\"]),
            Case("\\*", ["*"], not: ["a", "\\*"]),
            Case("*.{c,h}", ["a.c", "a.h"], not: ["a.{c,h}", "a.o"]),
            Case("{a,b{1,2}}/x", ["a/x", "b1/x", "b2/x"], not: ["b/x", "b{1,2}/x"]),
            Case("{a}", ["{a}"], not: ["a"]),
            Case("a{,b}", ["a", "ab"], not: ["a{,b}"]),
            Case("./a", ["a"], not: ["./a"]),
        ])
    func fits(_ example: Case) throws {
        let pattern = try PathPattern(example.pattern)
        for path in example.fits { #expect(pattern.matches(Array(path.utf8)), "\(path)") }
        for path in example.fitsNot { #expect(!pattern.matches(Array(path.utf8)), "\(path)") }
    }

    @Test(
        "Invalid patterns, and patterns that expand too far, are rejected", arguments: ["", "/a", "[a", "a\\", "a\0b"])
    func refused(_ pattern: String) {
        #expect(throws: WorkspaceError.self) { try PathPattern(pattern) }
        #expect(throws: WorkspaceError.self) { try PathPattern(String(repeating: "{a,b}", count: 20)) }
        #expect(throws: WorkspaceError.self) { try PathPattern(String(repeating: "*a", count: 200)) }
    }

    @Test("The maximum number of stars does not multiply the work")
    func stars() throws {
        let pattern = try PathPattern(
            String(repeating: "*a", count: 15) + "/**/" + String(repeating: "*a", count: 15) + "b")
        let path = String(repeating: "a", count: 200) + "/" + String(repeating: "a/", count: 200)
        #expect(!pattern.matches(Array(path.utf8)))
    }
}

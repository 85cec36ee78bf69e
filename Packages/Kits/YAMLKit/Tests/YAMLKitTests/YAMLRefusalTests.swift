import CoreTesting
import JSON
import Testing
import YAMLKit

@Suite("YAML errors")
struct YAMLRefusalTests {
    struct Case: CustomTestStringConvertible {
        let text: String
        let kind: YAMLError.Kind
        let line: Int
        let column: Int
        let words: String

        var testDescription: String { "\(text.debugDescription.prefix(60))" }

        init(_ text: String, _ kind: YAMLError.Kind, _ line: Int, _ column: Int, _ words: String) {
            (self.text, self.kind, self.line, self.column, self.words) = (text, kind, line, column, words)
        }
    }

    @Test(
        "An error has the kind, the reason and the position",
        arguments: [
            Case("a: 1\na: 2", .duplicateKey, 2, 1, "first is in line 1"),
            Case("a: !!str 1", .unsupported, 1, 4, "tags"),
            Case("a: !mine {}", .unsupported, 1, 4, "tags"),
            Case("!x a: 1", .unsupported, 1, 1, "tags"),
            Case("a: &x {b: 1}\nc:\n  <<: *x", .unsupported, 3, 3, "merge keys"),
            Case("a: 1\n---\nb: 2", .unsupported, 2, 1, "second document"),
            Case("a: *nobody", .syntax, 1, 4, "nobody"),
            Case("? [a, b]\n: c", .unsupported, 1, 3, "must be text"),
            Case("a:\n\t- b", .syntax, 2, 1, "indent with spaces"),
            Case("a: b: c", .syntax, 1, 5, "quote"),
            Case("a: [1, 2", .syntax, 2, 1, "flow sequence"),
            Case("a: \"open", .syntax, 1, 9, "end of stream"),
            Case("a\nb: c", .syntax, 2, 2, "quote"),
            Case("a: `x", .syntax, 1, 4, "quote"),
            Case("a: 1e999", .number, 1, 4, "quote it"),
            Case("a: \u{1}", .syntax, 1, 4, "control character"),
        ])
    func refusal(of one: Case) throws {
        let error = try #require(throws: YAMLError.self) {
            try YAMLDocument(parsing: Array(one.text.utf8), name: "f.yaml")
        }
        #expect(error.kind == one.kind)
        #expect(error.message.contains(one.words), "\(error.message)")
        #expect("\(error.line):\(error.column)" == "\(one.line):\(one.column)", "\(error.message)")
        #expect(error.located(in: "f.yaml").hasPrefix("f.yaml:\(one.line):\(one.column): "))
    }

    @Test("A text that is not UTF-8 is rejected")
    func encoding() throws {
        let error = try #require(throws: YAMLError.self) {
            try YAMLDocument(parsing: Array("a: b\nc: ".utf8) + [0xFF, 0xFE], name: "f")
        }
        #expect(error.kind == .syntax && error.line == 2, "\(error)")
        #expect(throws: YAMLError.self) { try YAMLDocument(parsing: [0xFF, 0xFE, 0x61, 0x00], name: "f") }
    }

    @Test("A small text that expands to billions of values is rejected")
    func billionLaughs() throws {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...12 {
            text += "a\(level): &a\(level) [" + [String](repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            text += "]\n"
        }
        let error = try #require(throws: YAMLError.self) { try YAMLDocument(parsing: Array(text.utf8), name: "f") }
        #expect(error.kind == .limit && error.message.contains("100000"), "\(error.message)")
        #expect(error.line == 5)
    }

    @Test("A small text that expands to gigabytes is rejected")
    func largeAliases() throws {
        let long = String(repeating: "A", count: 100_000)
        let uses = [String](repeating: "*a", count: 2000).joined(separator: ", ")
        for anchored in ["\"\(long)\"", "{? \"\(long)\" : 1}", "[[\(long)]]"] {
            let text = "a: &a \(anchored)\nf:\n  [\(uses)]"
            let error = try #require(throws: YAMLError.self) { try YAMLDocument(parsing: Array(text.utf8), name: "f") }
            #expect(error.kind == .limit && error.message.contains("\(16 << 20) bytes"), "\(error.message)")
            #expect(error.line == 3)
        }
        // The same number of short texts is allowed.
        let few = "a: &a text\nf: [\(uses)]"
        #expect(try YAMLDocument(parsing: Array(few.utf8), name: "f").value["f"]?.array?.count == 2000)
    }

    @Test("A text that is nested too deep is rejected, even through aliases")
    func depth() throws {
        let deep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        let error = try #require(throws: YAMLError.self) { try YAMLDocument(parsing: Array(deep.utf8), name: "f") }
        #expect(error.kind == .limit && error.message.contains("64"))
        var text = "a0: &a0 [[[[[[[[[[x]]]]]]]]]]\n"
        for level in 1...8 { text += "a\(level): &a\(level) [[[[[[[[[*a\(level - 1)]]]]]]]]]\n" }
        #expect(throws: YAMLError.self) { try YAMLDocument(parsing: Array(text.utf8), name: "f") }
        let hostile = [UInt8](repeating: UInt8(ascii: "["), count: 3_000_000)
        #expect(throws: YAMLError.self) { try YAMLDocument(parsing: hostile, name: "f") }
    }

    @Test("A text over the size limit is rejected")
    func size() throws {
        let error = try #require(throws: YAMLError.self) {
            try YAMLDocument(parsing: [UInt8](repeating: 0x23, count: 5 << 20), name: "f")
        }
        #expect(error.kind == .limit && error.message.contains("\(4 << 20)"))
    }

    @Test("A randomly damaged text is read or rejected without a crash")
    func random() throws {
        var generator = SeededGenerator(seed: 71)
        let text = Array("name: x\nsteps:\n  - id: a\n    with: {b: [1, *c], d: \"e\"}\n  - &c |\n    text\n".utf8)
        var refused = 0
        for _ in 0..<2_000 {
            var damaged = text
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                damaged[Int.random(in: damaged.indices, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            do throws(YAMLError) {
                _ = try YAMLDocument(parsing: damaged, name: "f").value.text()
            } catch {
                refused += 1
                #expect(error.line >= 1 && error.column >= 1 && !error.message.isEmpty)
            }
        }
        #expect(refused > 1_000)
    }
}

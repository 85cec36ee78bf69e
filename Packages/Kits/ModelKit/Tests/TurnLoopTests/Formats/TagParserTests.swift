import Capabilities
import CoreTesting
import JSON
import Testing

@testable @_spi(Fuzzing) import TurnLoop

@Suite("Tag parser")
struct TagParserTests {
    /// Reads a text in pieces.
    private func read(_ pieces: [String]) -> [TagParser.Piece] {
        var parser = TagParser(next: 1)
        var found: [TagParser.Piece] = []
        for piece in pieces { parser.receive(piece, into: &found) }
        parser.finish(into: &found)
        return TaggedText.joined(found)
    }

    private static func call(_ number: Int, _ name: String = "read", _ input: JSON = [:]) -> TagParser.Piece {
        .call(ToolCall(id: "tagged-\(number)", name: name, input: input))
    }

    private static func broken(_ piece: TagParser.Piece?) -> MalformedCall? {
        if case .malformed(let call)? = piece { call } else { nil }
    }

    static let texts = [
        "Just text with <b>tags</b> and <tool_cal> and a < b.",
        #"Let me see.\#n<tool_call>{"name":"read","arguments":{"path":"a"}}</tool_call>\#nAnd then?"#,
        #"<tool_call>{"name":"a"}</tool_call><tool_call> {"name":"b","input":{"x":[1,{}]}} </tool_call>"#,
        #"<tool_call>{"name":"w","arguments":{"text":"say </tool_call> and \"<tool_call>\""}}</tool_call>."#,
        #"<tool_call>{"name":"read",}</tool_call> sorry <tool_call>{"name":"read"}</tool_call>"#,
        #"<tool_call>{"name":"a","arguments":{"t":"no end}}</tool_call> and text <tool_call>{"name":"b"}</tool_call>"#,
        "Write `<tool_call>{}</tool_call>` like so:\n```xml\n<tool_call>{\"name\":\"x\"}</tool_call>\n```\n"
            + #"<tool_call>{"name":"real"}</tool_call>"#,
        "```a``` <tool_call>{\"name\":\"b\"}</tool_call> ``` ` <tool_call>{}</tool_call>",
        "The tag <tool_call> begins a call: <tool_call>{\"name\":\"read\"}</tool_call>",
        "<tool_call>read a.txt</tool_call> 漢字 é 👩‍👩‍👧 <tool_call>{\"name\":\"漢\"}</tool_call>",
        "<tool_call>\n```json\n{\"name\":\"fenced\"}\n```\n</tool_call>",
        #"cut <tool_call>{"name":"read","arguments":{"pa"#, #"forgot <tool_call>{"name":"read"}"#,
        #"half <tool_call>{"name":"read"}</tool_"#, "spoken of: <tool_call> and no more", "<tool_", "a<<tool_call",
        "<tool_call>{\"a\":\"\n</tool_call>b",
        "~~~\n<tool_call>{}</tool_call>\n~~~ x\n</tool_call>\n~~~\n<tool_call>{}",
    ]

    @Test("The result does not depend on how the text is split", arguments: texts)
    func cuts(text: String) {
        let whole = read([text])
        let scalars = Array(text.unicodeScalars).map { String($0) }
        #expect(read(scalars) == whole)
        for cut in 0...scalars.count {
            #expect(read([scalars[..<cut].joined(), scalars[cut...].joined()]) == whole, "cut at \(cut)")
        }
    }

    @Test("The text around a call is kept")
    func around() {
        #expect(
            read([Self.texts[1]]) == [
                .text("Let me see.\n"), Self.call(1, "read", ["path": "a"]), .text("\nAnd then?"),
            ])
        #expect(read([Self.texts[0]]) == [.text(Self.texts[0])])
    }

    @Test("Several calls in one answer are found")
    func several() {
        #expect(read([Self.texts[2]]) == [Self.call(1, "a"), Self.call(2, "b", ["x": [1, [:]]])])
    }

    @Test("A closing tag inside a string does not end a call")
    func closingTagInString() {
        #expect(
            read([Self.texts[3]]) == [
                Self.call(1, "w", ["text": "say </tool_call> and \"<tool_call>\""]), .text("."),
            ])
    }

    @Test("A call with broken JSON is reported for repair, and parsing continues after it")
    func brokenJSON() throws {
        let pieces = read([Self.texts[4]])
        let call = try #require(Self.broken(pieces.first))
        #expect(call.text == #"{"name":"read",}"#)
        #expect(call.reason.hasPrefix("it is not valid JSON: line 1, column 16"))
        #expect(Array(pieces.dropFirst()) == [.text(" sorry "), Self.call(2)])
    }

    @Test("The end of a call with an unclosed string is found")
    func unclosedString() throws {
        let pieces = read([Self.texts[5]])
        #expect(try #require(Self.broken(pieces.first)).text == #"{"name":"a","arguments":{"t":"no end}}"#)
        #expect(Array(pieces.dropFirst()) == [.text(" and text "), Self.call(2, "b")])
    }

    @Test("Tags in fences and backticks stay text")
    func code() {
        let pieces = read([Self.texts[6]])
        #expect(pieces.count == 2)
        #expect(pieces.last == Self.call(1, "real"))
        let inline = read([Self.texts[7]])
        #expect(Array(inline.prefix(2)) == [.text("```a``` "), Self.call(1, "b")])
        #expect(inline.count == 3)
        let tildes = read([Self.texts[18]])
        #expect(tildes.first == .text("~~~\n<tool_call>{}</tool_call>\n~~~ x\n</tool_call>\n~~~\n"))
        #expect(Self.broken(tildes.last)?.text == "{}")
    }

    @Test("A tag that is only mentioned stays text")
    func spokenOf() {
        #expect(read([Self.texts[8]]) == [.text("The tag <tool_call> begins a call: "), Self.call(1)])
        #expect(read([Self.texts[14]]) == [.text(Self.texts[14])])
        let long = "<tool_call> " + String(repeating: "prose ", count: 1000) + "</tool_call>"
        #expect(read([long]) == [.text(long)])
    }

    @Test("A call without braces is reported to the model")
    func noBraces() throws {
        let pieces = read([Self.texts[9]])
        #expect(try #require(Self.broken(pieces.first)).text == "read a.txt")
        #expect(pieces.last == Self.call(2, "漢"))
    }

    @Test("The variants that models write are understood")
    func variants() {
        #expect(read([Self.texts[10]]) == [Self.call(1, "fenced")])
        #expect(
            read([#"<tool_call>{"name":"a","parameters":{"x":1}}</tool_call>"#]) == [Self.call(1, "a", ["x": 1])])
        #expect(
            read([#"<tool_call>{"name":"a","arguments":"{\"x\":1}"}</tool_call>"#]) == [Self.call(1, "a", ["x": 1])])
        #expect(read([#"<tool_call>{"name":"a","arguments":null}</tool_call>"#]) == [Self.call(1, "a")])
    }

    @Test(
        "An invalid call is reported with its problem",
        arguments: [
            (#"{"arguments":{}}"#, "the tool's name is missing"), (#"{"name":""}"#, "the tool's name is missing"),
            (#"{"name":"a","arguments":[1]}"#, "must be a JSON object, not an array"),
            (#"{"name":"a","arguments":"x"}"#, "the arguments are not valid JSON"), ("[1]", "must be a JSON object"),
            (#"{"name":"a"} {"name":"b"}"#, "it is not valid JSON"),
        ])
    func wrong(content: String, reason: String) throws {
        let call = try #require(Self.broken(read(["<tool_call>\(content)</tool_call>"]).first))
        #expect(call.reason.contains(reason))
        #expect(call.text == content)
    }

    @Test("At the end, a complete call without its closing tag is accepted, and an incomplete one is reported")
    func unclosed() throws {
        #expect(read([Self.texts[12]]) == [.text("forgot "), Self.call(1)])
        #expect(read([Self.texts[13]]) == [.text("half "), Self.call(1)])
        let cut = read([Self.texts[11]])
        #expect(cut.first == .text("cut "))
        #expect(try #require(Self.broken(cut.last)).reason == "the call is not closed with </tool_call>")
    }

    @Test("Text that cannot be part of a call is emitted at once")
    func prompt() {
        var parser = TagParser(next: 1)
        var pieces: [TagParser.Piece] = []
        parser.receive("Hello <", into: &pieces)
        #expect(pieces == [.text("Hello ")])
        parser.receive("b> there", into: &pieces)
        #expect(pieces == [.text("Hello "), .text("<b> there")])
    }

    @Test("An endless call is not held in memory")
    func tooLong() throws {
        var parser = TagParser(next: 1)
        var pieces: [TagParser.Piece] = []
        parser.receive(#"<tool_call>{"name":"a","arguments":{"x":""#, into: &pieces)
        let part = String(repeating: "x", count: 1 << 20)
        for _ in 0..<6 { parser.receive(part, into: &pieces) }
        #expect(pieces.isEmpty)
        parser.receive(#""}}</tool_call> after"#, into: &pieces)
        parser.finish(into: &pieces)
        let call = try #require(Self.broken(pieces.first))
        #expect(call.reason.contains("longer than"))
        #expect(call.text.utf8.count == TagParser.longestProse)
        #expect(pieces.last == .text(" after"))
    }

    @Test("An endless number of calls is not held in memory")
    func tooMany() {
        let pieces = read([String(repeating: #"<tool_call>{"name":"a"}</tool_call>"#, count: TagParser.mostCalls + 2)])
        #expect(pieces.count == TagParser.mostCalls + 1)
    }

    @Test("Text made to be slow is parsed quickly", .timeLimit(.minutes(5)))
    func hostile() {
        let odd = String(repeating: #"<tool_call>{"\"</tool_call>"#, count: 200)
        #expect(read([odd]).count == 200)
        let nested = String(repeating: "<tool_call>", count: 100_000)
        #expect(read([nested]) == [.text(nested)])
    }

    @Test("Random text is parsed alike whole and in pieces", arguments: 1...300)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let words = [
            "<tool_call>", "</tool_call>", "{", "}", "\"", "\\", "`", "```", "\n", " ", "~~~", "<", "text", "é", "name",
            #"{"name":"a"}"#, ":", "<tool", "_call>",
        ]
        var text = ""
        for _ in 0..<Int.random(in: 1...60, using: &random) { text += words.randomElement(using: &random) ?? "" }
        #expect(TaggedText.readsAlike(Array(text.utf8)), "seed \(seed): \(text)")
    }
}

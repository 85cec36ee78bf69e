import Capabilities
import CoreTesting
import JSON
import ModelKit
import Testing

@Suite("Encoding of messages", .timeLimit(.minutes(5)))
struct CodingTests {
    /// Every kind of part, with optional values.
    private static let parts: [Message.Part] = [
        .text("a\u{0}"), .refusal("No."), .reasoning(Reasoning("Hm", signature: "x", sealed: "y")),
        .reasoning(Reasoning("")), .attachment(Attachment(name: "ü.png", mediaType: "image/png", bytes: [0, 255])),
        .call(ToolCall(id: "1", name: "ls", input: ["path": "a"])),
        .call(ToolCall(id: "2", name: "web", input: .null, isDone: true)),
        .malformedCall(MalformedCall(id: "3", name: "x", text: "{", reason: "cut")),
        .result(
            ToolResult(
                call: "1", content: "é", isError: true,
                duration: Duration(secondsComponent: 2, attosecondsComponent: 5), exitCode: -1)),
        .result(ToolResult(call: "2", content: "")),
    ]

    /// The format in existing stores, of the gateway and of Chat. It must never change.
    private static let stored = #"""
        [{"type":"text","text":"a\u0000"},{"type":"refusal","text":"No."},{"type":"reasoning","text":"Hm",
        "signature":"x","sealed":"y"},{"type":"reasoning","text":""},{"type":"attachment","name":"ü.png",
        "media_type":"image/png","data":"AP8="},{"type":"call","id":"1","name":"ls","input":{"path":"a"}},
        {"type":"call","id":"2","name":"web","input":null,"done":true},{"type":"malformed_call","id":"3","name":"x",
        "text":"{","reason":"cut"},{"type":"result","call":"1","content":"é","error":true,"duration":[2,5],
        "exit_code":-1},{"type":"result","call":"2","content":""}]
        """#

    @Test("The stored form has not changed")
    func form() throws {
        #expect(try MessageCoding.inline.json(Self.parts) == JSON(parsing: Self.stored))
        #expect(try MessageCoding.inline.parts(text: Self.stored) == Self.parts)
    }

    @Test("Every part of a result comes back, in a form that has not changed")
    func resultParts() throws {
        let result = ToolResult(
            call: "1",
            parts: [
                .text("a"), .media(Attachment(name: "image", mediaType: "image/png", bytes: [0, 255])),
                .resource(ToolResource(address: "n://1", mediaType: "text/plain", content: .text("n"))),
                .resource(ToolResource(address: "n://2", mediaType: nil, content: .bytes([1]))),
                .link(ToolLink(address: "f://x", name: "x", title: "X", summary: "s", mediaType: "m", size: 3)),
            ], structured: ["a": [1, nil]])
        let stored = #"""
            [{"type":"result","call":"1","parts":[{"type":"text","text":"a"},{"type":"media","name":"image",
            "media_type":"image/png","data":"AP8="},{"type":"resource","address":"n://1","media_type":"text/plain",
            "text":"n"},{"type":"resource","address":"n://2","is_binary":true,"data":"AQ=="},{"type":"link",
            "address":"f://x","name":"x","title":"X","summary":"s","media_type":"m","size":3}],
            "structured":{"value":{"a":[1,null]}}}]
            """#
        #expect(try MessageCoding.inline.json([.result(result)]) == JSON(parsing: stored))
        #expect(try MessageCoding.inline.parts(text: stored) == [.result(result)])
        let nothing = Message.Part.result(ToolResult(call: "2", parts: [], structured: nil))
        #expect(try MessageCoding.inline.parts(MessageCoding.inline.json([nothing])) == [nothing])
        let error = #expect(throws: ValueError.self) {
            try MessageCoding.inline.parts(text: #"[{"type":"result","call":"1","parts":[{"type":"new"}]}]"#)
        }
        #expect(error?.path == ["0", "parts", "0", "type"])
    }

    @Test("Large contents are stored separately if possible, and come back")
    func elsewhere() throws {
        var kept: [[UInt8]] = []
        let coding = MessageCoding { bytes in
            kept.append(bytes)
            return "b\(kept.count - 1)"
        } fetch: { name in
            guard let number = Int(name.dropFirst()), kept.indices.contains(number) else {
                throw ValueError("is not there")
            }
            return kept[number]
        }
        let parts: [Message.Part] = [
            .attachment(Attachment(name: "a", mediaType: "b", bytes: [1, 2])),
            .result(ToolResult(call: "1", content: String(repeating: "é", count: 20_000))),
            .result(ToolResult(call: "2", content: "small")),
            .result(
                ToolResult(
                    call: "3",
                    parts: [
                        .media(Attachment(name: "i", mediaType: "image/png", bytes: [3])),
                        .resource(
                            ToolResource(
                                address: "a", mediaType: nil, content: .text(String(repeating: "x", count: 50_000)))),
                    ])),
        ]
        let json = try coding.json(parts)
        #expect(kept.map(\.count) == [2, 40_000, 1, 50_000] && json[0]?["blob"] == "b0" && json[0]?["data"] == nil)
        #expect(try coding.parts(json) == parts)
        #expect(throws: ValueError.self) { try MessageCoding.inline.parts(json) }
        kept = []
        let error = #expect(throws: ValueError.self) { try coding.parts(json) }
        #expect(error?.path == ["0", "blob"])
    }

    @Test("An input of the maximum readable depth comes back", arguments: [10, 255, 256, 257, 512])
    func deep(depth: Int) throws {
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let input = try JSON(parsing: text, reading: MessageCoding.reading)
        let parts: [Message.Part] = [.call(ToolCall(id: "1", name: "x", input: input))]
        #expect(try MessageCoding.inline.parts(text: MessageCoding.inline.json(parts).text()) == parts)
    }

    @Test("Random parts come back, whatever their texts contain")
    func random() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = ["", "\u{0}", "\r\n", "👩‍👩‍👧", "e\u{301}", "\"\\", "\u{FFFD}", "\u{10FFFF}", "{\"a\":1}"]
        func text() -> String {
            (0..<Int.random(in: 0..<4, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
        }
        for _ in 0..<200 {
            let parts: [Message.Part] = [
                .text(text()), .reasoning(Reasoning(text(), signature: text())),
                .call(ToolCall(id: text(), name: text(), input: [text() + "k": .string(text()), "d": .double(0.1)])),
                .malformedCall(MalformedCall(id: text(), name: text(), text: text(), reason: text())),
                .result(
                    ToolResult(call: text(), content: text(), exitCode: .random(in: .min ... .max, using: &random))),
            ]
            let read = try MessageCoding.inline.parts(text: MessageCoding.inline.json(parts).text())
            #expect(read == parts && Array("\(read)".utf8) == Array("\(parts)".utf8), "seed \(seed)")
        }
    }

    @Test(
        "An invalid message is refused with the place of the error",
        arguments: [
            ("{}", []), ("[1]", ["0", "type"]), ("[{\"type\":\"new\"}]", ["0", "type"]),
            ("[{\"type\":\"text\"}]", ["0", "text"]), ("[{\"type\":\"call\",\"id\":\"1\"}]", ["0", "input_text"]),
            ("[{\"type\":\"attachment\",\"name\":\"\",\"media_type\":\"\",\"data\":\"*\"}]", ["0", "data"]),
            ("[{\"type\":\"result\",\"call\":\"1\",\"content\":\"\",\"duration\":[1]}]", ["0", "duration"]),
            ("[{\"type\":\"call\",\"id\":\"1\",\"name\":\"\",\"input_text\":\"[\"}]", ["0", "input_text"]), ("[", []),
        ])
    func refused(text: String, path: [String]) {
        let error = #expect(throws: ValueError.self) { try MessageCoding.inline.parts(text: text) }
        #expect(error?.path == path)
    }

    @Test(
        "Finish reasons are words, and unknown words are kept",
        arguments: ["stop", "length", "calls", "refused"])
    func finish(word: String) {
        #expect(ChatAnswer.Finish(word: word).word == word)
        #expect(ChatAnswer.Finish(word: "other:\(word)") == .other(word))
        #expect(ChatAnswer.Finish(word: ChatAnswer.Finish.other(word).word) == .other(word))
        #expect(ChatAnswer.Finish(word: "new") == .other("new"))
    }
}

import JSON
import Testing

@Suite("JSONPullReader")
struct PullReaderTests {
    struct Chunk: Equatable {
        var id = ""
        var created = 0
        var content = ""
        var finish: String?
        var score = 0.0
        var isLast = false
        var extra = JSON.null
    }

    static func chunk(_ bytes: [UInt8]) throws -> Chunk {
        try JSONPullReader.read(bytes) { reader in
            var chunk = Chunk()
            try reader.object { reader, key in
                switch key {
                case "id": chunk.id = try reader.string()
                case "created": chunk.created = try reader.int()
                case "score": chunk.score = try reader.double()
                case "last": chunk.isLast = try reader.bool()
                case "extra": chunk.extra = try reader.value()
                case "choices":
                    try reader.array { reader in
                        try reader.object { reader, key in
                            if key == "content", !reader.isNull { chunk.content += try reader.string() }
                            if key == "finish_reason", !reader.isNull { chunk.finish = try reader.string() }
                        }
                    }
                default: break
                }
            }
            return chunk
        }
    }

    static let text = #"""
        {"id": "c-1", "unknown": [1, {"a": "]}"}, null, "\u00e9"], "created": 1712345678, "score": 1e-3, "last": true,
         "choices": [{"content": "é\ud83d\ude00\n", "finish_reason": null}, {"content": null, "finish_reason": "stop"},
         {}, {"content": "x"}], "extra": {"a": [1, {"b": 2.5}]}, "system_fingerprint": "fp"}
        """#

    static let expected = Chunk(
        id: "c-1", created: 1_712_345_678, content: "é😀\nx", finish: "stop", score: 0.001, isLast: true,
        extra: ["a": [1, ["b": 2.5]]])

    @Test("The reader takes what is requested and skips the rest")
    func chunk() throws {
        #expect(try Self.chunk(Array(Self.text.utf8)) == Self.expected)
    }

    @Test("White space does not change the result, and a cut text always fails")
    func spaceAndCuts() throws {
        let compact = try JSON(parsing: Self.text).text()
        #expect(try Self.chunk(Array(compact.utf8)) == Self.expected)
        #expect(try Self.chunk(Array(try JSON(parsing: Self.text).text(.pretty).utf8)) == Self.expected)
        let bytes = Array(compact.utf8)
        for length in 0..<bytes.count {
            #expect(throws: JSONError.self) { try Self.chunk(Array(bytes[..<length])) }
        }
    }

    @Test("Keys are compared by bytes, also escaped ones")
    func keys() throws {
        var keys: [String] = []
        var isFound = false
        try JSONPullReader.read(Array(#"{"":1,"del":2,"\u0064elta":3,"deltas":4,"é":5,"a\"b":6}"#.utf8)) { reader in
            try reader.object { reader, key in
                keys.append(String(copying: key))
                if key == "delta" { isFound = try reader.int() == 3 }
            }
        }
        #expect(keys == ["", "del", "delta", "deltas", "é", "a\"b"])
        #expect(isFound)
    }

    @Test("The kind of a value is known before it is read")
    func kinds() throws {
        var kinds: [JSONKind?] = []
        try JSONPullReader.read(Array(#"[null, true, false, -1, 2, "s", [], {}]"#.utf8)) { reader in
            try reader.array { kinds.append($0.kind) }
        }
        #expect(kinds == [.null, .boolean, .boolean, .number, .number, .string, .array, .object])
    }

    @Test(
        "A value of the wrong kind is reported with its place",
        arguments: [
            (#"{"id": 1}"#, 7, ["id"], "expected a string, found a number"),
            (#"{"created": "x"}"#, 12, ["created"], "expected a number, found a string"),
            (#"{"created": 1.5}"#, 12, ["created"], "expected a 64-bit integer, found another number"),
            (
                #"{"created": 99999999999999999999}"#, 12, ["created"],
                "expected a 64-bit integer, found another number"
            ),
            (#"{"last": null}"#, 9, ["last"], "expected a boolean, found null"),
            (
                #"{"choices": [{}, {"content": []}]}"#, 29, ["choices", "1", "content"],
                "expected a string, found an array"
            ),
            (#"{"choices": {}}"#, 12, ["choices"], "expected an array, found an object"),
            ("true", 0, [], "expected an object, found a boolean"),
        ] as [(String, Int, [String], String)])
    func wrongTypes(text: String, offset: Int, path: [String], message: String) throws {
        let error = try #require(throws: JSONError.self) { try Self.chunk(Array(text.utf8)) }
        #expect(error.code == .type)
        #expect(error.offset == offset)
        #expect(error.path == path)
        #expect(error.message == message)
    }

    @Test(
        "Skipped values are checked",
        arguments: [
            (#"{"x": 01}"#, .number), (#"{"x": tru}"#, .syntax), (#"{"x": "\q"}"#, .syntax), (#"{"x": [1,]}"#, .syntax),
            ("{\"x\": \"\u{1}\"}", .syntax), (#"{"x": {"y": nulll}}"#, .syntax), (#"{"x": 1} 2"#, .syntax),
            (#"{"x" 1}"#, .syntax), (#"{"x": }"#, .syntax), (#"{x: 1}"#, .syntax), ("\u{FEFF}{}", .encoding),
        ] as [(String, JSONError.Code)])
    func checks(text: String, code: JSONError.Code) throws {
        let error = try #require(throws: JSONError.self) { try Self.chunk(Array(text.utf8)) }
        #expect(error.code == code)
    }

    @Test("A whole number is accepted in any notation, and skipped at any size")
    func numbers() throws {
        let digits = String(repeating: "9", count: 400)
        #expect(try JSONPullReader.read(Array("1.7e3".utf8)) { try $0.int() } == 1700)
        #expect(try JSONPullReader.read(Array("20000000000000000000".utf8)) { try $0.double() } == 2e19)
        #expect(throws: Never.self) { try JSONPullReader.read(Array(digits.utf8)) { try $0.skip() } }
        #expect(throws: JSONError.self) { try JSONPullReader.read(Array(digits.utf8)) { try $0.double() } }
    }

    @Test("Invalid UTF-8 in values and keys is repaired")
    func repairs() throws {
        var found: [String] = []
        try JSONPullReader.read([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x22, 0x61, 0xC3, 0x22, 0x7D]) { reader in
            try reader.object { reader, key in found += [String(copying: key), try reader.string()] }
        }
        #expect(found == ["\u{FFFD}", "a\u{FFFD}"])
    }

    @Test("The reader stops at 64 levels, whether values are stepped through, skipped or read as a tree")
    func depth() throws {
        func deep(_ count: Int) -> [UInt8] {
            Array((String(repeating: "[", count: count) + String(repeating: "]", count: count)).utf8)
        }
        #expect(throws: Never.self) { try JSONPullReader.read(deep(64)) { try $0.skip() } }
        #expect(throws: Never.self) { try JSONPullReader.read(deep(64)) { try $0.array { _ = try $0.value() } } }
        for bytes in [deep(65), deep(10_000)] {
            let skipped = try #require(throws: JSONError.self) { try JSONPullReader.read(bytes) { try $0.skip() } }
            #expect(skipped.code == .depth && skipped.offset == 64)
            let tree = try #require(throws: JSONError.self) {
                try JSONPullReader.read(bytes) { try $0.array { _ = try $0.value() } }
            }
            #expect(tree.code == .depth && tree.offset == 64)
        }
    }

    @Test("An error of the closure is passed on")
    func foreignError() {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try JSONPullReader.read(Array("[[1]]".utf8)) { try $0.array { try $0.array { _ in throw Stop() } } }
        }
    }
}

import CoreTesting
import JSON
import Testing

@Suite("JSON round trip", .timeLimit(.minutes(5)))
struct RoundTripTests {
    static let styles: [JSONWriting] = [[], .pretty, .sorted, [.pretty, .sorted]]

    @Test("Written values read as the same values", arguments: styles)
    func roundTrip(style: JSONWriting) throws {
        let seed = SeededGenerator.seed(for: "round trip")
        var random = RandomJSON(seed: seed)
        for _ in 0..<300 {
            let value = random.value()
            let text = value.text(style)
            #expect(try JSON(parsing: text) == value, "seed \(seed): \(text)")
            #expect(try JSON(parsing: text, reading: .stream) == value, "seed \(seed): \(text)")
            #expect(try JSON(parsing: text, reading: .json5) == value, "seed \(seed): \(text)")
            #expect(try JSON(parsing: text).text(style) == text, "seed \(seed)")
        }
    }

    @Test("A written text that is cut at any byte is an error")
    func truncation() throws {
        let corpus = [
            #"{"id":"chunk-1","choices":[{"index":0,"delta":{"content":"é\ud83d\ude00 \n"},"logprobs":null}]}"#,
            #"[true,false,null,-1.5e-3,"",[],{}]"#, #""plain text of some length""#,
            "{a: 'b', /* c */ d: [0x1F, ], // e\n}",
        ]
        for text in corpus {
            let bytes = Array(text.utf8)
            #expect(throws: Never.self) { try JSON(parsing: bytes, reading: .json5) }
            for length in 0..<bytes.count {
                let prefix = Array(bytes[..<length])
                #expect(throws: JSONError.self, "\(length) bytes of \(text)") { try JSON(parsing: prefix) }
                #expect(throws: JSONError.self, "\(length) bytes of \(text)") {
                    try JSON(parsing: prefix, reading: .stream)
                }
                #expect(throws: JSONError.self, "\(length) bytes of \(text)") {
                    try JSON(parsing: prefix, reading: .json5)
                }
                #expect(throws: JSONError.self, "\(length) bytes of \(text)") {
                    try JSONPullReader.read(prefix) { try $0.skip() }
                }
            }
        }
    }
}

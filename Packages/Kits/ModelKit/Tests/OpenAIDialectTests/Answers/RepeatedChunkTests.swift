import Capabilities
import CoreTesting
import DialectTesting
import JSON
import OpenAIDialect
import Testing

@Suite("Repeated chunks")
struct RepeatedChunkTests {
    /// Texts that could be mistaken for something else, or seem to end early.
    private let texts = [
        "a", " word", "", "é", "漢字", "🪶", "\\n", "\\\"", "\\\\", "\\u00e9", "{", "\\\"},", ",\\\"content\\\":\\\"x",
        "\u{7F}",
    ]
    /// The surrounding chunks: `%` is the text.
    private let forms = [
        #"{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"%"}}]}"#,
        #"{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"%"},"finish_reason":null}],"usage":null}"#,
        #"{"choices":[{"index":0,"delta":{"role":"assistant","content":"%"}}],"x":{"content":"no"}}"#,
        #"{"choices":[{"index":0,"delta":{"content":"no","content":"%"}}]}"#,
        #"{"choices":[{"index":0,"delta":{"reasoning":"hm","content":"%"}}]}"#,
        #"{"choices":[{"index":0,"delta":{"reasoning":"%","content":null}}]}"#,
        #"{"choices":[{"index":1,"delta":{"content":"%"}}]}"#,
    ]

    @Test("Similar chunks are read correctly in any order, with any text")
    func anyOrder() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var chunks = [#"{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"-"}}]}"#]
            var expected = (text: "-", reasoning: "")
            var form = forms[0]
            for _ in 0..<20 {
                if Int.random(in: 0..<4, using: &random) == 0 {
                    form = try #require(forms.randomElement(using: &random))
                }
                let text = try #require(texts.randomElement(using: &random))
                let chunk = form.split(separator: "%", omittingEmptySubsequences: false).joined(separator: text)
                chunks.append(chunk)
                // With the JSON tree, which ignores earlier chunks.
                let choice = try JSON(parsing: chunk, reading: .stream)["choices"]?[0]
                guard choice?["index"] == 0 else { continue }
                expected.text += choice?["delta"]?["content"]?.string ?? ""
                expected.reasoning += choice?["delta"]?["reasoning"]?.string ?? ""
            }
            let reading = try hear(data: chunks + ["[DONE]"]).reading
            try #require(reading.text == expected.text, "seed \(seed)")
            try #require(reading.reasoning == expected.reasoning, "seed \(seed)")
        }
    }

    @Test("Bytes that are not UTF-8 are replaced in a similar chunk too")
    func badUTF8() throws {
        let chunk = #"{"model":"m","choices":[{"index":0,"delta":{"content":"ok"}}]}"#
        var bytes = Array("data: \(chunk)\n\ndata: \(chunk)\n\ndata: \(chunk)\n\ndata: [DONE]\n\n".utf8)
        let place = try #require(bytes.lastIndex(of: UInt8(ascii: "k")))
        bytes[place] = 0xFF
        #expect(try hear([bytes], .compatible).reading.text == "okoko\u{FFFD}")
    }

    @Test("A control character in a similar chunk is an error too")
    func control() throws {
        let chunk = #"{"model":"m","choices":[{"index":0,"delta":{"content":"ok"}}]}"#
        let broken = chunk.split(separator: "ok").joined(separator: "o\tk")
        #expect(try hear(data: [chunk, chunk, broken]).reading.failure == "model.malformed")
    }
}

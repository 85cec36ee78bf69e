import CoreTesting
import HTTPCore
import HTTPTesting
import Testing

@Suite("Event parser comparison")
struct EventComparisonTests {
    /// Prints the type, data and id of each event in its input as hexadecimal words. The input leaves out the cases in
    /// which httpx-sse departs from the standard: byte order marks, events without data, invalid UTF-8.
    private static let reader = """
        import sys
        from httpx_sse._decoders import SSEDecoder, SSELineDecoder
        lines, events = SSELineDecoder(), SSEDecoder()
        text = sys.stdin.buffer.read().decode()
        found = [line for start in range(0, len(text), 100) for line in lines.decode(text[start:start + 100])]
        # A CR at the very end waits for an LF until the flush.
        for line in found + lines.flush():
            event = events.decode(line)
            if event is not None:
                words = event.event or "message", event.data, event.id
                print(*[word.encode().hex() or "-" for word in words])
        """

    @Test("The parser and httpx-sse read the same events", .timeLimit(.minutes(5)))
    func httpx() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let words = ["", " ", "a", "é😀", "x: y", "{\"a\": [1, 2]}", "\u{0}", "\u{2028}", "\t", "::"]
        let ends = ["\n", "\r\n", "\r"]
        var stream = ""
        for _ in 0..<2000 {
            let end = ends.randomElement(using: &random) ?? "\n"
            func line(_ name: String) {
                let value = (0..<Int.random(in: 1..<4, using: &random)).map { _ in
                    words.randomElement(using: &random) ?? ""
                }
                stream += name + [":", ": "][Int.random(in: 0..<2, using: &random)] + value.joined() + end
            }
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                line(["event", "id", "other", "", "data"].randomElement(using: &random) ?? "")
            }
            line("data")
            stream += end
        }
        var parser = EventParser()
        let ours = try parser.read(Array(stream.utf8)).map { event in
            [Array(event.type.utf8), Array(event.data), Array(event.lastEventID.utf8)].map(Self.hexadecimal)
                .joined(separator: " ")
        }
        let printed = try await PythonPeer.output(source: Self.reader, input: Array(stream.utf8))
        let theirs = printed.split(separator: "\n").map(String.init)
        #expect(ours.count == 2000)
        #expect(theirs.count == ours.count, "seed \(seed)")
        for (index, pair) in zip(ours, theirs).enumerated() {
            try #require(pair.0 == pair.1, "seed \(seed), event \(index)")
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        let text = String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
        return text.isEmpty ? "-" : text
    }
}

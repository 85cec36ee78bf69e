import Capabilities
import JSON
import ModelKit

/// Feeds any bytes to everything that this module reads. Nothing may crash, and a written answer can be read again.
@_spi(Fuzzing) public enum OpenAIFuzzTarget {
    public static func read(_ bytes: [UInt8]) {
        for (_, quirks) in OpenAIQuirks.servers {
            let dialect = OpenAIDialect(quirks)
            _ = dialect.refusal(in: bytes)
            var events: [ChatEvent] = []
            _ = try? dialect.answer(in: bytes, into: &events)
            if let answer = stream(bytes, dialect) { writeAndRead(answer) }
        }
        _ = try? OpenAIDialect.models(in: bytes, provider: "fuzz")
        if let request = try? OpenAIRequest(parsing: bytes) {
            _ = try? OpenAIDialect(.openAI).body(of: request.chat)
            _ = try? OpenAIDialect(.gateway).body(of: request.chat)
        }
    }

    /// Each line is an event.
    private static func stream(_ bytes: [UInt8], _ dialect: OpenAIDialect) -> ChatAnswer? {
        var reader = dialect.reader()
        var events: [ChatEvent] = []
        for line in bytes.split(separator: 10) { try? reader.receive("", Array(line), into: &events) }
        _ = reader.partial
        return try? reader.finish(into: &events)
    }

    private static func writeAndRead(_ answer: ChatAnswer) {
        let writer = OpenAIWriter(id: "1", created: 1, model: "m")
        var events: [ChatEvent] = []
        let body = Array(writer.reply(answer).description.utf8)
        let again = try? OpenAIDialect(.openAI).answer(in: body, into: &events)
        precondition(again == nil || again?.message.text == answer.message.text, "a written answer reads as another")
    }
}

import Capabilities
import JSON
import ModelKit

/// Feeds any bytes to everything that this module reads. Nothing may crash, and a written answer can be read again.
@_spi(Fuzzing) public enum ResponsesFuzzTarget {
    public static func read(_ bytes: [UInt8]) {
        let dialect = ResponsesDialect()
        _ = dialect.refusal(in: bytes)
        var events: [ChatEvent] = []
        _ = try? dialect.answer(in: bytes, into: &events)
        if let answer = stream(bytes, dialect) { writeAndRead(answer, dialect) }
        if let request = try? ResponsesRequest(parsing: bytes) { _ = try? dialect.body(of: request.chat) }
    }

    /// The bytes are read roughly like an event stream, so that recorded streams are good seeds. Lines without a field
    /// are data.
    private static func stream(_ bytes: [UInt8], _ dialect: ResponsesDialect) -> ChatAnswer? {
        var reader = dialect.reader()
        var events: [ChatEvent] = []
        var name = ""
        for line in bytes.split(separator: 10) {
            if line.starts(with: "event: ".utf8) {
                name = String(decoding: line.dropFirst(7), as: UTF8.self)
            } else {
                let data = line.starts(with: "data: ".utf8) ? line.dropFirst(6) : line
                try? reader.receive(name, Array(data), into: &events)
            }
        }
        _ = reader.partial
        return try? reader.finish(into: &events)
    }

    private static func writeAndRead(_ answer: ChatAnswer, _ dialect: ResponsesDialect) {
        let writer = ResponsesWriter(id: "1", created: 1, model: "m")
        var events: [ChatEvent] = []
        let body = Array(writer.reply(answer).description.utf8)
        let again = try? dialect.answer(in: body, into: &events)
        precondition(again == nil || words(again) == words(answer), "a written answer reads as another")
    }

    /// Text and refusals, which some formats do not tell apart.
    private static func words(_ answer: ChatAnswer?) -> String {
        (answer?.message.parts ?? []).reduce(into: "") { words, part in
            switch part {
            case .text(let text), .refusal(let text): words += text
            default: break
            }
        }
    }
}

public import Capabilities
import JSON

/// How a transcript is written.
public enum TranscriptFormat: String, Choice, Hashable {
    /// To be read by people. Brought in again, it has the roles and the texts, and tool calls; attachments are only named.
    case markdown
    /// Everything, to be brought in elsewhere without loss.
    case json
    /// The messages of OpenAI's chat completions.
    case openai
    /// The messages of Anthropic.
    case anthropic
}

extension Transcript {
    /// The whole text of a file.
    public func text(as format: TranscriptFormat) -> String {
        switch format {
        case .markdown: markdown
        case .json: json.text(.pretty) + "\n"
        case .openai: openAI.text(.pretty) + "\n"
        case .anthropic: anthropic.text(.pretty) + "\n"
        }
    }

    /// Reads a file; without a format it is found out.
    ///
    /// Throws `HistoryError.invalid`, which says where what is wrong, such as `messages.3.role`.
    public init(parsing bytes: [UInt8], as format: TranscriptFormat? = nil) throws(HistoryError) {
        let isJSON = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }.map { $0 == 0x7B || $0 == 0x5B } ?? false
        if format == .markdown || format == nil && !isJSON {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw HistoryError(.invalid, "this is no text in UTF-8; save it as such and try again")
            }
            self = try Transcript(markdown: text)
            return
        }
        let json: JSON
        do {
            json = try JSON(parsing: bytes, reading: .deep)
        } catch {
            throw HistoryError(.invalid, "this is no JSON: \(PlainText.escape(error.description))")
        }
        let format = format ?? Self.format(of: json)
        do throws(ValueError) {
            switch format {
            case .openai: self = try Transcript(openAI: json)
            case .anthropic: self = try Transcript(anthropic: json)
            default: self = try Transcript(json: json)
            }
        } catch {
            throw HistoryError(
                .invalid,
                "this is no conversation in the format '\(format.rawValue)': "
                    + PlainText.escape(error.description))
        }
    }

    private static func format(of json: JSON) -> TranscriptFormat {
        if json["martlet"] != nil { return .json }
        let blocks = ["tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"]
        let hasBlocks = (json["messages"]?.array ?? json.array ?? []).contains { message in
            (message["content"]?.array ?? []).contains { blocks.contains($0["type"]?.string ?? "") }
        }
        return json["system"] != nil || hasBlocks ? .anthropic : .openai
    }
}

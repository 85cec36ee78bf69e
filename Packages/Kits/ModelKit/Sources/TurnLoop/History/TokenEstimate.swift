public import Capabilities
import JSON

/// Estimates the number of tokens of a text, without the tables of any model.
///
/// It is within a fifth of the count of o200k_base for prose in several languages, code and JSON, and within a third
/// for text with few words, such as listings. Other tokenisers differ by as much again. The provider's own counts
/// correct the estimate after the first answer.
public struct TokenEstimate: Sendable, Hashable {
    /// The factor of the estimate.
    public private(set) var correction = 1.0

    /// An estimate without a correction.
    public init() {}

    /// The tokens of a text alone.
    public func tokens(of text: String) -> Int { corrected(Self.guess(text)) }
    /// The tokens of a message with all its parts.
    public func tokens(of message: Message) -> Int { corrected(Self.guess(message)) }

    /// The whole request, with the tools and the schema.
    public func tokens(of request: ChatRequest) -> Int { corrected(Self.guess(request)) }

    /// The tokens of the descriptions that a request sends.
    public func tokens(of tools: [ToolDescription]) -> Int { corrected(Self.guess(tools)) }

    /// Learns from the provider's count of the same request.
    public mutating func learn(reported: Int, for request: ChatRequest) {
        let guess = Self.guess(request)
        guard reported > 0, guess > 0 else { return }
        // A server that counts only a part must not make us send too much.
        correction = min(3, max(0.5, Double(reported) / guess))
    }

    private func corrected(_ guess: Double) -> Int { Int((guess * correction).rounded(.up)) }
}

// MARK: Guessing

extension TokenEstimate {
    /// Letters are mostly in whole words, which include the spaces between them; digits and symbols cost more. The
    /// weights were fitted to the counts of o200k_base for prose, code, JSON and manuals.
    private static func guess(_ text: String) -> Double {
        var (letters, spaces, signs, others, wide, rare) = (0, 0, 0, 0, 0, 0)
        for byte in text.utf8 {
            switch byte {
            case 0x41...0x5A, 0x61...0x7A: letters += 1
            case 0x09...0x0D, 0x20: spaces += 1
            case 0..<0x80: signs += 1
            case 0xC0..<0xE0: others += 1
            case 0xE0..<0xF0: wide += 1
            case 0xF0...: rare += 1
            default: break
            }
        }
        let ascii = Double(letters) * 0.24 + Double(spaces) * 0.08 + Double(signs) * 0.65
        return ascii + Double(others) * 0.35 + Double(wide) * 0.95 + Double(rare) * 2
    }

    private static func guess(_ message: Message) -> Double {
        message.parts.reduce(4) { $0 + guess($1) }
    }

    private static func guess(_ part: Message.Part) -> Double {
        switch part {
        case .text(let text), .refusal(let text): guess(text)
        // Encrypted reasoning is about as long as its text would be, in base64.
        case .reasoning(let thought): guess(thought.text) + Double(thought.sealed?.utf8.count ?? 0) / 5
        case .attachment(let attachment): guess(attachment)
        case .call(let call): 8 + guess(call.name) + guess(call.input.text())
        case .malformedCall(let call): 8 + guess(call.name) + guess(call.text)
        case .result(let result): 8 + guess(result.content) + result.images.reduce(0) { $0 + guess($1) }
        }
    }

    /// An image costs up to about 1,600 tokens, whatever its size in bytes; a page of a document about as much.
    private static func guess(_ attachment: Attachment) -> Double {
        if attachment.isImage { return 1600 }
        if attachment.mediaType.hasPrefix("text/") { return Double(attachment.bytes.count) / 3 }
        return max(1600, Double(attachment.bytes.count) / 25)
    }

    private static func guess(_ tools: [ToolDescription]) -> Double {
        tools.reduce(0) { $0 + 12 + guess($1.name) + guess($1.summary) + guess($1.input.text()) }
    }

    private static func guess(_ request: ChatRequest) -> Double {
        guess(request.tools) + request.messages.reduce(0) { $0 + guess($1) }
            + (request.schema.map { guess($0.schema.text()) } ?? 0)
    }
}

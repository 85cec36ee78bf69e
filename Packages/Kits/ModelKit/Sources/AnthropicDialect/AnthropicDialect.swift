public import Capabilities
import JSON
public import ModelKit

/// Anthropic's Messages, as Anthropic and the proxies that speak like it have them.
///
///     let dialect = AnthropicDialect()
///     let body = try dialect.body(of: ChatRequest(model: "claude-sonnet-4-5", messages: [Message(.user, "Hello")]))
public struct AnthropicDialect: Dialect {
    public static let kind = RequestDialect.anthropic
    /// What the header `anthropic-version` has to say.
    public static let version = "2023-06-01"

    public let options: AnthropicOptions

    public init(_ options: AnthropicOptions = AnthropicOptions()) {
        self.options = options
    }

    public func reader() -> AnthropicReader {
        AnthropicReader()
    }

    /// A proxy may answer so though a stream was asked for.
    public func answer(in body: [UInt8], into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer {
        var reader = reader()
        try reader.receiveWhole(body, into: &events)
        return try reader.finish(into: &events)
    }

    public func refusal(in body: [UInt8]) -> ServerRefusal? {
        ServerRefusal(inBody: body)
    }
}

public import Capabilities
public import ModelKit

/// OpenAI's Chat Completions, as OpenAI and the many that speak like it have them.
///
///     let dialect = OpenAIDialect(.openRouter)
///     let body = try dialect.body(of: ChatRequest(model: "a-model", messages: [Message(.user, "Hello")]))
public struct OpenAIDialect: Dialect {
    public static let kind = RequestDialect.openai

    public let quirks: OpenAIQuirks

    public init(_ quirks: OpenAIQuirks = .openAI) {
        self.quirks = quirks
    }

    public func reader() -> OpenAIReader {
        OpenAIReader(quirks)
    }

    public func answer(in body: [UInt8], into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer {
        var reader = reader()
        try reader.receiveWhole(body, into: &events)
        return try reader.finish(into: &events)
    }
}

public import Capabilities
import JSON
public import ModelKit

/// OpenAI's Responses. Nothing is kept at the server: the whole conversation goes along each time, with the model's
/// thoughts in the form that only the provider can read.
///
///     let dialect = ResponsesDialect()
///     let body = try dialect.body(of: ChatRequest(model: "gpt-5", messages: [Message(.user, "Hello")]))
public struct ResponsesDialect: Dialect {
    public static let kind = RequestDialect.responses

    public let options: ResponsesOptions

    public init(_ options: ResponsesOptions = ResponsesOptions()) {
        self.options = options
    }

    public func reader() -> ResponsesReader {
        ResponsesReader()
    }

    public func answer(in body: [UInt8], into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer {
        var reader = reader()
        try reader.receiveWhole(body, into: &events)
        return try reader.finish(into: &events)
    }

    public func refusal(in body: [UInt8]) -> ServerRefusal? {
        ServerRefusal(inBody: body)
    }
}

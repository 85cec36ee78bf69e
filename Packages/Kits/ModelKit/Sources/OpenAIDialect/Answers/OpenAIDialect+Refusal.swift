public import ModelKit

extension OpenAIDialect {
    /// Understands the envelope of OpenAI, those of other servers, plain words, and an error that was written as a
    /// stream.
    public func refusal(in body: [UInt8]) -> ServerRefusal? {
        ServerRefusal(inBody: body)
    }
}

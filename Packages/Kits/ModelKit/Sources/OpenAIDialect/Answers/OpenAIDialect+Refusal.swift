import Capabilities
import JSON
public import ModelKit

extension OpenAIDialect {
    /// Understands the envelope of OpenAI, those of other servers, plain words, and an error that was written as a
    /// stream.
    public func refusal(in body: [UInt8]) -> ServerRefusal? {
        let body = Array(body.prefix(1 << 20))
        if let object = Self.object(in: body[...]) { return ServerRefusal(inBody: object) }
        let lines = body.split { $0 == 10 || $0 == 13 }
        for line in lines where line.starts(with: "data:".utf8) {
            if let object = Self.object(in: line.dropFirst(5)) { return ServerRefusal(inBody: object) }
        }
        return ServerRefusal(words: body)
    }

    private static func object(in text: ArraySlice<UInt8>) -> JSONObject? {
        // A body may be anything here, and one that is no JSON is looked at in another way.
        try? JSON(parsing: Array(text), reading: .stream).object
    }
}

import JSON
import TurnLoop

/// As it is kept with a conversation.
extension ContextCut {
    var json: JSON {
        var object: JSONObject = ["messages": .int(messages)]
        object["summary"] = summary.map { .string($0) }
        return .object(object)
    }

    init?(json: JSON) {
        guard let messages = json["messages"]?.int, messages > 0 else { return nil }
        self.init(messages: messages, summary: json["summary"]?.string)
    }
}

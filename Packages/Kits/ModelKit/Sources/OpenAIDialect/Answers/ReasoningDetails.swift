import Capabilities
import JSON
import ModelKit

/// The thoughts of a model as OpenRouter wants them back: `reasoning_details`, put together from pieces and otherwise
/// unchanged. `Reasoning.sealed` holds them as JSON.
struct ReasoningDetails: Sendable {
    private struct Detail: Sendable {
        var fields: JSONObject
        /// The member that grows, and what it has grown to.
        var grows: String?
        var text = ""
    }

    private static let key = "reasoning_details"
    private var details: [Detail] = []

    var sealed: String? {
        guard !details.isEmpty else { return nil }
        let whole = details.map { detail -> JSON in
            var fields = detail.fields
            if let key = detail.grows { fields[key] = .string(detail.text) }
            return .object(fields)
        }
        return JSON.array(whole).text()
    }

    /// Takes a piece and returns what people can read of it.
    mutating func take(_ piece: JSONObject) -> String {
        let grows = ["text", "summary", "data"].first { piece[$0]?.filled != nil }
        let text = grows.flatMap { piece[$0]?.string } ?? ""
        if let place = position(of: piece, grows) {
            for (key, value) in piece where key != grows && !value.isNull { details[place].fields[key] = value }
            details[place].grows = details[place].grows ?? grows
            details[place].text += text
        } else {
            details.append(Detail(fields: piece, grows: grows, text: text))
        }
        return grows == "data" ? "" : text
    }

    /// The thought that a piece goes on with: that of the same kind at its index, or the last one.
    private func position(of piece: JSONObject, _ grows: String?) -> Int? {
        // More than a few are never open at once, and a search of all would take ever longer.
        let place = details.indices.suffix(64).last { details[$0].fields["index"] == piece["index"] }
        guard let place, details[place].fields["type"] == piece["type"] else { return nil }
        let known = details[place].grows
        return known == nil || grows == nil || known == grows ? place : nil
    }

    /// Adds the thoughts of a message to what is sent of it.
    static func write(_ message: Message, into object: inout JSONObject) {
        var text = ""
        for case .reasoning(let reasoning) in message.parts {
            text += reasoning.text
            // What another provider has sealed is no such list.
            if let sealed = reasoning.sealed, let details = try? JSON(parsing: sealed), details.array != nil {
                object[key] = details
            }
        }
        if !text.isEmpty, object[key] == nil { object["reasoning"] = .string(text) }
    }
}

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

/// Thoughts that a server leaves in the text, between `<think>` and `</think>` at its very beginning. What stands there
/// later is text that talks about such tags.
struct ThinkTags: Sendable {
    private enum Place { case start, thoughts, gap, text }

    private static let opening = "<think>"
    private static let closing = "</think>"

    /// More blank text than this comes before no tag.
    private static let longestGap = 1024

    private var place = Place.start
    /// What may be the beginning of a tag.
    private var held = ""

    /// Whether all that comes is text.
    var isSettled: Bool { place == .text }

    /// Takes more text, and gives what is known of it.
    mutating func take(_ piece: String) -> [(kind: AnswerParts.Kind, text: String)] {
        held += piece
        var found: [(kind: AnswerParts.Kind, text: String)] = []
        if place == .start {
            let text = held.drop(while: \.isWhitespace)
            if text.hasPrefix(Self.opening) {
                held = String(text.dropFirst(Self.opening.count))
                place = .thoughts
            } else if !Self.opening.hasPrefix(text) || held.utf8.count > Self.longestGap {
                place = .text
            }
        }
        if place == .thoughts {
            if let tag = held.firstRange(of: Self.closing) {
                found.append((.reasoning, String(held[..<tag.lowerBound])))
                held = String(held[tag.upperBound...])
                place = .gap
            } else {
                let kept = Self.tail(of: held)
                found.append((.reasoning, String(held.dropLast(kept))))
                held = String(held.suffix(kept))
            }
        }
        if place == .gap {
            // Lines are left empty between thoughts and the answer.
            held = String(held.drop(while: \.isWhitespace))
            if !held.isEmpty { place = .text }
        }
        if place == .text {
            found.append((.text, held))
            held = ""
        }
        return found
    }

    /// What was held back, when nothing more comes.
    mutating func rest() -> (kind: AnswerParts.Kind, text: String) {
        defer { held = "" }
        return (place == .thoughts ? .reasoning : .text, held)
    }

    /// How many characters at the end may begin the closing tag.
    private static func tail(of text: String) -> Int {
        (1..<closing.count).last { closing.hasPrefix(text.suffix($0)) && text.count >= $0 } ?? 0
    }
}

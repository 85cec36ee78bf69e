import Capabilities
import JSON
import ModelKit

/// The reasoning of a model as OpenRouter expects it back: `reasoning_details`, assembled from pieces and otherwise
/// unchanged. `Reasoning.sealed` holds it as JSON.
struct ReasoningDetails: Sendable {
    private struct Detail: Sendable {
        var fields: JSONObject
        /// The growing member, and its text so far.
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

    /// Adds a piece and returns its readable text.
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

    /// The thought that a piece continues: of the same kind at its index, or the last one.
    private func position(of piece: JSONObject, _ grows: String?) -> Int? {
        // Only a few are ever open at once, and searching all would take longer and longer.
        let place = details.indices.suffix(64).last { details[$0].fields["index"] == piece["index"] }
        guard let place, details[place].fields["type"] == piece["type"] else { return nil }
        let known = details[place].grows
        return known == nil || grows == nil || known == grows ? place : nil
    }

    /// Adds the reasoning of a message to the request.
    static func write(_ message: Message, into object: inout JSONObject) {
        var text = ""
        for case .reasoning(let reasoning) in message.parts {
            text += reasoning.text
            // Sealed reasoning of another provider is not such a list.
            if let sealed = reasoning.sealed, let details = try? JSON(parsing: sealed), details.array != nil {
                object[key] = details
            }
        }
        if !text.isEmpty, object[key] == nil { object["reasoning"] = .string(text) }
    }
}

/// Reasoning that a server leaves in the text, between `<think>` and `</think>` at its very beginning. Later tags are
/// text about such tags.
struct ThinkTags: Sendable {
    private enum Place { case start, thoughts, gap, text }

    private static let opening = "<think>"
    private static let closing = "</think>"

    /// The limit of blank text before a tag.
    private static let longestGap = 1024

    private var place = Place.start
    /// A possible beginning of a tag.
    private var held = ""

    /// Whether everything that follows is text.
    var isSettled: Bool { place == .text }

    /// Adds text, and returns what is decided of it.
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
            // Empty lines between reasoning and answer are dropped.
            held = String(held.drop(while: \.isWhitespace))
            if !held.isEmpty { place = .text }
        }
        if place == .text {
            found.append((.text, held))
            held = ""
        }
        return found
    }

    /// The text held back, when nothing more arrives.
    mutating func rest() -> (kind: AnswerParts.Kind, text: String) {
        defer { held = "" }
        return (place == .thoughts ? .reasoning : .text, held)
    }

    /// How many characters at the end may begin the closing tag.
    private static func tail(of text: String) -> Int {
        (1..<closing.count).last { closing.hasPrefix(text.suffix($0)) && text.count >= $0 } ?? 0
    }
}

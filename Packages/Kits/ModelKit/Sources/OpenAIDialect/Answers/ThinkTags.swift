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

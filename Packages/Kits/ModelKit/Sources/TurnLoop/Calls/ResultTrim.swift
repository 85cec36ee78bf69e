import Capabilities

/// Shortens what tools have brought to what a model can bear. The conversation keeps the whole.
enum ResultTrim {
    static func trimmed(_ messages: [Message], to limit: Int) -> [Message] {
        messages.map { message in
            guard message.role == .tool else { return message }
            var message = message
            for index in message.parts.indices {
                guard case .result(var result) = message.parts[index], result.content.utf8.count > limit else {
                    continue
                }
                result.content = trimmed(result.content, to: limit)
                message.parts[index] = .result(result)
            }
            return message
        }
    }

    /// The beginning and the end, which mostly holds the error or the sum, with a note between them. The same text is
    /// always cut at the same places, so that a provider's cache goes on to fit.
    static func trimmed(_ text: String, to limit: Int) -> String {
        let count = text.utf8.count
        guard count > limit else { return text }
        let head = text.utf8.index(text.startIndex, offsetBy: max(0, limit) / 4 * 3)
        let tail = text.utf8.index(text.endIndex, offsetBy: -(max(0, limit) / 4))
        // Not through a character.
        let first = text[..<head.roundedDown(in: text)]
        let last = text[tail.roundedUp(in: text)...]
        let missing = count - first.utf8.count - last.utf8.count
        let note = "[… \(missing) of \(count) bytes are left out here; ask for a part of it to see them …]"
        return "\(first)\n\(note)\n\(last)"
    }
}

extension String.Index {
    fileprivate func roundedDown(in text: String) -> String.Index {
        var index = self
        while index > text.startIndex, index.samePosition(in: text.unicodeScalars) == nil {
            index = text.utf8.index(before: index)
        }
        return index
    }

    fileprivate func roundedUp(in text: String) -> String.Index {
        var index = self
        while index < text.endIndex, index.samePosition(in: text.unicodeScalars) == nil {
            index = text.utf8.index(after: index)
        }
        return index
    }
}

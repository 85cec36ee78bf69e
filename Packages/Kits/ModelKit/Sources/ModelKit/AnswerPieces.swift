package import Capabilities
package import JSON

/// The limits of an answer, so that no server can fill the memory.
package struct AnswerBudget: Sendable {
    package static let largestText = 16 << 20
    package static let largestInput = 16 << 20
    package static let mostCalls = 1000
    package static let mostParts = 10_000

    private var text = 0
    private var input = 0
    private var calls = 0
    private var parts = 0

    package init() {}

    package mutating func charge(text piece: String) throws(DialectError) {
        text += piece.utf8.count
        guard text <= Self.largestText else {
            throw DialectError(
                .tooLarge, "the answer has more than \(Self.largestText >> 20) MiB of text; ask for a shorter one")
        }
    }

    package mutating func chargePart() throws(DialectError) {
        parts += 1
        guard parts <= Self.mostParts else {
            throw DialectError(.tooLarge, "the answer has more than \(Self.mostParts) parts; ask for a shorter one")
        }
    }

    package mutating func charge(input piece: String) throws(DialectError) {
        input += piece.utf8.count
        guard input <= Self.largestInput else {
            throw DialectError(
                .tooLarge, "the calls have more than \(Self.largestInput >> 20) MiB of input; ask for less at once")
        }
    }

    /// Counts a call, and assigns an id in case the server sends none.
    package mutating func chargeCall() throws(DialectError) -> String {
        guard calls < Self.mostCalls else {
            throw DialectError(.tooLarge, "the answer has more than \(Self.mostCalls) calls; offer fewer tools")
        }
        calls += 1
        return "call_\(calls)"
    }
}

/// The input of a call as the model wrote it.
package enum CallInput {
    /// The call, or a malformed one. The input must be an object; nothing stands for an empty one.
    ///
    /// - Parameter isTruncated: whether the answer ended at its limit, so that the input may be missing or cut.
    package static func part(
        id: String, name: String, text: String, isTruncated: Bool = false, isDone: Bool = false
    ) -> Message.Part {
        func malformed(_ reason: String) -> Message.Part {
            .malformedCall(MalformedCall(id: id, name: name, text: text, reason: reason))
        }
        guard !name.isEmpty else { return malformed("the call does not name a tool") }
        let isBlank = text.allSatisfy(\.isWhitespace)
        if isBlank, !isTruncated { return .call(ToolCall(id: id, name: name, input: [:], isDone: isDone)) }
        do {
            let input = try JSON(parsing: text, reading: .stream)
            guard case .object = input else { return malformed("the input is \(input.kindName), not an object") }
            return .call(ToolCall(id: id, name: name, input: input, isDone: isDone))
        } catch {
            let cut = isTruncated ? ", because the answer was cut off at its token limit" : ""
            return malformed("the input is not JSON\(cut): \(error)")
        }
    }
}

extension JSON {
    /// A non-empty string. Servers use "", null and nothing for the same.
    package var filled: String? {
        guard case .string(let text) = self, !text.isEmpty else { return nil }
        return text
    }

    /// The text of a call's input, as the model wrote it or encoded again.
    package var written: String {
        string ?? text()
    }
}

extension JSON? {
    /// A token count, if it is valid.
    package var tokens: Int? {
        guard let value = self?.double, let count = Int(exactly: value), 0...(1 << 50) ~= count else { return nil }
        return count
    }
}

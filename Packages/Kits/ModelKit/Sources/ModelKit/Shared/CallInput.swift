package import Capabilities
import JSON

/// The input of a call in the model's own writing.
package enum CallInput {
    /// The call, or one that cannot be read: an object is wanted, and nothing at all stands for an empty one.
    ///
    /// - Parameter isTruncated: Whether the answer ended at its limit, so that the input may be missing or cut.
    package static func part(
        id: String, name: String, text: String, isTruncated: Bool = false, isDone: Bool = false
    ) -> Message.Part {
        func malformed(_ reason: String) -> Message.Part {
            .malformedCall(MalformedCall(id: id, name: name, text: text, reason: reason))
        }
        guard !name.isEmpty else { return malformed("the call names no tool") }
        let isBlank = text.allSatisfy(\.isWhitespace)
        if isBlank, !isTruncated { return .call(ToolCall(id: id, name: name, input: [:], isDone: isDone)) }
        do {
            let input = try JSON(parsing: text, reading: .stream)
            guard case .object = input else { return malformed("the input is \(input.kindName) and not an object") }
            return .call(ToolCall(id: id, name: name, input: input, isDone: isDone))
        } catch {
            let cut = isTruncated ? ", as the answer was cut at its limit of tokens" : ""
            return malformed("the input is not JSON\(cut): \(error)")
        }
    }
}

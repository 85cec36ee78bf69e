import Capabilities
import JSON
import ModelKit

/// Calls that arrive in pieces: the id and the name once, the input in pieces of text, several calls interleaved.
struct CallPieces: Sendable {
    private struct Pending: Sendable {
        var index: Int?
        /// Nil until the server has sent one.
        var id: String?
        /// The id used until then.
        var ownID: String
        var name = ""
        var arguments = ""
        var isAnnounced = false

        /// The name may come in pieces before the input, or whole with each piece of it.
        mutating func take(name piece: String) {
            if name.isEmpty || piece.hasPrefix(name) {
                name = piece
            } else if arguments.isEmpty, !name.hasSuffix(piece) {
                name += piece
            }
        }
    }

    static let mostCalls = 1000
    static let largestInput = 16 << 20

    private let areDone: Bool
    private var pending: [Pending] = []
    private var count = 0
    private var size = 0
    /// The finished calls, which some servers report in two ways.
    private var doneIDs: Set<String> = []

    init(areDone: Bool) {
        self.areDone = areDone
    }

    /// Adds a piece. Returns what it completes.
    mutating func take(_ piece: JSON, _ events: inout [ChatEvent]) throws(DialectError) -> Message.Part? {
        let function = piece["function"]
        let id = piece["id"]?.filled
        let name = function?["name"]?.filled
        if let id, doneIDs.contains(id) { return nil }
        let place = try position(index: piece["index"]?.int, id: id, name: name)
        if pending[place].id == nil { pending[place].id = id }
        if let name, name != pending[place].name {
            try charge(name)
            pending[place].take(name: name)
        }
        switch function?["arguments"] {
        case .string(let text):
            try charge(text)
            pending[place].arguments += text
        case nil, .null: break
        // Some servers send the input as JSON and not as text.
        case let value?:
            let text = value.text()
            try charge(text)
            pending[place].arguments = text
        }
        if !pending[place].isAnnounced, !pending[place].name.isEmpty {
            pending[place].isAnnounced = true
            let call = pending[place]
            events.append(.calling(id: call.id ?? call.ownID, name: call.name))
        }
        // A finished call is history, which is emitted at once if it is complete.
        guard areDone, pending[place].arguments.utf8.last == UInt8(ascii: "}"),
            case .call(let call) = part(of: pending[place], isTruncated: false), case .object = call.input
        else { return nil }
        pending.remove(at: place)
        doneIDs.insert(call.id)
        return .call(call)
    }

    /// Adds a call that the server ran, unless it is known.
    mutating func takeDone(id: String?, name: String, input: JSON) throws(DialectError) -> Message.Part? {
        let number = try countCall()
        let id = id ?? number
        guard doneIDs.insert(id).inserted else { return nil }
        pending.removeAll { $0.id == id }
        return .call(ToolCall(id: id, name: name, input: input, isDone: true))
    }

    /// All open calls, because nothing more arrives.
    mutating func settle(isTruncated: Bool) -> [Message.Part] {
        let parts = pending.map { part(of: $0, isTruncated: isTruncated) }
        pending = []
        return parts
    }

    /// The call of a piece: by its index, else by its id, else the last call. A second id at an index, and a name
    /// without either, begin a new call.
    private mutating func position(index: Int?, id: String?, name: String?) throws(DialectError) -> Int {
        var place: Int?
        if let index {
            place = pending.lastIndex { $0.index == index }
            if let found = place, let id, let known = pending[found].id, known != id { place = nil }
        } else if let id {
            place = pending.lastIndex { $0.id == id }
        } else if name == nil {
            place = pending.indices.last
        }
        if let place { return place }
        pending.append(Pending(index: index, id: id, ownID: try countCall()))
        return pending.count - 1
    }

    private mutating func countCall() throws(DialectError) -> String {
        guard count < Self.mostCalls else {
            throw DialectError(.tooLarge, "the answer has more than \(Self.mostCalls) calls; offer fewer tools")
        }
        count += 1
        return "call_\(count)"
    }

    private mutating func charge(_ text: String) throws(DialectError) {
        size += text.utf8.count
        guard size <= Self.largestInput else {
            throw DialectError(
                .tooLarge, "the calls have more than \(Self.largestInput >> 20) MiB of input; ask for less at once")
        }
    }
}

extension CallPieces {
    private func part(of call: Pending, isTruncated: Bool) -> Message.Part {
        let id = call.id ?? call.ownID
        func malformed(_ reason: String) -> Message.Part {
            // A finished call is history, however it is written, and needs no result.
            if areDone {
                return .call(ToolCall(id: id, name: call.name, input: .string(call.arguments), isDone: true))
            }
            return .malformedCall(MalformedCall(id: id, name: call.name, text: call.arguments, reason: reason))
        }
        guard !call.name.isEmpty else { return malformed("the call does not name a tool") }
        // Some servers send no input for tools without one. If the answer was cut, the input may be missing.
        let isBlank = call.arguments.allSatisfy(\.isWhitespace)
        if isBlank, !isTruncated { return .call(ToolCall(id: id, name: call.name, input: [:], isDone: areDone)) }
        do {
            let input = try JSON(parsing: call.arguments, reading: .stream)
            guard case .object = input else { return malformed("the input is \(input.kindName), not an object") }
            return .call(ToolCall(id: id, name: call.name, input: input, isDone: areDone))
        } catch {
            let cut = isTruncated ? ", because the answer was cut off at its token limit" : ""
            return malformed("the input is not JSON\(cut): \(error)")
        }
    }
}

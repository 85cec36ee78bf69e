/// "repeat: TEXT": the text itself, which is useful to try out a client.
struct RepeatText: Intention {
    private let text: String

    /// The whole message is taken, whatever stands in it.
    init?(_ message: String) {
        let start = message.drop(while: \.isWhitespace)
        guard start.lowercased().hasPrefix("repeat:") else { return nil }
        let text = start.dropFirst("repeat:".count).drop { $0 == " " }
        guard !text.isEmpty else { return nil }
        self.text = String(text)
    }

    init?(_ clause: Clause) { return nil }

    var words: String { "repeat a text" }

    func carryOut(at desk: inout Desk) { desk.say(text) }
}

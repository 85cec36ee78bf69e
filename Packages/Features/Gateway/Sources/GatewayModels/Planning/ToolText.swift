/// What a tool has answered, apart from what it says about it in brackets at the end.
struct ToolText {
    let body: String
    let notes: [String]

    init(_ text: String) {
        var rows = text.split(separator: "\n", omittingEmptySubsequences: false)
        var notes: [String] = []
        while let last = rows.last, last.isEmpty || last.hasPrefix("[") && last.last == "]" {
            if !last.isEmpty { notes.insert(String(last.dropFirst().dropLast()), at: 0) }
            rows.removeLast()
        }
        body = rows.joined(separator: "\n")
        self.notes = notes
    }

    /// The notes as a sentence of our own; nil when there is nothing to say.
    var remark: String? { notes.isEmpty ? nil : "*\(notes.joined(separator: "; "))*" }
}

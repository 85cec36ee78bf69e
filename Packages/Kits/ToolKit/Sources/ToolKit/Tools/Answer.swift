/// The text of a result: lines up to a limit, and what there is to say about them.
struct Answer {
    /// All lines together end after this many bytes.
    static let largest = 256 << 10

    private(set) var text = ""
    private var notes: [String] = []
    /// Whether lines were left out for their size.
    private(set) var isFull = false

    /// Adds a line, unless there is no room.
    mutating func add(_ line: String) {
        guard !isFull, text.utf8.count + line.utf8.count < Self.largest else {
            isFull = true
            return
        }
        text += line
        text += "\n"
    }

    mutating func note(_ note: String?) {
        if let note { notes.append(note) }
    }

    /// The lines, then each note in brackets, so that nobody takes it for a part of a file.
    var whole: String {
        text + notes.map { "[\($0)]" }.joined(separator: "\n")
    }
}

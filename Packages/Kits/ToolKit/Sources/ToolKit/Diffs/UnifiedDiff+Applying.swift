import Capabilities

extension UnifiedDiff {
    /// The content of the file after the changes.
    ///
    /// Throws `workspace.patch` where a hunk does not fit, or fits at several places; the error says which and why. A
    /// hunk is found also when its line numbers are wrong, and when up to two lines at its edges were changed.
    public func applied(to content: [UInt8]) throws(WorkspaceError) -> [UInt8] {
        try application(to: content).content
    }

    /// What came of a patch.
    struct Application {
        let content: [UInt8]
        /// What was not quite as the patch says.
        let notes: [String]
    }

    func application(to content: [UInt8]) throws(WorkspaceError) -> Application {
        var placing = HunkPlacing(TextLines(content))
        var result = PatchedLines(placing.file)
        var notes: [String] = []
        for (index, hunk) in hunks.enumerated() {
            let place = try placing.place(hunk, index + 1)
            result.add(place)
            if place.fuzz > 0 {
                notes.append(
                    "hunk \(index + 1) was put to line \(place.lines.lowerBound + 1), where lines around differ")
            } else if placing.drift != 0, hunk.oldStart != nil {
                notes.append("hunk \(index + 1) was found in line \(place.lines.lowerBound + 1)")
            }
        }
        return Application(content: result.finished(), notes: notes)
    }
}

/// The lines of a file with changes in them.
private struct PatchedLines {
    private let file: TextLines
    private var bytes: [UInt8] = []
    private var next = 0
    /// How the last line ends, where that is known from a patch.
    private var lastBreak: Bool?

    init(_ file: TextLines) {
        self.file = file
    }

    mutating func add(_ place: HunkPlacing.Place) {
        copy(until: place.lines.lowerBound)
        for line in place.hunk {
            switch line.kind {
            case .context: copy(until: next + 1)
            case .removed: next += 1
            case .added:
                endLine()
                bytes += line.bytes
                bytes.append(Byte.newline)
                lastBreak = line.hasBreak
            }
        }
        // A patch that takes the last line and does not know that it has no break cannot want to give it one.
        let reachesEnd = place.lines.upperBound == file.count
        if reachesEnd, file.lacksLastBreak, !place.hunk.contains(where: { $0.kind != .added && !$0.hasBreak }) {
            lastBreak = false
        }
    }

    mutating func finished() -> [UInt8] {
        copy(until: file.count)
        if lastBreak == false, bytes.last == Byte.newline { bytes.removeLast() }
        return bytes
    }

    private mutating func copy(until end: Int) {
        while next < end {
            endLine()
            bytes += file.whole(next)
            lastBreak = nil
            next += 1
        }
    }

    /// What comes now is another line, also where the one before had no break.
    private mutating func endLine() {
        if let last = bytes.last, last != Byte.newline { bytes.append(Byte.newline) }
    }
}

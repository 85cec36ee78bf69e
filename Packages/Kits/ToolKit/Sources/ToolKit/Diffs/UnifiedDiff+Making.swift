extension UnifiedDiff {
    /// Finds out what was changed between two contents of a file; nil is one that is not there.
    ///
    /// The time that it takes is bounded. Where the texts have too little in common to look any longer, the diff is
    /// longer than it had to be, and as true.
    public init(from old: [UInt8]?, to new: [UInt8]?, named name: String, context: Int = 3) {
        let (oldLines, newLines) = (TextLines(old ?? []), TextLines(new ?? []))
        self.init(
            oldName: old == nil ? nil : name, newName: new == nil ? nil : name,
            hunks: Self.hunks(LineChanges(from: oldLines, to: newLines).list, oldLines, newLines, max(0, context)))
    }

    static func hunks(_ changes: [LineChange], _ old: TextLines, _ new: TextLines, _ context: Int) -> [Hunk] {
        var hunks: [Hunk] = []
        var rest = changes[...]
        while let first = rest.popFirst() {
            var group = [first]
            // Changes whose lines around would touch are one hunk.
            while let next = rest.first, let last = group.last, next.old.lowerBound - last.old.upperBound <= 2 * context
            {
                group.append(next)
                rest.removeFirst()
            }
            hunks.append(hunk(group, old, new, context))
        }
        return hunks
    }

    private static func hunk(_ group: [LineChange], _ old: TextLines, _ new: TextLines, _ context: Int) -> Hunk {
        let first = group[0]
        let lead = min(context, first.old.lowerBound)
        let (oldFirst, newFirst) = (first.old.lowerBound - lead, first.new.lowerBound - lead)
        var lines: [Line] = []
        var place = oldFirst
        func add(_ kind: Line.Kind, _ range: Range<Int>, of text: TextLines) {
            for index in range {
                lines.append(Line(kind: kind, bytes: Array(text[index]), hasBreak: text.hasBreak(index)))
            }
        }
        for change in group {
            add(.context, place..<change.old.lowerBound, of: old)
            add(.removed, change.old, of: old)
            add(.added, change.new, of: new)
            place = change.old.upperBound
        }
        add(.context, place..<min(old.count, place + context), of: old)
        var hunk = Hunk(oldStart: nil, newStart: nil, lines: lines)
        hunk.oldStart = hunk.oldCount == 0 ? oldFirst : oldFirst + 1
        hunk.newStart = hunk.newCount == 0 ? newFirst : newFirst + 1
        return hunk
    }
}

import Capabilities

/// Finds the place in a file that a hunk was made for.
///
/// The stated place is used if all lines of the hunk are there. Elsewhere the lines must occur only once. If they do
/// not occur, up to two context lines at the beginning and end may differ.
struct HunkPlacer {
    private static let largestFuzz = 2

    let file: TextLines
    /// Earlier lines belong to earlier hunks.
    var first = 0
    /// How far the previous hunk was from its stated place.
    var drift = 0

    /// The lines of the file that a hunk changes, and the lines of the hunk that are used.
    struct Place {
        let lines: Range<Int>
        let hunk: ArraySlice<UnifiedDiff.Line>
        let fuzz: Int
    }

    init(_ file: TextLines) {
        self.file = file
    }

    /// Finds the place of a hunk and continues after it. `number` is the number of the hunk, for errors.
    mutating func place(_ hunk: UnifiedDiff.Hunk, _ number: Int) throws(WorkspaceError) -> Place {
        let found = try find(hunk, number)
        if let stated = Self.stated(hunk), found.fuzz == 0 { drift = found.lines.lowerBound - stated }
        first = found.lines.upperBound
        return found
    }

    /// The stated first line, counted from 0.
    private static func stated(_ hunk: UnifiedDiff.Hunk) -> Int? {
        hunk.oldStart.map { hunk.oldCount == 0 ? $0 : max(0, $0 - 1) }
    }

    private func find(_ hunk: UnifiedDiff.Hunk, _ number: Int) throws(WorkspaceError) -> Place {
        let expected = Self.stated(hunk).map { $0 + drift }
        if hunk.oldCount == 0 { return try insertion(hunk, expected, number) }
        let wanted = hunk.lines.filter { $0.kind != .added }
        if let expected, expected >= first, fits(wanted, at: expected) {
            return Place(lines: expected..<(expected + wanted.count), hunk: hunk.lines[...], fuzz: 0)
        }
        // The fewer lines are left out, the better. All combinations of both ends are tried.
        for fuzz in 0...(2 * Self.largestFuzz) {
            var found: [Int: Place] = [:]
            for lead in max(0, fuzz - Self.largestFuzz)...min(fuzz, Self.largestFuzz) {
                guard let lines = Self.trimmed(hunk.lines, lead, fuzz - lead) else { continue }
                let wanted = lines.filter { $0.kind != .added }
                for start in places(wanted) where found[start - lead] == nil {
                    found[start - lead] = Place(lines: start..<(start + wanted.count), hunk: lines, fuzz: fuzz)
                }
            }
            guard found.count <= 1 else { throw Self.ambiguous(hunk, found.keys.sorted(), number) }
            if let place = found.values.first { return place }
        }
        throw mismatch(hunk, expected, number)
    }

    /// A hunk without context is only at its stated place.
    private func insertion(
        _ hunk: UnifiedDiff.Hunk, _ expected: Int?, _ number: Int
    ) throws(WorkspaceError) -> Place {
        guard let place = file.count == 0 ? 0 : expected, place >= first, place <= file.count else {
            throw WorkspaceError(
                .patch,
                "hunk \(number) (\(hunk.header)) only adds lines and gives no place; include some of the lines"
                    + " around them")
        }
        return Place(lines: place..<place, hunk: hunk.lines[...], fuzz: 0)
    }

    /// The hunk without some lines at both ends; nil if those are not only context, or nothing would be left to find.
    private static func trimmed(_ lines: [UnifiedDiff.Line], _ lead: Int, _ trail: Int) -> ArraySlice<UnifiedDiff.Line>?
    {
        let rest = lines.dropFirst(lead).dropLast(trail)
        let left = Array(lines.prefix(lead)) + lines.suffix(trail)
        guard lead + trail <= lines.count, left.allSatisfy({ $0.kind == .context }) else { return nil }
        return rest.contains { $0.kind != .added } ? rest : nil
    }

    private func places(_ wanted: [UnifiedDiff.Line]) -> [Int] {
        guard file.count - first >= wanted.count else { return [] }
        return (first...(file.count - wanted.count)).filter { fits(wanted, at: $0) }
    }

    private func fits(_ wanted: [UnifiedDiff.Line], at start: Int) -> Bool {
        guard start + wanted.count <= file.count else { return false }
        return wanted.indices.allSatisfy { fits(wanted[$0], at: start + $0) }
    }

    /// A patch that marks a missing line break means the end of the file. A patch without the mark may have forgotten
    /// it.
    private func fits(_ wanted: UnifiedDiff.Line, at index: Int) -> Bool {
        (wanted.hasBreak || !file.hasBreak(index)) && file[index].elementsEqual(wanted.bytes)
    }

    // MARK: Errors

    private static func ambiguous(_ hunk: UnifiedDiff.Hunk, _ starts: [Int], _ number: Int) -> WorkspaceError {
        let shown = starts.prefix(5).map { String(max(0, $0) + 1) }.joined(separator: ", ")
        return WorkspaceError(
            .patch,
            "hunk \(number) (\(hunk.header)) fits at \(starts.count) places, such as lines \(shown); include more of"
                + " the lines around the change")
    }

    private func mismatch(_ hunk: UnifiedDiff.Hunk, _ expected: Int?, _ number: Int) -> WorkspaceError {
        let about = "hunk \(number) (\(hunk.header)) does not fit"
        let after = hunk.lines.filter { $0.kind != .removed }
        if !after.isEmpty, places(after).count == 1 || expected.map({ fits(after, at: $0) }) == true {
            return WorkspaceError(.patch, "\(about): the change is already in the file; remove the hunk")
        }
        let wanted = hunk.lines.filter { $0.kind != .added }
        // The place with the most matching lines shows best what is wrong.
        guard let best = nearest(wanted),
            let differing = wanted.indices.first(where: {
                best + $0 >= file.count || !fits(wanted[$0], at: best + $0)
            })
        else {
            return WorkspaceError(.patch, "\(about): none of its lines are in the file; read the file again")
        }
        let line = best + differing
        let there =
            line < file.count
            ? "line \(line + 1) of the file is \(Self.shown(file[line]))" : "the file ends after line \(file.count)"
        return WorkspaceError(
            .patch, "\(about): expected \(Self.shown(wanted[differing].bytes[...])), but \(there); read the file again")
    }

    /// The place with the most matching lines. In large files the search is limited, because it only improves an error.
    private func nearest(_ wanted: [UnifiedDiff.Line]) -> Int? {
        var best: (start: Int, likeness: Int)?
        for start in (first..<max(first, file.count)).prefix(5_000_000 / max(1, wanted.count)) {
            let likeness = zip(wanted.indices, start..<file.count).count { fits(wanted[$0], at: $1) }
            if likeness > best?.likeness ?? 0 { best = (start, likeness) }
        }
        return best?.start
    }

    private static func shown(_ line: ArraySlice<UInt8>) -> String {
        PlainText.escape(LineText(line, limit: 120).text).quotedForMessage
    }
}

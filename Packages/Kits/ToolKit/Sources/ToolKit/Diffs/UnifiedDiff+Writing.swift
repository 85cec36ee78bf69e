extension UnifiedDiff {
    /// The diff as a text, repaired where lines are no UTF-8.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The diff as `patch` and `git apply` read it; empty where nothing was changed.
    public var bytes: [UInt8] {
        guard !isEmpty else { return [] }
        var bytes: [UInt8] = []
        bytes += "--- \(DiffName.written(oldName, side: "a"))\n".utf8
        bytes += "+++ \(DiffName.written(newName, side: "b"))\n".utf8
        for hunk in hunks {
            bytes += "\(hunk.header)\n".utf8
            for line in hunk.lines {
                bytes.append(line.kind.mark)
                bytes += line.bytes
                bytes.append(Byte.newline)
                if !line.hasBreak { bytes += "\\ No newline at end of file\n".utf8 }
            }
        }
        return bytes
    }
}

extension UnifiedDiff.Hunk {
    /// The line that a hunk begins with, such as `@@ -3,7 +3,8 @@`.
    public var header: String {
        guard let oldStart, let newStart else { return "@@ @@" }
        return "@@ -\(Self.range(oldStart, oldCount)) +\(Self.range(newStart, newCount)) @@"
    }

    private static func range(_ start: Int, _ count: Int) -> String {
        count == 1 ? "\(start)" : "\(start),\(count)"
    }
}

extension UnifiedDiff.Line.Kind {
    /// What a line begins with.
    var mark: UInt8 {
        switch self {
        case .context: UInt8(ascii: " ")
        case .removed: UInt8(ascii: "-")
        case .added: UInt8(ascii: "+")
        }
    }
}

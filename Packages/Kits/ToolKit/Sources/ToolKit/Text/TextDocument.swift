/// A text as tools edit it: in UTF-8, with LF line breaks and without a byte order mark, whatever the file uses.
/// Changes are converted back to the form of the file, line by line.
struct TextDocument: Sendable {
    let format: FileFormat
    /// The text with every CR LF replaced by LF.
    let text: [UInt8]
    /// For each line whether it ended in CR LF; empty if none did.
    private let windowsEndings: [Bool]

    init(_ content: [UInt8], _ path: EntryPath) throws(WorkspaceError) {
        format = FileFormat(whole: content)
        var decoded = Array(content.dropFirst(format.markLength))
        switch format {
        case .binary(let kind):
            throw WorkspaceError(.notFile, "\(path.shown) is not text: \(kind); only text can be edited")
        case .utf16(let isBigEndian):
            var decoder = UTF16Decoder(isBigEndian: isBigEndian)
            decoded = decoder.decode(decoded) + decoder.finish()
            guard Self.encoded(decoded, isBigEndian) == Array(content.dropFirst(2)) else {
                throw WorkspaceError(
                    .notFile, "\(path.shown) is not valid UTF-16, so an edit would lose parts of it; fix it first"
                )
            }
        case .utf8: break
        }
        (text, windowsEndings) = Self.unified(decoded)
    }

    /// A note about the line endings and encoding, if they are unusual.
    var note: String? {
        let windows = windowsEndings.count { $0 }
        let endings =
            windows == 0
            ? nil : windows == text.count(where: { $0 == Byte.newline }) ? "CR LF" : "CR LF in \(windows) lines"
        switch (format, endings) {
        case (.utf16, nil): return "UTF-16 is kept"
        case (.utf16, let endings?): return "UTF-16 and \(endings) are kept"
        case (_, let endings?): return "line ends of \(endings) are kept"
        default: return nil
        }
    }

    /// The content of the file with a new text. Unchanged lines keep their endings. Other lines get the ending of the
    /// line before, if the file has both kinds.
    func content(with new: [UInt8]) -> [UInt8] {
        encoded(windowsEndings.isEmpty ? new : restored(new))
    }

    /// A text in the encoding of the file, with its byte order mark.
    func encoded(_ text: [UInt8]) -> [UInt8] {
        switch format {
        case .utf8(hasMark: true): [0xEF, 0xBB, 0xBF] + text
        case .utf16(let isBigEndian):
            (isBigEndian ? [0xFE, 0xFF] : [0xFF, 0xFE]) + Self.encoded(text, isBigEndian)
        default: text
        }
    }

    private func restored(_ new: [UInt8]) -> [UInt8] {
        let (oldLines, newLines) = (TextLines(text), TextLines(new))
        let usual = windowsEndings.count { $0 } * 2 >= windowsEndings.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(new.count + newLines.count)
        func add(_ index: Int, _ isWindows: Bool) {
            bytes += newLines[index]
            if newLines.hasBreak(index) { bytes += isWindows ? [Byte.carriageReturn, Byte.newline] : [Byte.newline] }
        }
        var (old, next) = (0, 0)
        func keep(until end: Int) {
            while old < end {
                add(next, old < windowsEndings.count ? windowsEndings[old] : usual)
                (old, next) = (old + 1, next + 1)
            }
        }
        for change in LineChanges(from: oldLines, to: newLines).list {
            keep(until: change.old.lowerBound)
            for index in change.new {
                // A line that replaces another one gets its ending.
                let like = min(old + index - change.new.lowerBound, max(old, change.old.upperBound - 1))
                let near = change.old.isEmpty ? old - 1 : like
                add(index, windowsEndings.indices.contains(near) ? windowsEndings[near] : usual)
            }
            (old, next) = (change.old.upperBound, change.new.upperBound)
        }
        keep(until: oldLines.count)
        return bytes
    }

    /// Replaces every CR LF by LF, and reports which lines had one.
    static func unified(_ bytes: [UInt8]) -> (text: [UInt8], windowsEndings: [Bool]) {
        guard bytes.contains(Byte.carriageReturn) else { return (bytes, []) }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var endings: [Bool] = []
        var any = false
        for byte in bytes {
            if byte == Byte.newline {
                let isWindows = text.last == Byte.carriageReturn
                if isWindows { text.removeLast() }
                endings.append(isWindows)
                any = any || isWindows
            }
            text.append(byte)
        }
        return (text, any ? endings : [])
    }

    private static func encoded(_ text: [UInt8], _ isBigEndian: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 2)
        for unit in String(decoding: text, as: UTF8.self).utf16 {
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            bytes += isBigEndian ? [high, low] : [low, high]
        }
        return bytes
    }
}

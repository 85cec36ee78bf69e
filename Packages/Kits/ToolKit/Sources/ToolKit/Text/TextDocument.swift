/// A text as tools edit it: in UTF-8, with line breaks of one kind and without a byte order mark, whatever it is written
/// in. What was changed is put back into the file's own form, line by line.
struct TextDocument: Sendable {
    let format: FileFormat
    /// The text with LF for every CR LF.
    let text: [UInt8]
    /// For each line of the text whether it ended in CR LF; empty where none did.
    private let windowsEndings: [Bool]

    init(_ content: [UInt8], _ path: EntryPath) throws(WorkspaceError) {
        format = FileFormat(whole: content)
        var decoded = Array(content.dropFirst(format.markLength))
        switch format {
        case .binary(let kind):
            throw WorkspaceError(.notFile, "\(path.shown) is no text: \(kind); only texts can be edited")
        case .utf16(let isBigEndian):
            var decoder = UTF16Decoder(isBigEndian: isBigEndian)
            decoded = decoder.decode(decoded) + decoder.finish()
            guard Self.encoded(decoded, isBigEndian) == Array(content.dropFirst(2)) else {
                throw WorkspaceError(
                    .notFile, "\(path.shown) is not sound UTF-16, so that an edit would lose parts of it; mend it first"
                )
            }
        case .utf8: break
        }
        (text, windowsEndings) = Self.unified(decoded)
    }

    /// How lines end, where that is worth telling.
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

    /// The file's content with another text. Lines that stay keep their ends; others get those of the line before, as
    /// far as the file has both.
    func content(with new: [UInt8]) -> [UInt8] {
        encoded(windowsEndings.isEmpty ? new : restored(new))
    }

    /// A text in the file's encoding, with the mark that it begins with.
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
                // A line that takes the place of another ends like that one.
                let like = min(old + index - change.new.lowerBound, max(old, change.old.upperBound - 1))
                let near = change.old.isEmpty ? old - 1 : like
                add(index, windowsEndings.indices.contains(near) ? windowsEndings[near] : usual)
            }
            (old, next) = (change.old.upperBound, change.new.upperBound)
        }
        keep(until: oldLines.count)
        return bytes
    }

    /// LF for every CR LF, and which lines had one.
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

import CToolKit
import Capabilities

/// A replacement of one text by another.
struct TextEdit: Sendable {
    private let old: [UInt8]
    private let new: [UInt8]
    private let replacesAll: Bool

    init(_ input: ToolInput) {
        // A model sees no CR LF. If it writes CR LF, the line endings of the file are used.
        old = TextDocument.unified(Array(input.text("old_text").utf8)).text
        new = TextDocument.unified(Array(input.text("new_text").utf8)).text
        replacesAll = input.flag("replace_all")
    }

    /// The text with the edit applied. `number` is the number of the edit, for errors.
    func applied(to text: [UInt8], number: Int) throws(WorkspaceError) -> [UInt8] {
        guard !old.isEmpty else {
            throw WorkspaceError(.edit, "edit \(number) has no old_text; add the text to replace")
        }
        guard old != new else {
            throw WorkspaceError(.edit, "edit \(number) changes nothing: both texts are the same; remove it")
        }
        let places = self.places(in: text)
        guard places.count > 0 else { throw missing(in: text, number) }
        guard places.count == 1 || replacesAll else {
            let lines = places.prefix(5).map { String(line(of: $0, in: text)) }.joined(separator: ", ")
            let more = places.count > 5 ? " and more" : ""
            throw WorkspaceError(
                .edit,
                "the old_text of edit \(number) occurs at \(places.count > 5 ? "many" : "\(places.count)") places"
                    + " (lines \(lines)\(more)); add more of the surrounding text, or set replace_all")
        }
        let size = text.count + places.count * max(0, new.count - old.count)
        guard size <= ExistingFile.largest else {
            throw WorkspaceError(
                .edit, "edit \(number) would make the text larger than the limit of \(ExistingFile.largest >> 20) MiB")
        }
        var result: [UInt8] = []
        var end = 0
        for place in places {
            result += text[end..<place]
            result += new
            end = place + old.count
        }
        return result + text[end...]
    }

    /// For replace_all, the places one after the other. Otherwise also overlapping places, because the edit is
    /// ambiguous then. No more places are searched than an error reports.
    private func places(in text: [UInt8]) -> [Int] {
        unsafe text.withUnsafeBytes { text in
            unsafe old.withUnsafeBytes { old in
                var places: [Int] = []
                guard let start = text.baseAddress, let wanted = old.baseAddress else { return [] }
                var place = 0
                while replacesAll || places.count <= 5,
                    let found = unsafe toolkit_place(start + place, text.count - place, wanted, old.count)
                {
                    place = unsafe found - start
                    places.append(place)
                    place += replacesAll ? old.count : 1
                }
                return places
            }
        }
    }

    private func line(of place: Int, in text: [UInt8]) -> Int {
        text[..<place].count { $0 == Byte.newline } + 1
    }

    // MARK: Missing texts

    private func missing(in text: [UInt8], _ number: Int) -> WorkspaceError {
        let about = "the old_text of edit \(number) was not found"
        if let line = lineIgnoringSpace(in: text) {
            return WorkspaceError(
                .edit,
                "\(about); the text at line \(line) differs only in spaces and tabs: copy it exactly")
        }
        if hasLineNumbers {
            return WorkspaceError(.edit, "\(about); remove the line numbers and tabs that fs.read puts before lines")
        }
        return WorkspaceError(.edit, "\(about); read the file again and copy the text exactly")
    }

    private func lineIgnoringSpace(in text: [UInt8]) -> Int? {
        let (file, wanted) = (Self.words(text), Self.words(old).drop(while: \.isEmpty))
        // This is only a hint, and searching long texts in long files takes too long.
        guard let first = wanted.first, file.count >= wanted.count, file.count * wanted.count < 10_000_000 else {
            return nil
        }
        for start in 0...(file.count - wanted.count) where file[start] == first {
            if zip(wanted, file[start...]).allSatisfy({ $0 == $1 }) { return start + 1 }
        }
        return nil
    }

    /// Each line without spaces and tabs.
    private static func words(_ text: [UInt8]) -> [[UInt8]] {
        text.split(separator: Byte.newline, omittingEmptySubsequences: false).map { line in
            line.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        }
    }

    private var hasLineNumbers: Bool {
        let digits = old.drop { $0 == UInt8(ascii: " ") }.prefix { (0x30...0x39).contains($0) }
        return !digits.isEmpty && digits.endIndex < old.count && old[digits.endIndex] == UInt8(ascii: "\t")
    }
}

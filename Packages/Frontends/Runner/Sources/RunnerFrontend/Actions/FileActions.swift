import Capabilities
import FileKit
import JSON
import Registry

/// Files for the steps of bundles: what a step has found is kept, and what another program has left is taken.
enum FileActions {
    static var all: [Action] { [read, write] }

    private static let largest = 8 << 20

    private static let read = Action(
        "file.read", "Read a text file", .reads, .argument("path", "The file", as: ReadPath.self)
    ) { context, path in
        let file = try context.path(path)
        guard let text = String(validating: try file.read(limit: largest), as: UTF8.self) else {
            throw RunnerError.file("\(PlainText.escape(file.absolute)) is no text in UTF-8")
        }
        return FileText(path: file.absolute, text: text)
    }

    private static let write = Action(
        "file.write", "Write a text file", .writes,
        .argument("path", "The file; folders above it are made", as: WritePath.self),
        .option("text", "What it will hold", as: String.self),
        .flag("append", "Add to what it holds")
    ) { context, path, text, append in
        let file = try context.path(path)
        if context.host.redactor.redact(text) != text {
            context.notice(
                "\(PlainText.escape(file.absolute)) gets a secret that everybody can read who can read the file")
        }
        if append { try file.append(Array(text.utf8)) } else { try file.write(Array(text.utf8)) }
        return WrittenFile(path: file.absolute, size: ByteCount(try file.size()))
    }
    .example("martlet file write notes.txt --text \"Call the printer\"", "In the folder where you are")
}

/// A file that was read.
struct FileText: Record {
    let path: String
    let text: String

    static let fields: [Field<FileText>] = [
        Field("path", "The file", .name) { $0.path }, Field("text", "What it holds") { $0.text },
    ]
}

/// A file that was written.
struct WrittenFile: Record {
    let path: String
    let size: ByteCount

    static let fields: [Field<WrittenFile>] = [
        Field("path", "The file", .name) { $0.path }, Field("size", "What it holds now") { $0.size },
    ]
}

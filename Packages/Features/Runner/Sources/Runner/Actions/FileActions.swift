import Capabilities
import FileKit
import JSON
import Registry

/// Reads and writes text files for the steps of bundles.
enum FileActions {
    static var all: [Action] { [read, write] }

    private static let largest = 8 << 20

    private static let read = Action(
        "file.read", "Read a text file", .reads, .argument("path", "The file to read", as: ReadPath.self)
    ) { context, path in
        let file = try context.path(path)
        guard let text = String(validating: try file.read(limit: largest), as: UTF8.self) else {
            throw RunnerError.file("cannot read \(PlainText.escape(file.absolute)): it is not UTF-8 text")
        }
        return FileText(path: file.absolute, text: text)
    }

    private static let write = Action(
        "file.write", "Write a text file", .writes,
        .argument("path", "The file to write; missing folders are created", as: WritePath.self),
        .option("text", "The text to write", as: String.self),
        .flag("append", "Append to the file instead of replacing it")
    ) { context, path, text, append in
        let file = try context.path(path)
        if context.host.redactor.redact(text) != text {
            context.notice(
                "\(PlainText.escape(file.absolute)) will contain a secret that everyone who can read the file can see")
        }
        if append { try file.append(Array(text.utf8)) } else { try file.write(Array(text.utf8)) }
        return WrittenFile(path: file.absolute, size: ByteCount(try file.size()))
    }
    .example("martlet file write notes.txt --text \"Call the printer\"", "Write a file into the current folder")
}

/// A file that was read.
struct FileText: Record {
    let path: String
    let text: String

    static let fields: [Field<FileText>] = [
        Field("path", "The file", .name) { $0.path }, Field("text", "Text of the file") { $0.text },
    ]
}

/// A file that was written.
struct WrittenFile: Record {
    let path: String
    let size: ByteCount

    static let fields: [Field<WrittenFile>] = [
        Field("path", "The file", .name) { $0.path }, Field("size", "Size of the file") { $0.size },
    ]
}

import Capabilities
import FileKit
import JSON
import Registry

/// Files for the steps of bundles: what a step has found is kept, and what another program has left is taken.
enum FileActions {
    static var all: [Action] { [read, write] }

    private static let largest = 8 << 20

    private static let read = Action(
        "file.read", "Read a text file", .reads, .argument("path", "The file", as: PathValue.self)
    ) { context, path in
        let path = absolute(path, context.host)
        let bytes = try Files.read(path, limit: largest)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw RunnerError.file("\(PlainText.escape(path)) is no text in UTF-8")
        }
        return FileText(path: path, text: text)
    }

    private static let write = Action(
        "file.write", "Write a text file", .writes,
        .argument("path", "The file; folders above it are made", as: PathValue.self),
        .option("text", "What it will hold", as: String.self),
        .flag("append", "Add to what it holds")
    ) { context, path, text, append in
        let path = absolute(path, context.host)
        if context.host.redactor.redact(text) != text {
            context.notice("\(PlainText.escape(path)) gets a secret that everybody can read who can read the file")
        }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try Files.makeDirectories(String(path[..<slash]), mode: 0o755)
        }
        if append {
            let file = try LineFile(path, isNew: false)
            file.write(text)
            try file.check()
        } else {
            try Files.writeAtomically(Array(text.utf8), to: path)
        }
        return WrittenFile(path: path, size: ByteCount(Int(try Files.info(path).size)))
    }
    .example("martlet file write notes.txt --text \"Call the printer\"", "In the folder where you are")

    private static func absolute(_ path: PathValue, _ host: Host) -> String {
        BundleFinder(host: host, trusted: nil).absolute(path.text)
    }
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

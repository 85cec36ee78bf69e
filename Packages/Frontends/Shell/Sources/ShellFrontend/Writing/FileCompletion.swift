import Capabilities
import FileKit
import Registry

/// Finds the files that a word may become, by the completion that the parameter of the action declares.
///
/// It reads folders, so it is not for the loop that draws.
struct FileCompletion: Sendable {
    let context: ActionContext

    /// - Throws: why a folder cannot be read. One that does not exist has no files.
    func matches(_ request: FileRequest) throws -> [OpenWord.Match] {
        // As on a command line: others need the right to list what features find.
        guard context.caller.isPerson else { return [] }
        let path = request.word.typed
        let declared = context.registry.actions[request.action]?.parameters.first { $0.name == request.parameter }
        switch declared?.completion {
        case .nothing, nil: return []
        case .words(let words): return Self.fitting(words, path)
        case .files: return try files(path, onlyFolders: false)
        case .directories: return try files(path, onlyFolders: true)
        case .dynamic(let find): return Self.fitting(find(context.registry, context.host, request.given), path)
        case .dynamicOrFiles(let find):
            let found = Self.fitting(find(context.registry, context.host, request.given), path)
            return found + (try files(path, onlyFolders: false)).filter { !found.contains($0) }
        }
    }

    private static func fitting(_ candidates: [Completion.Candidate], _ path: String) -> [OpenWord.Match] {
        fitting(candidates.map(\.word), path)
    }

    private static func fitting(_ words: [String], _ path: String) -> [OpenWord.Match] {
        words.filter { $0.begins(with: path) && canOffer($0) }.map { OpenWord.Match(text: $0, name: $0) }
    }

    /// The files and folders of the folder that is written so far. Hidden ones have to be begun with their dot.
    private func files(_ path: String, onlyFolders: Bool) throws -> [OpenWord.Match] {
        // By bytes, because Swift takes a slash with an accent for one character.
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path.unicodeScalars[...$0]) } ?? ""
        let start = slash.map { String(path.unicodeScalars[path.unicodeScalars.index(after: $0)...]) } ?? path
        let place = try context.path(ReadPath(folder.isEmpty ? "." : folder)).absolute
        let entries: [Files.Entry]
        do throws(FileError) { entries = try Files.list(place) } catch {
            if error.kind == .notFound || error.kind == .notDirectory { return [] }
            throw error
        }
        var matches: [OpenWord.Match] =
            start == ".." ? [OpenWord.Match(text: "\(path)/", name: "../", isOpen: true)] : []
        for entry in entries where entry.name.begins(with: start) {
            guard entry.name.utf8.first != UInt8(ascii: ".") || !start.isEmpty, Self.canOffer(folder + entry.name)
            else { continue }
            switch kind(of: entry, in: place) {
            case .directory:
                matches.append(
                    OpenWord.Match(text: "\(folder)\(entry.name)/", name: "\(entry.name)/", isOpen: true))
            case .regular where !onlyFolders:
                matches.append(OpenWord.Match(text: folder + entry.name, name: entry.name))
            default: continue
            }
        }
        return matches
    }

    /// The kind of an entry, of a link that of what it leads to.
    private func kind(of entry: Files.Entry, in folder: String) -> FileInfo.Kind {
        guard entry.kind == .symbolicLink else { return entry.kind }
        // A link that leads nowhere is offered as little as a socket.
        do throws(FileError) { return try Files.info(AbsolutePath.joined(entry.name, in: folder)).kind } catch {
            return .symbolicLink
        }
    }

    /// Whether a name can be shown, written and read back as the same name. One with control characters, direction marks
    /// or line breaks cannot, and neither can one whose bytes are no text.
    private static func canOffer(_ path: String) -> Bool {
        PlainText.escape(path) == path && !path.unicodeScalars.contains { $0 == "\u{FFFC}" || $0 == "\u{FFFD}" }
            && FileMention.canWrite(path)
    }
}

extension String {
    /// Whether a text begins with another one, scalar by scalar: Swift finds no `e` at the start of `é`.
    func begins(with start: String) -> Bool { unicodeScalars.starts(with: start.unicodeScalars) }
}

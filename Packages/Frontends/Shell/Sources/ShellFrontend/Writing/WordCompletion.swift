import Capabilities
import FileKit
import Registry

/// Finds what a word may become, by the completion that the parameter of the action or screen declares.
///
/// It reads folders, and what features look for, so it is not for the loop that draws.
struct WordCompletion: Sendable {
    let context: ActionContext

    /// - Throws: why a folder cannot be read. One that does not exist has no files.
    func matches(_ request: CompletionRequest) throws -> [OpenWord.Match] {
        // As on a command line: others need the right to list what features find.
        guard context.caller.isPerson else { return [] }
        let (word, registry) = (request.word, context.registry)
        let parameters =
            switch request.target {
            case .action(let id): registry.actions[id]?.parameters
            case .screen(let id): registry.screens[id]?.parameters
            }
        switch parameters?.first(where: { $0.name == request.parameter })?.completion {
        case .nothing, nil: return []
        case .words(let words): return Self.fitting(words, word)
        case .files where request.isOnlyForWords, .directories where request.isOnlyForWords: return []
        case .files: return try files(word, onlyFolders: false)
        case .directories: return try files(word, onlyFolders: true)
        case .dynamic(let find): return Self.fitting(find(registry, context.host, request.given), word)
        case .dynamicOrFiles(let find):
            let found = Self.fitting(find(registry, context.host, request.given), word)
            guard !request.isOnlyForWords else { return found }
            return found + (try files(word, onlyFolders: false)).filter { !found.contains($0) }
        }
    }

    private static func fitting(_ candidates: [Completion.Candidate], _ word: OpenWord) -> [OpenWord.Match] {
        fitting(candidates.map(\.word).withoutRepeats, word)
    }

    private static func fitting(_ words: [String], _ word: OpenWord) -> [OpenWord.Match] {
        words.filter { $0.begins(with: word.typed) && canOffer($0, for: word) }
            .map { OpenWord.Match(text: $0, name: $0) }
    }

    /// The files and folders of the folder that is written so far. Hidden ones have to be begun with their dot.
    private func files(_ word: OpenWord, onlyFolders: Bool) throws -> [OpenWord.Match] {
        let path = word.typed
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
            guard entry.name.utf8.first != UInt8(ascii: ".") || !start.isEmpty,
                Self.canOffer(folder + entry.name, for: word)
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
    private static func canOffer(_ text: String, for word: OpenWord) -> Bool {
        PlainText.escape(text) == text && !text.unicodeScalars.contains { $0 == "\u{FFFC}" || $0 == "\u{FFFD}" }
            && word.canBecome(text)
    }
}

extension String {
    /// Whether a text begins with another one, scalar by scalar: Swift finds no `e` at the start of `é`.
    func begins(with start: String) -> Bool { unicodeScalars.starts(with: start.unicodeScalars) }
}

import CToolKit
import FileKit

extension Folder {
    /// A larger file of rules is no file of rules.
    private static let largestIgnoreFile = 1 << 20

    /// The rules of the folder at a path, within those of the folders above. A link is not followed: git does not either.
    func scope(at path: EntryPath, base: Int, within parent: IgnoreScope?) -> IgnoreScope? {
        scope(reading: path.appending(".gitignore".utf8), base: base, within: parent)
    }

    /// The rules that a repository has beside those in its files, which come last.
    func repositoryScope() -> IgnoreScope? {
        scope(reading: EntryPath(bytes: Array(".git/info/exclude".utf8)), base: 0, within: nil)
    }

    private func scope(reading path: EntryPath, base: Int, within parent: IgnoreScope?) -> IgnoreScope? {
        // No such file, no right to read it, no regular file: then there are no rules.
        guard let file = try? file(path), let text = try? file.readAll(limit: Self.largestIgnoreFile) else {
            return parent
        }
        let rules = IgnoreRule.parse(text)
        return rules.isEmpty ? parent : IgnoreScope(rules, base: base, within: parent)
    }
}

extension FileDescriptor {
    /// All of a file, which is refused when it is larger.
    borrowing func readAll(limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let more = try read(upTo: 1 << 14)
            if more.isEmpty { return bytes }
            bytes += more
            guard bytes.count <= limit else {
                throw WorkspaceError(.system, "\(path) is larger than \(limit) bytes; read a part of it")
            }
        }
    }
}

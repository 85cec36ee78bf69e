import Capabilities
import FileKit

/// A git repository, found from a folder as git finds it. This only reads files and runs nothing.
struct GitRepository {
    static let name = ".git"

    /// The checkout that it was found from. Hooks run there.
    let top: AbsolutePath
    /// The path of its folder, as the checkout names it.
    let path: String
    /// The folder of the checkout's own files: HEAD and index.
    let own: AbsolutePath
    /// The folder that all checkouts share: objects, settings, hooks. It differs from `own` only for a linked worktree.
    let common: AbsolutePath
    /// Whether the repository names the checkout in turn. Otherwise whoever wrote the checkout's `.git` chose the
    /// repository, which may belong to something else.
    let isBound: Bool

    /// A bare repository.
    init(bare place: AbsolutePath) {
        (top, path, own, common, isBound) = (place, place.text, place, place, true)
    }

    /// The repository of a checkout; nil if the folder is not a checkout.
    init?(of top: AbsolutePath) throws(SandboxError) {
        let git = top.appending(Self.name)
        self.top = top
        guard let line = try Self.line(git.text) else {
            // A folder, or missing.
            guard Files.exists("\(git.text)/HEAD") else { return nil }
            (self.path, self.own, self.common, self.isBound) = (git.text, git, git, true)
            return
        }
        guard line.hasPrefix(Self.mark) else { return nil }
        path = AbsolutePath.joined(String(line.dropFirst(Self.mark.count)), in: top.text)
        guard let own = Self.place(path), Files.exists("\(own.text)/HEAD") else { return nil }
        self.own = own
        guard let shared = try Self.line("\(own.text)/commondir") else {
            self.common = own
            isBound = try Self.checkout(of: own) == top
            return
        }
        guard let common = Self.place(AbsolutePath.joined(shared, in: own.text)) else { return nil }
        self.common = common
        let back = try Self.line("\(own.text)/gitdir").flatMap { Self.place(AbsolutePath.joined($0, in: own.text)) }
        isBound = own.folder == common.appending("worktrees") && back == git
    }

    /// The repository that git finds in the folders above; nil if there is none.
    init?(above folder: AbsolutePath) throws(SandboxError) {
        var top = folder
        while !top.names.isEmpty {
            top = top.folder
            if let found = try GitRepository(of: top) {
                self = found
                return
            }
        }
        return nil
    }

    /// Its settings files.
    var settings: [String] {
        var files = ["config", "config.worktree"].map { common.appending($0).text }
        if own != common { files.append(own.appending("config.worktree").text) }
        return files
    }
}

// MARK: Other checkouts

extension GitRepository {
    /// A linked worktree or a submodule.
    struct Checkout {
        let top: AbsolutePath
        /// The settings files of its repository.
        let settings: [String]
    }

    /// All checkouts of the repository, including those of its submodules.
    func checkouts() throws(SandboxError) -> [Checkout] {
        var search = Search()
        try search.add(common)
        if own != common { try search.addSubmodules(in: own.appending("modules")) }
        return search.found
    }

    private struct Search {
        /// A limit, because each one adds to the time for creating a sandbox.
        static let most = 2000

        var found: [Checkout] = []
        private var count = 0

        init() {}

        mutating func add(_ git: AbsolutePath) throws(SandboxError) {
            let settings = git.appending("config").text
            for own in try folders(in: git.appending("worktrees")) {
                if let path = try GitRepository.line("\(own.text)/gitdir"),
                    let top = GitRepository.place(
                        AbsolutePath(AbsolutePath.joined(path, in: own.text)).folder.text)
                {
                    found.append(Checkout(top: top, settings: [settings, own.appending("config.worktree").text]))
                }
                try addSubmodules(in: own.appending("modules"))
            }
            try addSubmodules(in: git.appending("modules"))
        }

        /// The name of a submodule may contain slashes. Its repository is deeper then.
        mutating func addSubmodules(in folder: AbsolutePath) throws(SandboxError) {
            for git in try folders(in: folder) {
                guard Files.exists("\(git.text)/HEAD") else {
                    try addSubmodules(in: git)
                    continue
                }
                if let top = try GitRepository.checkout(of: git) {
                    let settings = ["config", "config.worktree"].map { git.appending($0).text }
                    found.append(Checkout(top: top, settings: settings))
                }
                try add(git)
            }
        }

        private mutating func folders(in folder: AbsolutePath) throws(SandboxError) -> [AbsolutePath] {
            // Most repositories do not have this folder.
            let listed = try SandboxError.unlessAbsent { () throws(FileError) in try Files.list(folder.text) }
            guard let entries = listed else { return [] }
            count += entries.count
            guard count <= Self.most else {
                throw SandboxError(
                    .folder,
                    "cannot run commands here: \(PlainText.escape(folder.text)) has too many submodules to guard"
                )
            }
            return entries.filter { $0.kind == .directory }.map { folder.appending($0.name) }
        }
    }
}

// MARK: Reading

extension GitRepository {
    private static let mark = "gitdir: "

    /// The folder that a submodule's repository names as its checkout.
    private static func checkout(of git: AbsolutePath) throws(SandboxError) -> AbsolutePath? {
        for name in ["config.worktree", "config"] {
            if let path = try GitSettings.read(git.appending(name).text).worktree {
                return place(AbsolutePath.joined(path, in: git.text))
            }
        }
        return nil
    }

    /// The canonical path; nil if it does not exist.
    private static func place(_ path: String) -> AbsolutePath? { (try? Files.canonical(path)).map { AbsolutePath($0) } }

    /// The first line of a file; nil if it is not a file, or empty.
    private static func line(_ file: String) throws(SandboxError) -> String? {
        let content = try SandboxError.unlessAbsent { () throws(FileError) in try Files.read(file, limit: 1 << 20) }
        guard let bytes = content else { return nil }
        // git would read the path only up to the zero byte.
        if bytes.contains(0) { throw SandboxError.settings(file) }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }
}

/// The paths in a git settings file that make git run programs, or that belong to a repository.
struct GitSettings: Equatable {
    /// The hook folder.
    var hooks: String?
    /// Included settings files.
    var included: [String] = []
    /// The checkout folder, which a submodule names.
    var worktree: String?
}

extension GitSettings {
    /// Empty for a file that does not exist.
    static func read(_ file: String) throws(SandboxError) -> GitSettings {
        let content = try SandboxError.unlessAbsent { () throws(FileError) in try Files.read(file, limit: 1 << 20) }
        guard let content else { return GitSettings() }
        guard let settings = GitSettings(content) else { throw SandboxError.settings(file) }
        return settings
    }

    /// Nil if a value has syntax that only git can parse, such as inner quotes or several lines.
    init?(_ bytes: [UInt8]) {
        self.init()
        var section = ""
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            var rest = line.drop(while: \.isWhitespace)
            if rest.first == "[" {
                section = rest.dropFirst().prefix { $0 != "]" }.lowercased()
                rest = rest.drop { $0 != "]" }.dropFirst().drop(while: \.isWhitespace)
            }
            guard let equals = rest.firstIndex(of: "=") else { continue }
            let key = rest[..<equals].filter { !$0.isWhitespace }.lowercased()
            let isIncluded = section.hasPrefix("include") && key == "path"
            guard isIncluded || section == "core" && ["hookspath", "worktree"].contains(key) else { continue }
            guard let value = Self.value(rest[equals...].dropFirst().drop(while: \.isWhitespace)) else { return nil }
            if isIncluded {
                included.append(value)
            } else if key == "worktree" {
                worktree = value
            } else {
                hooks = value.isEmpty ? nil : value
            }
        }
    }

    /// Nil unless it is one plain or one quoted text.
    private static func value(_ text: Substring) -> String? {
        guard text.first == "\"" else {
            var word = text.prefix { $0 != "#" && $0 != ";" }
            while word.last?.isWhitespace == true { word.removeLast() }
            return word.contains("\"") || word.contains("\\") ? nil : String(word)
        }
        let parts = text.dropFirst().split(separator: "\"", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].contains("\\") else { return nil }
        let rest = parts[1].drop(while: \.isWhitespace)
        return rest.isEmpty || rest.first == "#" || rest.first == ";" ? String(parts[0]) : nil
    }
}

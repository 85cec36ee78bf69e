import CToolKit
public import Capabilities
import FileKit
import Glibc
import LoopKit
import ProcessKit
public import SandboxKit

/// A folder, opened once. Tools work inside it and cannot leave it.
///
/// Paths are relative to it. Links are followed only if they stay inside. `..` is allowed inside. Absolute paths,
/// FIFOs, sockets and devices are rejected. The folder may be renamed while it is open. After it is removed, everything
/// throws `.gone`.
public final class Workspace: Sendable {
    /// The path by which it was opened.
    public let path: String
    let root: Folder
    /// The paths that rules deny to tools.
    let denied: DeniedGlobs

    /// Opens the folder at a system path, which may be absolute and contain links.
    public convenience init(_ path: String) throws(WorkspaceError) {
        try self.init(path, resolver: nil)
    }

    /// Opens the folder at an absolute path that had no links when it was accepted. If a part of the path has become a
    /// link, it is rejected, because it could lead to a folder that was not accepted.
    public convenience init(canonical path: String) throws(WorkspaceError) {
        try self.init(canonical: path, resolver: nil)
    }

    init(canonical path: String, resolver: Folder.Resolver?) throws(WorkspaceError) {
        let entry = try EntryPath(path)
        guard entry.isAbsolute else {
            throw WorkspaceError(.input, "\(entry.shown) is not an absolute path")
        }
        let top = try Workspace("/", resolver: resolver).root
        let below = EntryPath(bytes: Array(entry.bytes.drop { $0 == Byte.slash }))
        do throws(WorkspaceError) {
            root = Folder(try top.open(below, to: .list, followingLinks: false), resolver: top.resolver)
        } catch {
            guard error.kind == .outside || error.kind == .notFolder else { throw error }
            throw WorkspaceError(
                .outside,
                "\(entry.shown) is not a folder any more, or its path contains a link; restore it, or add the new one")
        }
        self.path = path
        denied = DeniedGlobs()
    }

    /// The same folder, with denied paths.
    public init(_ workspace: Workspace, denying denied: DeniedPaths, home: String?) {
        (path, root) = (workspace.path, workspace.root)
        self.denied = DeniedGlobs(denied, in: workspace.places(home: home))
    }

    /// The current location of the folder.
    public var place: AbsolutePath { AbsolutePath(bytes: root.location) }

    /// The base paths for patterns in rules about this folder.
    public func places(home: String?) -> PathGlob.Places {
        PathGlob.Places(folder: place, home: home.map { AbsolutePath($0) })
    }

    /// A given resolver is used whatever the kernel supports.
    init(_ path: String, resolver: Folder.Resolver?) throws(WorkspaceError) {
        let entry = try EntryPath(path)
        let opened = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { throw WorkspaceError(errno, entry) }
        let folder = FileDescriptor(owning: opened, path: entry.shown)
        self.path = path
        root = Folder(folder, resolver: resolver)
        denied = DeniedGlobs()
    }

    /// Throws `.gone` if the folder was removed.
    private func requirePresent() throws(WorkspaceError) {
        guard try EntryStatus(of: root.descriptor).links > 0 else {
            throw WorkspaceError(
                .gone, "the working folder \(PlainText.escape(path)) was removed; choose another one")
        }
    }
}

extension Workspace {
    /// Opens a requested file. It is checked before it is opened, because opening alone can trigger a device.
    func file(_ path: EntryPath) throws(WorkspaceError) -> FileDescriptor {
        try hinting(path) { () throws(WorkspaceError) in
            let place = try root.open(path, to: .look, followingLinks: true)
            try Folder.requireRegular(EntryStatus(of: place), path)
            let file = try root.open(path, to: .read, followingLinks: true)
            try Folder.requireRegular(EntryStatus(of: file), path)
            try requireAllowed(path, at: Folder.location(of: file))
            return file
        }
    }

    /// Opens a requested folder.
    func folder(_ path: EntryPath) throws(WorkspaceError) -> Folder {
        try hinting(path) { () throws(WorkspaceError) in
            let folder = Folder(try root.open(path, to: .list, followingLinks: true), resolver: root.resolver)
            try requireAllowed(path, at: folder.location)
            return folder
        }
    }

    /// The kind of file that a requested path leads to.
    func kind(_ path: EntryPath) throws(WorkspaceError) -> FileInfo.Kind {
        try hinting(path) { () throws(WorkspaceError) in
            let place = try root.open(path, to: .look, followingLinks: true)
            try requireAllowed(path, at: Folder.location(of: place))
            return try EntryStatus(of: place).kind
        }
    }

    /// The real location of a requested path, with all links followed.
    func location(_ path: EntryPath) throws(WorkspaceError) -> AbsolutePath {
        try hinting(path) { () throws(WorkspaceError) in
            let location = Folder.location(of: try root.open(path, to: .look, followingLinks: true))
            try requireAllowed(path, at: location)
            return AbsolutePath(bytes: location)
        }
    }

    /// Adds a suggestion from the same folder to a "not found" error.
    func hinting<T: ~Copyable>(
        _ path: EntryPath, _ body: () throws(WorkspaceError) -> T
    ) throws(WorkspaceError) -> T {
        do throws(WorkspaceError) {
            return try body()
        } catch {
            guard error.kind == .notFound else { throw error }
            let above = EntryPath(bytes: Array(path.bytes.prefix(path.nameStart)))
            let name = String(decoding: path.bytes.dropFirst(path.nameStart), as: UTF8.self)
            guard let folder = try? root.open(above, to: .list, followingLinks: true),
                let names = try? Listing(of: folder, limit: 10_000).names
            else {
                // Without a listing there is nothing to add.
                throw error
            }
            let hint = Suggestion.text(for: name, among: names.map { PlainText.escape($0) })
            throw WorkspaceError(
                .notFound, error.message + (hint.isEmpty ? "; use ls or glob to find it" : hint))
        }
    }
}

extension Workspace {
    /// An open regular file, independent of its name.
    public final class File: Sendable {
        /// The facts about the file when it was opened.
        public let entry: Entry
        private let descriptor: FileDescriptor

        init(_ entry: Entry, _ descriptor: consuming FileDescriptor) {
            self.entry = entry
            self.descriptor = descriptor
        }

        /// Up to `count` bytes from an offset; fewer only at the end of the file, and none after it.
        public func read(at offset: Int, count: Int) async throws -> [UInt8] {
            try await onOwnThread { [self] in Result { try readNow(offset, count) } }.get()
        }

        private func readNow(_ offset: Int, _ count: Int) throws -> [UInt8] {
            var number: Int32 = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
                while used < count {
                    let result = unsafe pread(
                        descriptor.rawValue, buffer.baseAddress.map { unsafe $0 + used }, count - used,
                        off_t(offset + used))
                    if result < 0 {
                        if errno == EINTR { continue }
                        number = errno
                    }
                    guard result > 0 else { return }
                    used += result
                }
            }
            guard number == 0 else { throw WorkspaceError(number, try EntryPath(entry.path)) }
            return bytes
        }
    }

    /// Opens a file to read its raw bytes. A link is followed if it stays inside.
    public func open(_ path: String) async throws -> File {
        let path = try EntryPath(path)
        return try await work { _ in
            let descriptor = try self.file(path)
            return File(try Entry(path, descriptor), descriptor)
        }
    }

    /// The condition for writing a file.
    public enum WriteRule: Sendable, Hashable {
        case always
        /// The file must not exist.
        case isNew
        /// The file must exist.
        case exists
        /// The file must still have this tag.
        case matches(etag: String)
    }

    /// Writes a whole file in one step, as raw bytes. Missing folders are created, and the mode of an existing file is
    /// kept. Throws `.changed` if the rule does not hold, even if that shows only at the last moment.
    public func write(
        _ bytes: [UInt8], to path: String, when rule: WriteRule = .always
    ) async throws -> (entry: Entry, isNew: Bool) {
        let path = try EntryPath(path)
        return try await work { cancellation in
            let change = try FileChange(path, bytes: bytes, in: self)
            try rule.check(change)
            _ = try FileChange.write([change], in: self, cancellation)
            return (try Entry(path, try self.file(path)), change.former == nil)
        }
    }
}

extension Workspace.WriteRule {
    fileprivate func check(_ change: FileChange) throws(WorkspaceError) {
        let path = change.path.shown
        switch self {
        case .always: return
        case .isNew:
            guard change.former != nil else { return }
            throw WorkspaceError(.changed, "\(path) already exists; read it, and write it with its tag")
        case .exists:
            guard change.former == nil else { return }
            throw WorkspaceError(.changed, "\(path) does not exist, so it cannot be replaced")
        case .matches(let etag):
            guard let former = change.former, let place = change.place else {
                throw WorkspaceError(.changed, "\(path) no longer exists; write it as a new file")
            }
            // The tag must belong to the content that is replaced.
            guard let entry = try place.entry(), entry.stamp == former.status.stamp, entry.etag == etag else {
                throw WorkspaceError(.changed, "\(path) was changed by another program; read it again")
            }
        }
    }
}

extension Workspace {
    /// An entry of the folder, for programs that show files. Tools use other texts for models.
    public struct Entry: Sendable, Hashable {
        /// Relative to the workspace, as raw text. Escape it before showing it.
        public let path: String
        /// The kind of the entry itself: a listed link is a `link`, wherever it leads.
        public let kind: Kind
        /// The size in bytes; meaningful for files.
        public let size: Int
        /// When the content last changed.
        public let modified: Timestamp
        /// Changes whenever the file changes. It has the form of an HTTP entity tag.
        public let etag: String
        let stamp: FileStamp

        /// The last part of the path.
        public var name: String { path.split(separator: "/").last.map(String.init) ?? "." }

        /// What an entry is. `other` stands for FIFOs, sockets, devices and everything else.
        public enum Kind: String, Choice, Hashable {
            case file, folder, link, other
        }

        init(_ path: EntryPath, _ status: stat) {
            self.path = path.bytes.isEmpty ? "." : String(decoding: path.bytes, as: UTF8.self)
            kind =
                switch FileInfo.Kind(mode: status.st_mode) {
                case .regular: .file
                case .directory: .folder
                case .symbolicLink: .link
                default: .other
                }
            size = Int(status.st_size)
            let (seconds, nanoseconds) = (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
            modified = Timestamp(microseconds: seconds &* 1_000_000 &+ nanoseconds / 1000)
            func hex(_ number: Int64) -> String { String(number, radix: 16) }
            let place = hex(Int64(truncatingIfNeeded: status.st_ino))
            etag = "\"\(place)-\(hex(Int64(status.st_size)))-\(hex(seconds)).\(hex(nanoseconds))\""
            stamp = FileStamp(status)
        }

        init(_ path: EntryPath, _ file: borrowing FileDescriptor) throws(WorkspaceError) {
            var status = stat()
            guard unsafe fstat(file.rawValue, &status) == 0 else { throw WorkspaceError(errno, path) }
            self.init(path, status)
        }
    }

    /// What to list or search, and how much.
    public struct Look: Sendable, Hashable {
        /// Relative to the workspace.
        public var path: String
        /// Whether names that begin with a dot are included.
        public var hidden: Bool
        /// Whether paths in .gitignore are included.
        public var ignored: Bool
        /// The maximum number of entries or matching lines; more are reported as cut off.
        public var limit: Int

        /// By default the whole workspace, without hidden and ignored paths.
        public init(path: String = ".", hidden: Bool = false, ignored: Bool = false, limit: Int = 1000) {
            self.path = path
            self.hidden = hidden
            self.ignored = ignored
            self.limit = limit
        }

        func entryPath() throws(WorkspaceError) -> EntryPath {
            path.isEmpty || path == "." ? .here : try EntryPath(path)
        }
    }
}

extension Workspace {
    /// The entries of a folder and of the folders below it, each folder before its entries. Links are listed and not
    /// followed.
    public func entries(_ look: Look, depth: Int = 1) async throws -> (entries: [Entry], isCut: Bool) {
        let path = try look.entryPath()
        return try await work { cancellation in
            let rules = WalkRules(hidden: look.hidden, ignored: look.ignored, depth: depth)
            return try self.collect(path, rules, look.limit, cancellation) { _, _ in true }
        }
    }

    /// The files whose path, relative to the folder, matches a pattern such as `**/*.swift`, in the order of the walk.
    public func find(_ pattern: String, _ look: Look) async throws -> (entries: [Entry], isCut: Bool) {
        let path = try look.entryPath()
        let pattern = try PathPattern(pattern)
        return try await work { cancellation in
            let rules = WalkRules(hidden: look.hidden || pattern.namesHidden, ignored: look.ignored)
            return try self.collect(path, rules, look.limit, cancellation) { entry, start in
                entry.kind != .directory && pattern.matches(entry.path.bytes, from: start.prefix.lengthWithSlash)
            }
        }
    }

    private func collect(
        _ path: EntryPath, _ rules: WalkRules, _ limit: Int, _ cancellation: Cancellation,
        where isWanted: (TreeEntry, WalkStart) -> Bool
    ) throws -> (entries: [Entry], isCut: Bool) {
        let start = try WalkStart(path, in: self)
        var walk = try TreeWalk(start, rules, cancellation)
        var entries: [Entry] = []
        while let found = try walk.next() {
            guard isWanted(found, start) else { continue }
            guard entries.count < limit else { return (entries, true) }
            do throws(WorkspaceError) {
                let place = try start.folder.open(start.inside(found.path), to: .look, followingLinks: false)
                entries.append(try Entry(found.path, place))
            } catch {
                // An entry that was removed after it was listed is skipped.
                guard error.kind == .notFound else { throw error }
            }
        }
        return (entries, false)
    }
}

extension Workspace {
    /// Prepares a program with its own tools to work in this folder, in a sandbox that hides the denied paths.
    ///
    /// - Parameter variables: the whole environment of the program.
    /// - Returns: the command to start, and why it can still reach a denied path; nil if it cannot.
    public func sandboxed(
        _ words: [String], variables: [String: String], in sandbox: Sandbox
    ) async throws -> (program: SandboxedCommand, gap: String?) {
        let shades = try await work { try self.shades($0) }
        var sandbox = sandbox
        sandbox.hidden += shades.hidden
        sandbox.kept += shades.kept
        let engine = SandboxEngine(launcher: Launcher(), variables: variables)
        return (try await engine.command(words, in: sandbox, around: root, from: root), shades.gap)
    }
}

extension Workspace {
    /// A line that matches a pattern.
    public struct Hit: Sendable, Hashable {
        /// Relative to the workspace.
        public let path: String
        /// Counted from 1.
        public let line: Int
        /// The line, shortened if it is very long.
        public let text: String
    }

    /// The lines of text files that match a regular expression, in the order of the walk, as `grep.search` finds them.
    public func search(
        _ pattern: String, glob: String? = nil, isLiteral: Bool = false, ignoresCase: Bool = false, _ look: Look
    ) async throws -> (hits: [Hit], isCut: Bool) {
        let search = TreeSearch(
            pattern: try LinePattern(pattern, isLiteral: isLiteral, ignoresCase: ignoresCase),
            filter: try glob.map { glob throws(WorkspaceError) in try PathPattern(glob) }, context: 0,
            limit: look.limit)
        let rules = WalkRules(hidden: look.hidden || search.filter?.namesHidden == true, ignored: look.ignored)
        let found = try await search.run(try look.entryPath(), rules, in: self)
        var hits: [Hit] = []
        for file in found.files {
            let path = String(decoding: file.path.bytes, as: UTF8.self)
            for line in file.lines where line.isMatch {
                guard hits.count < look.limit else { return (hits, true) }
                hits.append(Hit(path: path, line: line.number, text: line.text))
            }
            if file.matches > look.limit { return (hits, true) }
        }
        return (hits, false)
    }
}

extension Workspace {
    /// Runs blocking work on a separate thread. The work ends when it next checks for cancellation.
    nonisolated(nonsending) func work<T: Sendable>(
        _ cancellation: Cancellation = Cancellation(), _ body: @escaping @Sendable (Cancellation) throws -> T
    ) async throws -> T {
        let result = try await withTaskCancellationHandler {
            try await onOwnThread {
                Result {
                    try cancellation.check()
                    return try self.present { try body(cancellation) }
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    /// If the folder is removed during the work, the error is `.gone`.
    private func present<T>(_ body: () throws -> T) throws -> T {
        try requirePresent()
        do {
            return try body()
        } catch {
            try requirePresent()
            throw error
        }
    }
}

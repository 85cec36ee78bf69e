import CToolKit
public import Capabilities
import FileKit
import Glibc
import LoopKit
import ProcessKit
public import SandboxKit

/// A folder, opened once, beneath which tools work and above which they cannot get.
///
/// Paths are relative to it. A link is followed only while it stays inside; `..` may be used inside; absolute paths,
/// FIFOs, sockets and devices are refused. The folder may be renamed while it is open; once it is removed, everything
/// throws `.gone`.
public final class Workspace: Sendable {
    /// The path that it was opened by.
    public let path: String
    let root: Folder
    /// What rules keep from tools.
    let denied: DeniedGlobs

    /// Opens the folder at a path of the system, which may be absolute and pass links.
    public convenience init(_ path: String) throws(WorkspaceError) {
        try self.init(path, resolver: nil)
    }

    /// Opens the folder at an absolute path that had no link in it when it was accepted. A folder that has been replaced by
    /// a link since, or that lies below one, is refused: it would lead to where nobody agreed to.
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
                .outside, "\(entry.shown) is no folder now, or is reached by a link; put it back, or add the new one")
        }
        self.path = path
        denied = DeniedGlobs()
    }

    /// The same folder, with some of it kept from whoever works here.
    public init(_ workspace: Workspace, denying denied: DeniedPaths, home: String?) {
        (path, root) = (workspace.path, workspace.root)
        self.denied = DeniedGlobs(denied, in: workspace.places(home: home))
    }

    /// Where the folder is now.
    public var place: AbsolutePath { AbsolutePath(bytes: root.location) }

    /// Where paths in rules begin that are about this folder.
    public func places(home: String?) -> PathGlob.Places {
        PathGlob.Places(folder: place, home: home.map { AbsolutePath($0) })
    }

    /// With a resolver given, that one is used whatever the kernel can do.
    init(_ path: String, resolver: Folder.Resolver?) throws(WorkspaceError) {
        let entry = try EntryPath(path)
        let opened = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { throw WorkspaceError(errno, entry) }
        let folder = FileDescriptor(owning: opened, path: entry.shown)
        self.path = path
        root = Folder(folder, resolver: resolver)
        denied = DeniedGlobs()
    }

    /// Throws `.gone` when the folder was removed.
    func requirePresent() throws(WorkspaceError) {
        guard try EntryStatus(of: root.descriptor).links > 0 else {
            throw WorkspaceError(
                .gone, "the working folder \(PlainText.escape(path)) was removed; choose another one and try again")
        }
    }
}

extension Workspace {
    /// A file that somebody asked for. It is looked at before it is opened, for opening alone can set off a device.
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

    /// A folder that somebody asked for.
    func folder(_ path: EntryPath) throws(WorkspaceError) -> Folder {
        try hinting(path) { () throws(WorkspaceError) in
            let folder = Folder(try root.open(path, to: .list, followingLinks: true), resolver: root.resolver)
            try requireAllowed(path, at: folder.location)
            return folder
        }
    }

    /// What somebody asked for leads to.
    func kind(_ path: EntryPath) throws(WorkspaceError) -> FileInfo.Kind {
        try hinting(path) { () throws(WorkspaceError) in
            let place = try root.open(path, to: .look, followingLinks: true)
            try requireAllowed(path, at: Folder.location(of: place))
            return try EntryStatus(of: place).kind
        }
    }

    /// Where somebody's path leads, with all links followed.
    func location(_ path: EntryPath) throws(WorkspaceError) -> AbsolutePath {
        try hinting(path) { () throws(WorkspaceError) in
            let location = Folder.location(of: try root.open(path, to: .look, followingLinks: true))
            try requireAllowed(path, at: location)
            return AbsolutePath(bytes: location)
        }
    }

    /// Adds to "there is none" which name of the same folder may have been meant.
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
                // Without a listing the error has all that is known.
                throw error
            }
            let hint = Suggestion.text(for: name, among: names.map { PlainText.escape($0) })
            throw WorkspaceError(
                .notFound, error.message + (hint.isEmpty ? "; look for it with ls or glob" : hint))
        }
    }
}

extension Workspace {
    /// A regular file that is open, whatever becomes of its name.
    public final class File: Sendable {
        public let entry: Entry
        private let descriptor: FileDescriptor

        init(_ entry: Entry, _ descriptor: consuming FileDescriptor) {
            self.entry = entry
            self.descriptor = descriptor
        }

        /// Up to `count` bytes from a place on; fewer only at the end of the file, and none behind it.
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

    /// Opens a file to read its bytes as they are. A link is followed while it stays inside.
    public func open(_ path: String) async throws -> File {
        let path = try EntryPath(path)
        return try await work { _ in
            let descriptor = try self.file(path)
            return File(try Entry(path, descriptor), descriptor)
        }
    }

    /// When a file may be written.
    public enum WriteRule: Sendable, Hashable {
        case always
        /// Only where there is none yet.
        case isNew
        /// Only where there is one.
        case exists
        /// Only while it is the one with this tag.
        case matches(etag: String)
    }

    /// Writes all of a file in one step, its bytes as they are; folders above it are made. The mode of one that is there
    /// is kept. Throws `.changed` when the rule does not hold, also when that comes out only in the last moment.
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
            throw WorkspaceError(.changed, "there is a \(path) already; read it, and write it by its tag")
        case .exists:
            guard change.former == nil else { return }
            throw WorkspaceError(.changed, "there is no \(path) that could be replaced")
        case .matches(let etag):
            guard let former = change.former, let place = change.place else {
                throw WorkspaceError(.changed, "there is no \(path) any more; write it as a new file")
            }
            // The content that is replaced has to be the one of which the tag speaks.
            guard let entry = try place.entry(), entry.stamp == former.status.stamp, entry.etag == etag else {
                throw WorkspaceError(.changed, "\(path) was changed by somebody else; read it again")
            }
        }
    }
}

extension WritePlace {
    fileprivate func entry() throws(WorkspaceError) -> Workspace.Entry? {
        var status = stat()
        let name = terminatedName.map(CChar.init(bitPattern:))
        guard unsafe fstatat(folder.descriptor.rawValue, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw WorkspaceError(errno, path)
        }
        return Workspace.Entry(path, status)
    }
}

extension FileChange {
    /// A file whose bytes are given, text or not.
    fileprivate init(_ path: EntryPath, bytes: [UInt8], in workspace: Workspace) throws {
        let place: WritePlace?
        do throws(WorkspaceError) {
            place = try WritePlace(path, in: workspace)
        } catch {
            guard error.kind == .notFound else { throw error }
            try NewFolders.check(path, in: workspace)
            place = nil
        }
        self.init(
            path: path, place: place, former: try place.flatMap { try ExistingFile($0) }, content: bytes,
            diff: UnifiedDiff(oldName: nil, newName: nil, hunks: []))
    }
}

extension Workspace {
    /// Something in the folder, for programs that show files; tools have words of their own for models.
    public struct Entry: Sendable, Hashable {
        /// From the workspace on, as it is: whoever shows it makes it safe.
        public let path: String
        public let kind: Kind
        public let size: Int
        public let modified: Timestamp
        /// Another one whenever a file has become another, in the form of HTTP's entity tags.
        public let etag: String
        let stamp: FileStamp

        /// The last part of the path.
        public var name: String { path.split(separator: "/").last.map(String.init) ?? "." }

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

    /// Where to look around, and at how much.
    public struct Look: Sendable, Hashable {
        /// From the workspace on.
        public var path: String
        /// Whether names that begin with a dot count.
        public var hidden: Bool
        /// Whether what .gitignore leaves out counts.
        public var ignored: Bool
        public var limit: Int

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
    /// What is in a folder and those below it, a folder before what is in it. Links are shown and not followed.
    public func entries(_ look: Look, depth: Int = 1) async throws -> (entries: [Entry], isCut: Bool) {
        let path = try look.entryPath()
        return try await work { cancellation in
            let rules = WalkRules(hidden: look.hidden, ignored: look.ignored, depth: depth)
            return try self.collect(path, rules, look.limit, cancellation) { _, _ in true }
        }
    }

    /// The files whose path from there on fits a pattern such as `**/*.swift`, in the order of the walk.
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
                // What has gone since it was listed is not there to be shown.
                guard error.kind == .notFound else { throw error }
            }
        }
        return (entries, false)
    }
}

extension Workspace {
    /// Prepares a program that brings its own tools, to work in this folder in a sandbox that hides what rules keep from tools.
    ///
    /// - Parameter variables: the whole environment of the program.
    /// - Returns: the command to start, and why it can still reach something that a rule denies; nil where it cannot.
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
    /// A line that fits a pattern.
    public struct Hit: Sendable, Hashable {
        /// From the workspace on.
        public let path: String
        /// From 1.
        public let line: Int
        /// The line, cut where it is very long.
        public let text: String
    }

    /// The lines of text files that fit a regular expression, in the order of the walk, as `grep.search` finds them.
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
    /// Runs work that blocks on a thread of its own; a cancelled task ends it at its next look.
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

    /// When the folder goes while something is done in it, that is why it fails.
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

import Capabilities
import Glibc
import HTTPCore
import HTTPServer

/// Where the folders of projects may be.
public struct ProjectFolders: Sendable {
    /// Beneath it are the folders that the gateway makes itself.
    public let home: String
    /// Other folders in which a client may have projects.
    public let allowed: [String]

    public init(home: String, allowed: [String] = []) {
        self.home = home
        self.allowed = allowed
    }

    /// The folder for a project, made where it does not exist: an absolute path inside what is allowed, a relative one
    /// beneath `home`, and without one a folder named after the project.
    func folder(named name: String, at path: String?) throws(RequestProblem) -> String {
        guard let path, !path.isEmpty else { return try make(free(Self.plain(name))) }
        guard !path.utf8.contains(0), path.utf8.count < 4096 else {
            throw Self.invalid(path, "no path can be like that")
        }
        guard !path.split(separator: "/").contains("..") else {
            throw Self.invalid(path, "it has a part that leads upwards")
        }
        return try make(path.hasPrefix("/") ? path : "\(home)/\(path)")
    }

    private func make(_ path: String) throws(RequestProblem) -> String {
        // What exists of it decides where it leads, before anything is made.
        var existing = path
        while Self.real(existing) == nil, let slash = existing.lastIndex(of: "/"), existing != home {
            existing = slash == existing.startIndex ? "/" : String(existing[..<slash])
        }
        guard existing == home || Self.real(existing).map(isAllowed) == true else {
            throw Self.invalid(path, "it is outside of the folders for projects; beneath \(home) is always possible")
        }
        try makeFolders(path)
        guard let real = Self.real(path), isAllowed(real) else {
            throw Self.invalid(path, "it leads out of the folders for projects")
        }
        return real
    }

    private func isAllowed(_ real: String) -> Bool {
        ([home] + allowed).contains { root in
            guard let root = Self.real(root) else { return false }
            return real == root || root == "/" || real.hasPrefix(root + "/")
        }
    }

    private func makeFolders(_ path: String) throws(RequestProblem) {
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            if unsafe mkdir(made, 0o700) == 0 || errno == EEXIST { continue }
            // A folder above may not be ours to write to and still be there.
            if Self.real(made) != nil { continue }
            throw Self.invalid(path, "the folder \(PlainText.escape(made)) cannot be made")
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw Self.invalid(path, "it is not a folder")
        }
    }

    /// A path beneath `home` that nothing is at yet.
    private func free(_ name: String) -> String {
        var candidates = (2...).lazy.map { "\(home)/\(name)-\($0)" }.makeIterator()
        var path = "\(home)/\(name)"
        while unsafe access(path, F_OK) == 0, let next = candidates.next() { path = next }
        return path
    }

    /// A name for a folder that no shell and no person stumbles over.
    private static func plain(_ name: String) -> String {
        let words = name.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        let plain = words.joined(separator: "-").prefix(60)
        return plain.isEmpty ? "project" : String(plain)
    }

    /// Without links and dots; nil where nothing is.
    private static func real(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard unsafe realpath(path, &buffer) != nil else { return nil }
        return String(validating: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func invalid(_ path: String, _ reason: String) -> RequestProblem {
        let shown = PlainText.escape(path).quotedForMessage
        return RequestProblem(
            .badRequest, code: "gateway.invalid-path", "the path \(shown) cannot be used: \(reason)",
            inputs: [InputProblem(place: "body", name: "path", message: reason)])
    }
}

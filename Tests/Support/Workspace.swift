public import FileKit

/// A checkout: its packages, its files and their texts.
public struct Workspace: Sendable {
    /// The folder of the root manifest.
    public let root: String

    /// A checkout at a folder.
    public init(root: String) {
        self.root = root
    }

    /// The checkout that this program was built from.
    public static let current = Workspace(
        root: #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined())

    /// The text of a file, by its path below the root.
    public func text(_ path: String) throws(FileError) -> String {
        String(decoding: try Files.read("\(root)/\(path)", limit: 1 << 22), as: UTF8.self)
    }

    /// The paths of all files below a folder whose paths end like this, without what a build left there.
    public func files(in folder: String, ending: String) throws(FileError) -> [String] {
        guard Files.exists("\(root)/\(folder)") else { return [] }
        var found: [String] = []
        for entry in try Files.list("\(root)/\(folder)") where entry.name != ".build" {
            let path = "\(folder)/\(entry.name)"
            if entry.kind == .directory {
                found += try files(in: path, ending: ending)
            } else if path.hasSuffix(ending) {
                found.append(path)
            }
        }
        return found
    }

    /// Every package below `Packages`.
    public func packages() throws -> [PackageSource] {
        try files(in: "Packages", ending: "/Package.swift").map { try PackageSource($0, in: self) }
    }

    /// The features that the root manifest lists, which are also its traits.
    public func features() throws -> [String] {
        let list = try text("Package.swift").firstMatch(of: /let features: \[String\] = \[([^\]]*)\]/)?.output.1 ?? ""
        return list.matches(of: /"(\w+)"/).map { String($0.output.1) }
    }

    /// The frontends that the root manifest lists, by their traits and modules.
    public func frontends() throws -> [(trait: String, module: String)] {
        let list = try text("Package.swift").firstMatch(of: /let frontends = \[([^\]]*)\]/)?.output.1 ?? ""
        return list.matches(of: /"(\w+)": "(\w+)"/).map { (String($0.output.1), String($0.output.2)) }
    }
}

/// What the text of a package's manifest says of it. Reading the text takes a thousandth of the time of running it.
public struct PackageSource: Sendable {
    /// Its folder below the root of the checkout.
    public let folder: String
    /// The folders of the packages that it depends on.
    public let dependencies: [String]
    /// Whether it depends on something that is not in the checkout.
    public let hasOutsideDependencies: Bool
    /// Its targets, tests included.
    public let modules: [Module]

    /// The name of its folder.
    public var name: String { String(folder.split(separator: "/").last ?? "") }
    /// The modules that describe a C library of the system.
    public var systemLibraries: [Module] { modules.filter { $0.kind == "systemLibrary" } }

    /// One target.
    public struct Module: Sendable {
        /// The name of the target and of its module.
        public let name: String
        /// As the manifest has it: `target`, `testTarget`, `systemLibrary`.
        public let kind: String
        /// Where its files are, below the root of the checkout.
        public let folder: String
        /// The names after `-l` of the C libraries that its module map links, or that its C code opens.
        public let links: [String]
    }

    init(_ manifest: String, in workspace: Workspace) throws {
        let folder = manifest.split(separator: "/").dropLast().joined(separator: "/")
        let text = try workspace.text(manifest)
        self.folder = folder
        dependencies = text.matches(of: /\.package\([^)]*?path: "([^"]+)"/).map {
            Self.resolve($0.output.1, from: folder)
        }
        hasOutsideDependencies = text.contains(/\.package\([^)]*?(url|id): "/)
        modules = try text.matches(of: /\.(target|testTarget|executableTarget|systemLibrary)\(\s*name: "([^"]+)"/).map {
            let (kind, name) = (String($0.output.1), String($0.output.2))
            let place = "\(folder)/\(kind == "testTarget" ? "Tests" : "Sources")/\(name)"
            let links =
                if kind == "systemLibrary" {
                    try workspace.text("\(place)/module.modulemap").matches(of: /link "([^"]+)"/).map {
                        String($0.output.1)
                    }
                } else {
                    try workspace.files(in: place, ending: ".c").flatMap { file in
                        try workspace.text(file).matches(of: /#define OPENED_LIBRARY "lib([^".]+)\.so/).map {
                            String($0.output.1)
                        }
                    }
                }
            return Module(name: name, kind: kind, folder: place, links: links)
        }
    }

    /// The folder that a relative path means.
    private static func resolve(_ path: Substring, from folder: String) -> String {
        var parts = folder.split(separator: "/")
        for part in path.split(separator: "/") {
            if part == ".." { parts = parts.dropLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }
}

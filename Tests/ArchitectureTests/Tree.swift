import CoreTesting
import FileKit
import WorkspaceSupport

/// The texts of a small tree with a package in every layer.
enum Tree {
    static func manifest(_ name: String, _ dependencies: [String]) -> String {
        let paths = dependencies.map { ".package(path: \"\($0)\")," }.joined(separator: "\n")
        return "\(paths)\n.target(name: \"\(name)\"), .testTarget(\n    name: \"\(name)Tests\")"
    }

    static func core(_ dependencies: [String] = []) -> String {
        (dependencies.map { ".package(path: \"\($0)\")," }
            + ["JSON", "Capabilities", "Settings", "Registry"].map { ".target(name: \"\($0)\")," }).joined(
                separator: "\n")
    }

    static let dependencies = [
        "Chat": ["../../Core", "../../Kits/MailKit", "../../Frontends/Host"], "Files": ["../../Core"],
        "Shell": ["../../Core"],
        "MailKit": ["../../Core"],
    ]

    static func kit(_ name: String, _ library: String) -> String {
        manifest(name, ["../../Core"]) + ".systemLibrary(name: \"\(library)\")"
    }

    static let files: [(path: String, text: String)] = [
        ("Packages/Core/Package.swift", core()),
        ("Packages/Core/Sources/Registry/Registry.swift", "public import Settings\nimport JSON\nimport Glibc\n"),
        ("Packages/Kits/MailKit/Package.swift", kit("MailKit", "CMail")),
        ("Packages/Kits/MailKit/Sources/CMail/module.modulemap", "module CMail { link \"mail\" }"),
        ("Packages/Kits/MailKit/Sources/MailKit/Mail.swift", "import CMail\nimport JSON\n"),
        ("Packages/Kits/PostKit/Package.swift", kit("PostKit", "CPost")),
        ("Packages/Kits/PostKit/Sources/CPost/module.modulemap", "module CPost { link \"post\" }"),
        ("Packages/Features/Chat/Package.swift", manifest("Chat", dependencies["Chat"] ?? [])),
        ("Packages/Features/Chat/Sources/Chat/Chat.swift", "import MailKit\npublic import Registry\n"),
        (
            "Packages/Features/Chat/Tests/ChatTests/ChatTests.swift",
            "import Foundation\nimport Host\n@testable import Chat\n"
        ),
        ("Packages/Features/Files/Package.swift", manifest("Files", dependencies["Files"] ?? [])),
        ("Packages/Frontends/Host/Package.swift", manifest("Host", dependencies["Shell"] ?? [])),
        ("Packages/Frontends/Shell/Package.swift", manifest("Shell", dependencies["Shell"] ?? [])),
        ("Packages/Frontends/Shell/Sources/Shell/Shell.swift", "import Registry\n"),
        ("Apps/martlet/main.swift", "import Chat\nimport Shell\n"),
    ]
}

/// Lends the tree in a folder of its own.
func withTree(_ body: (Workspace) throws -> Void) async throws {
    try await TemporaryDirectory.run { folder in
        let workspace = Workspace(root: folder)
        for file in Tree.files { try write(file.text, to: file.path, in: workspace) }
        try body(workspace)
    }
}

func write(_ text: String, to path: String, in workspace: Workspace) throws {
    let file = "\(workspace.root)/\(path)"
    try Files.makeDirectories(file.split(separator: "/").dropLast().map { "/" + $0 }.joined())
    try Files.writeAtomically(Array(text.utf8), to: file)
}
